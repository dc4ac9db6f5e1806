"""A coding helper in the terminal: it reads, writes, runs and asks.

    pip install 'rireki[anthropic]'
    python examples/agent.py anthropic:claude-sonnet-5

Any "provider:model" will do (anthropic, openai, responses, gemini, bedrock, ollama), and another
one the next day: `--conversation NAME` goes on with what was said. `rireki show` and `rireki serve`
tell it like every other conversation. `--scripted` needs no model: it shows what an agent does.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

from rireki import MessageHistory, agent
from rireki.errors import RirekiError

INSTRUCTIONS = """You are a careful coding helper. Read before you write, run what you wrote, and
ask the person when only they can decide. Paths are relative to the working directory."""
LONGEST = 20_000


def read(path: str) -> str:
    """Read a text file, or list a folder."""
    place = Path(path)
    if place.is_dir():
        return "\n".join(sorted(f"{p.name}/" if p.is_dir() else p.name for p in place.iterdir()))
    return place.read_text("utf-8", errors="replace")[:LONGEST]


def write(path: str, content: str) -> str:
    """Write a text file; the content replaces all that it held."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content, "utf-8")
    return f"wrote {len(content)} characters to {path}"


async def run(command: str, seconds: int = 60) -> str:
    """Run a shell command, if the person agrees; returns its output and exit code."""
    if agent.in_terminal(agent.Question("", f"Run this?\n  {command}", ["yes", "no"])) != "yes":
        raise agent.ToolError("The person did not allow it.")
    process = await asyncio.create_subprocess_shell(command, stdout=PIPE, stderr=STDOUT)
    try:
        output, _ = await asyncio.wait_for(process.communicate(), seconds)
    except (TimeoutError, asyncio.CancelledError):
        process.kill()
        raise
    return f"{output.decode(errors='replace')[-LONGEST:]}\n(exit code {process.returncode})"


def say(text: str) -> None:
    # A model's words must not steer the terminal.
    sys.stdout.write("".join(c if c.isprintable() or c in "\n\t" else "?" for c in text))
    sys.stdout.flush()


def show(event: agent.Event) -> None:
    """Print what happens, as it happens."""
    if isinstance(event, agent.TextDelta):
        say(event.text)
    elif isinstance(event, agent.Called):
        say(f"\n* {event.name} {event.arguments}\n")
    elif isinstance(event, agent.Returned):
        say(f"  {event.text[:200]}\n")
    elif isinstance(event, agent.Done):
        say("\n" if event.reason == "answer" else f"\n({event.reason})\n")


def scripted() -> agent.LLM:
    """A model that knows one story: ask for a name, write a program, run it."""

    def call(name: str, **arguments: object) -> dict[str, object]:
        block = {"type": "tool_use", "id": f"call_{name}", "name": name, "input": arguments}
        return {"role": "assistant", "content": [block]}

    return agent.Scripted(
        [
            call("ask_user", question="What shall it be called?", options=["hello.py", "hi.py"]),
            call("write", path="hello.py", content='print("hello")\n'),
            call("run", command=f'"{sys.executable}" hello.py'),
            "It is written, and it says hello.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="A coding helper.")
    parser.add_argument("model", nargs="?", help="provider:model, such as ollama:qwen3")
    parser.add_argument("--scripted", action="store_true", help="without a model")
    parser.add_argument("--conversation", help="go on with this one")
    parser.add_argument("--archive", help="where it is kept (default: where rireki looks)")
    given = parser.parse_args()
    if not given.model and not given.scripted:
        parser.error("name a model, or use --scripted")
    llm = scripted() if given.scripted else agent.connect(given.model)
    with MessageHistory.open(given.conversation, archive=given.archive) as history:
        helper = agent.Agent(
            llm, [read, write, run], history, ask=agent.in_terminal, instructions=INSTRUCTIONS
        )
        say(f"Conversation {history.id}. Ctrl-C stops the helper, Ctrl-D ends.\n")
        while True:
            try:
                helper.run_sync(input("\n> "), tell=show)
            except KeyboardInterrupt:
                say("\n(stopped)\n")
            except EOFError:
                return
            except RirekiError as error:
                say(f"\n{error.message}\n{error.hint}\n")


if __name__ == "__main__":
    main()
