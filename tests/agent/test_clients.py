"""The providers' own packages against a server that enforces their rules: begun here, gone on there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rireki import MessageHistory
from rireki.agent import Agent, Event, TextDelta, ThinkingDelta, connect
from rireki.errors import RirekiError
from rireki.providers import Provider
from tests.agent.server import MODELS, PROVIDERS, Move, Server, client_of, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def clients(server: Server) -> dict[str, Any]:
    return {provider: client_of(provider, server.address) for provider in PROVIDERS}


@dataclass
class Point:
    x: int


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def look(at: str, deep: bool | None = None) -> str:
    """Look at something."""
    raise OSError(f"{at} cannot be seen")


def begin() -> list[Move]:
    """Thinking, a text, parallel calls (two of them the same), an error, and an answer."""
    twice = ("add", {"a": 1, "b": 2})
    return [
        Move("見ます。", (twice, twice, ("look", {"at": "the sky"})), "Hm, let me see."),
        Move("", (("add", {"a": 3, "b": 3}),)),
        Move("It is 6, and the sky cannot be seen."),
    ]


def agent_of(provider: str, clients: dict[str, Any], history: MessageHistory) -> Agent:
    llm = connect(f"{provider}:{MODELS[provider]}", client=clients[provider])
    return Agent(llm, [add, look], history, instructions="Add and look.")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_run_with_the_real_package(
    provider: Provider, server: Server, clients: dict[str, Any]
) -> None:
    server.script[:] = begin()
    history = MessageHistory()
    events: list[Event] = []
    done = agent_of(provider, clients, history).run_sync("Add up.", tell=events.append)
    assert (done.text, done.steps) == ("It is 6, and the sky cannot be seen.", 3)
    assert server.refused == []
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(texts) == "見ます。It is 6, and the sky cannot be seen."
    assert len(texts) == 4, "the text came in pieces"
    thoughts = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert thoughts == ("" if provider == "responses" else "Hm, let me see.")
    told: Any = history.render("anthropic").messages[2]["content"]
    assert [block["content"] for block in told] == [
        "3",
        "3",
        "Error: OSError: the sky cannot be seen",
    ]
    # What a model said goes back to it as it was.
    codes = {problem.code for problem in history.validate(provider, MODELS[provider])}
    assert codes <= {"error-as-text", "ends-with-assistant"}


@pytest.mark.parametrize("then", PROVIDERS)
@pytest.mark.parametrize("first", PROVIDERS)
def test_begun_with_one_and_continued_with_another(
    first: str, then: str, server: Server, clients: dict[str, Any]
) -> None:
    history = MessageHistory()
    server.script[:] = begin()
    agent_of(first, clients, history).run_sync("Add up.")
    server.script[:] = [Move("Again.", (("add", {"a": 4, "b": 5}),)), Move("Nine.")]
    assert agent_of(then, clients, history).run_sync("And 4 + 5?").text == "Nine."
    # And back: the first has to take what the other one said.
    server.script[:] = [Move("You are welcome.")]
    assert agent_of(first, clients, history).run_sync("Thanks.").text == "You are welcome."
    assert server.refused == []


KILLED = """
import sys, time
from rireki import MessageHistory
from rireki.agent import Agent, connect
from tests.agent.server import MODELS, client_of

def add(a: int, b: int) -> int:
    return a + b

def look(at: str) -> str:
    print("looking", flush=True)
    time.sleep(600)
    return ""

provider, address, archive = sys.argv[1:]
llm = connect(f"{provider}:{MODELS[provider]}", client=client_of(provider, address))
history = MessageHistory.open("x", archive=archive)
Agent(llm, [add, look], history).run_sync("Look and add.")
"""


@pytest.mark.parametrize("first", ["anthropic", "openai", "gemini", "ollama"])
def test_killed_in_the_middle_of_a_call_and_continued_with_each(
    first: str, server: Server, clients: dict[str, Any], tmp_path: Path
) -> None:
    server.script[:] = [
        Move("Looking.", (("add", {"a": 1, "b": 2}), ("look", {"at": "it"})), "Well.")
    ]
    place = tmp_path / "killed" / "archive.sqlite3"
    command = [sys.executable, "-c", KILLED, first, server.address, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"looking\n"
        process.kill()
    for then in PROVIDERS:
        copy = tmp_path / then / "archive.sqlite3"
        shutil.copytree(place.parent, copy.parent)
        with MessageHistory.open("x", archive=copy) as history:
            assert [call.name for call in history.pending_calls()] == ["add", "look"]
            agent = agent_of(then, clients, history)
            server.script[:] = [Move("Once more.", (("add", {"a": 1, "b": 2}),)), Move("Three.")]
            assert agent.run_sync().text == "Three."
            server.script[:] = [Move("Gladly.")]
            assert agent.run_sync("Thanks.").text == "Gladly."
            assert history.pending_calls() == []
    assert server.refused == []


def test_ollamas_package_drops_nothing_of_a_schema_in_silence(
    server: Server, clients: dict[str, Any]
) -> None:
    server.script[:] = [Move("ok")]

    def add(to: dict[str, int], into: Point, by: int | None = None, how: str = "up") -> None:
        """Add.

        Args:
            into: The point.
        """

    llm = connect("ollama:qwen3", client=clients["ollama"])
    Agent(llm, [add]).run_sync("hello")
    sent = server.requests[-1][1]["tools"][0]["function"]["parameters"]
    assert sent["required"] == ["to", "into"]
    told = {name: (p.get("type"), p.get("description")) for name, p in sent["properties"].items()}
    within = '{"properties":{"x":{"type":"integer"}},"required":["x"]}'
    assert told == {
        "to": ("object", 'JSON schema: {"additionalProperties":{"type":"integer"}}'),
        "into": ("object", f"The point. JSON schema: {within}"),
        "by": (["integer", "null"], None),
        "how": ("string", 'JSON schema: {"default":"up"}'),
    }


def test_the_server_does_refuse(server: Server, clients: dict[str, Any]) -> None:
    """The tests above mean something: a call without its result is a 400 from each that minds."""
    broken = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}],
        },
        {"role": "user", "content": "well?"},
    ]
    import anthropic

    with pytest.raises(anthropic.BadRequestError):
        clients["anthropic"].messages.create(model="m", max_tokens=1, messages=broken)
    assert server.refused
    server.refused.clear()


def test_a_refusal_is_raised_and_the_history_stays(server: Server, clients: dict[str, Any]) -> None:
    """The tools are missing: the server answers with a 400."""
    history = MessageHistory()
    llm = connect(f"anthropic:{MODELS['anthropic']}", client=clients["anthropic"])
    with pytest.raises(Exception, match="the tools are missing"):
        Agent(llm, [], history).run_sync("hello")
    server.refused.clear()
    assert history.get_messages() == [{"role": "user", "content": "hello"}]


def test_a_name_that_is_none_and_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RirekiError, match="'gpt-5' names no model"):
        connect("gpt-5")
    for package, provider, extra in [
        ("anthropic", "anthropic", "anthropic"),
        ("openai", "responses", "openai"),
        ("google.genai", "gemini", "gemini"),
        ("ollama", "ollama", "ollama"),
        ("boto3", "bedrock", "bedrock"),
    ]:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(RirekiError, match="is not installed") as caught:
            Agent(connect(f"{provider}:some-model")).run_sync("hello")
        assert f"rireki[{extra}]" in caught.value.hint


def test_importing_the_agent_imports_no_package_of_a_provider() -> None:
    code = "import sys, rireki.agent, rireki.agent.mcp\n"
    code += "print([m for m in ('anthropic', 'openai', 'google.genai', 'ollama', 'boto3', 'mcp',"
    code += " 'pydantic', 'starlette') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
