"""Amazon Q Developer CLI, driven as a person does at a terminal: it has no protocol.

What it prints is shown as it comes, provisionally; its own row is the truth, and is saved when an
answer is complete. Its line editor says when it waits for a line; a question whether a tool may
run becomes an ask. Knows `q chat`, not journals and queues.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any, Literal

from rireki.drive.driver import AgentError, AgentGone, AgentTask, Sink, TurnEnd, gone_by_itself
from rireki.drive.q.screen import TerminalScreen
from rireki.drive.q.store import QStore
from rireki.drive.q.terminal import PseudoTerminal
from rireki.drive.values import Ask, Option, Prompt
from rireki.errors import Wording

__all__ = ["QDriver", "typed"]

#: Seconds until the first prompt must be there; servers of tools are started before it.
PATIENCE = 120.0
#: How long a save may still be on its way when the prompt is back.
SAVING = 0.5
#: Seconds between two presses of Ctrl-C: two in a row at its prompt would end the program.
PRESSES = 1.5
#: What is kept of what it printed, to be told when it ends.
KEPT = 8192
PASTE, PASTED, ENTER, CTRL_C = b"\x1b[200~", b"\x1b[201~", b"\r", b"\x03"

#: With `--resume` and nothing else it would ask the model for a summary; this asks for nothing.
QUIET = "/tools"
#: Commands that need nothing but their line; others open editors and menus.
COMMANDS = (
    *("/clear", "/compact", "/context", "/help", "/load", "/mcp"),
    *("/prompts", "/quit", "/save", "/tangent", "/tools", "/usage"),
)

_ASKED = re.compile(r"Allow this action\?[^\n]*\[y/n(?:/t)?\]:\s*$")
_USING = re.compile(r"Using tool: ([^\s(]+)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: What stands before an answer.
_MARK = "> "

OPTIONS = [
    Option("y", "Allow once", "allow_once"),
    Option("t", "Always allow this tool in this conversation", "allow_always"),
    Option("n", "Refuse", "reject_once"),
]


class QDriver:
    takes_reasons = True

    def __init__(self, work: AgentTask, sink: Sink) -> None:
        self._work, self._sink = work, sink
        self._store = QStore(work)
        self._screen = TerminalScreen()
        self._terminal = PseudoTerminal(self._hear, self._end)
        self._printed = ""
        #: What it printed since the last line it was given.
        self._said = ""
        self._ready = asyncio.Event()
        self._turn: asyncio.Future[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._pressing: asyncio.Task[None] | None = None
        self._calls: set[str] = set()
        self._cancelled = self._closing = False

    # ── the verbs of a driver ──

    async def start(self, continues: str | None) -> str | None:
        command = await asyncio.to_thread(self._command, continues)
        for text in await asyncio.to_thread(self._store.keep) if continues is None else ():
            self._sink.note(text, "warning")
        await self._terminal.start(command, self._work.project, self._work.environment)
        self._sink.process(self._terminal.pid)
        try:
            await asyncio.wait_for(self._ready.wait(), PATIENCE)
        except TimeoutError:
            self.kill()
            raise self._gone("agent-shows-no-prompt") from None
        if self._closing:
            raise self._gone("agent-ended-early")
        if continues is not None:
            self._sink.session(continues, resumable=True, images=False)
        return continues

    async def prompt(self, prompt: Prompt) -> TurnEnd:
        text = typed(prompt)
        if self._closing:
            raise self._gone("agent-not-there")
        before = await asyncio.to_thread(self._store.mark)
        self._turn = asyncio.get_running_loop().create_future()
        self._cancelled = False
        self._type(text)
        try:
            await self._turn
        finally:
            self._turn = None
        if self._pressing is not None:
            self._pressing.cancel()
        await self._settle(before, command=text.startswith("/"))
        return TurnEnd("cancelled" if self._cancelled else "end_turn")

    async def cancel(self) -> None:
        self._cancelled = True
        if self._asking is None:
            self._press()

    async def close(self) -> None:
        self._closing = True
        if self._ready.is_set() and self._asking is None:
            self._terminal.write(b"/quit" + ENTER)
            if await self._terminal.wait(SAVING):
                return
        await self._terminal.close()

    def kill(self) -> None:
        self._closing = True
        self._terminal.kill()

    # ── what it prints ──

    def _hear(self, data: bytes) -> None:
        for heard in self._screen.feed(data):
            if heard.kind == "text":
                self._printed = (self._printed + heard.text)[-KEPT:]
                self._tell(heard.text)
            elif heard.kind == "busy":
                self._ready.clear()
                self._said = ""
            else:
                self._wait_for_line()

    def _tell(self, text: str) -> None:
        """Its answer as it comes; the echo of what was typed stands before the line was taken."""
        if self._turn is None or self._ready.is_set():
            return
        before, self._said = self._said, self._said + text
        if self._said in (_MARK, _MARK.strip()):
            return
        if not before.strip() or before in (_MARK, _MARK.strip()):
            text = self._said.lstrip().removeprefix(_MARK)
        if text and not text.startswith("Allow this action?"):
            self._sink.text(text, provisional=True)

    def _wait_for_line(self) -> None:
        self._ready.set()
        if self._turn is None or self._turn.done() or self._asking is not None:
            return
        if _ASKED.search(self._said):
            self._asking = asyncio.create_task(self._ask(self._said))
        else:
            self._turn.set_result(None)

    def _end(self, code: int | None) -> None:
        closing, self._closing = self._closing, True
        self._ready.set()
        if self._asking is not None:
            self._asking.cancel()
        if self._pressing is not None:
            self._pressing.cancel()
        if self._turn is not None and not self._turn.done():
            self._turn.set_exception(gone_by_itself(code, self._printed))
        if not closing:
            self._sink.gone(code, self._printed)

    def _gone(self, code: str) -> AgentGone:
        last = " ".join(self._printed.split()[-40:])
        hint = Wording("printed-last", what=last) if last else ""
        return AgentGone(code, hint=hint, agent=self._work.agent.title)

    # ── what is typed ──

    def _command(self, continues: str | None) -> list[str]:
        command = list(self._work.agent.command)
        if self._work.model:
            if self._work.model.startswith("-"):
                raise AgentError("no-such-model", model=self._work.model)
            command += ["--model", self._work.model]
        if continues is None:
            return command
        if not self._store.holds(continues):
            raise AgentError(
                "another-conversation-there",
                project=self._work.project,
                agent=self._work.agent.title,
            )
        return [*command, "--resume", QUIET]

    def _type(self, text: str) -> None:
        """As if it was pasted: its lines stay together, and nothing in it is a key."""
        self._ready.clear()
        self._terminal.write(PASTE + text.encode() + PASTED + ENTER)

    def _press(self) -> None:
        """Ctrl-C, as often as it takes: it may come between two things that can be stopped."""
        if self._pressing is None or self._pressing.done():
            self._pressing = asyncio.create_task(self._press_on())

    async def _press_on(self) -> None:
        while self._turn is not None and not self._turn.done() and not self._ready.is_set():
            self._terminal.write(CTRL_C)
            await asyncio.sleep(PRESSES)

    # ── asks ──

    async def _ask(self, said: str) -> None:
        held = await asyncio.to_thread(self._store.held)
        name = (_USING.findall(said) or [""])[-1]
        call = _call_of(held.entries if held else [], name, self._calls)
        if call is not None:
            self._calls.add(call["id"])
            self._sink.call(call["id"], name=call["name"], arguments=call["arguments"])
        reply = await self._sink.ask(
            Ask(
                id="",
                what="permission",
                title=name or "a tool",
                detail=_question(said),
                call=call["id"] if call else None,
                arguments=call["arguments"] if call else None,
                options=OPTIONS if "/t]" in said else [OPTIONS[0], OPTIONS[2]],
            )
        )
        self._asking = None
        if reply.outcome in ("cancelled", "expired"):
            self._cancelled = True
        option = reply.answer.option
        if reply.outcome == "selected" and option in ("y", "t"):
            self._line(option)
        else:
            self._line(_refusal(reply.answer.reason))
        if self._cancelled:
            await self._stop_what_follows()

    def _line(self, text: str) -> None:
        if len(text) == 1:
            self._ready.clear()
            self._terminal.write(text.encode() + ENTER)
        else:
            self._type(text)

    async def _stop_what_follows(self) -> None:
        """At its question Ctrl-C stops nothing: it is refused, and what the model says to that is stopped."""
        await asyncio.sleep(SAVING / 5)
        self._press()

    # ── its row ──

    async def _settle(self, before: Any, command: bool) -> None:
        """The row that was saved while it answered: whose it is, and what the calls came to."""
        for _ in range(5):
            if await asyncio.to_thread(self._store.mark) != before:
                break
            if command or self._cancelled:
                return
            await asyncio.sleep(SAVING / 5)
        else:
            self._sink.note(
                f"{self._work.agent.title} did not save this answer; what it showed is kept here.",
                "warning",
            )
            return
        held = await asyncio.to_thread(self._store.held)
        if held is None:
            return
        self._sink.session(held.conversation, resumable=True, images=False)
        for call, status, output in _results(held.entries):
            if call in self._calls:
                self._calls.discard(call)
                self._sink.result(call, status, output)
        self._sink.replaced()


def typed(prompt: Prompt) -> str:
    """The prompt as it is typed. Refuses what the program would not take for words."""
    text = _CONTROL.sub("", prompt.text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if prompt.images:
        raise AgentError("q-without-images")
    if not text:
        raise AgentError("nothing-to-type")
    if text.startswith("!"):
        raise AgentError("q-would-run")
    if text.startswith("/") and ("\n" in text or text.split()[0] not in COMMANDS):
        raise AgentError("q-command", names=[*COMMANDS])
    if text.count("```") % 2 or text.endswith("\\"):
        raise AgentError("q-would-wait")
    return text


def _refusal(reason: str | None) -> str:
    """A refusal in the person's words, or in one letter; never what would be a yes, or a command."""
    if not reason or not reason.strip():
        return "n"
    text = _CONTROL.sub("", reason).strip().replace("```", "'''").rstrip("\\")
    return f"No: {text}" if len(text) < 2 or text[0] in "/!@" else text


def _question(said: str) -> str:
    """What is told about the tool, without the question itself."""
    told = said[: said.rfind("Allow this action?")]
    begin = max(told.rfind(mark) for mark in ("🛠", "Using tool: "))
    return told[max(0, begin) :].strip()


def _call_of(entries: list[Any], name: str, known: set[str]) -> dict[str, Any] | None:
    """The call of the newest answer that is asked about."""
    answered = _field(entries[-1] if entries else None, 1, "assistant")
    uses = _field(answered, 0, "ToolUse")
    found = uses.get("tool_uses") if isinstance(uses, dict) else None
    for use in found if isinstance(found, list) else []:
        called = use.get("orig_name") or use.get("name")
        if isinstance(use.get("id"), str) and use["id"] not in known and name in ("", called):
            arguments = use.get("orig_args", use.get("args"))
            return {"id": use["id"], "name": str(called), "arguments": arguments}
    return None


def _results(entries: list[Any]) -> list[tuple[str, Literal["ok", "error", "cancelled"], str]]:
    """(call, status, output) of the results in these entries."""
    found: list[tuple[str, Literal["ok", "error", "cancelled"], str]] = []
    for entry in entries:
        content = _field(_field(entry, 0, "user"), 0, "content")
        for kind in ("ToolUseResults", "CancelledToolUses"):
            results = _field(content, 0, kind)
            for result in results.get("tool_use_results", []) if isinstance(results, dict) else []:
                status: Literal["ok", "error", "cancelled"] = (
                    "cancelled" if kind == "CancelledToolUses" else
                    "ok" if result.get("status") == "Success" else "error"
                )  # fmt: skip
                found.append((str(result.get("tool_use_id")), status, _output(result)))
    return found


def _output(result: dict[str, Any]) -> str:
    texts: list[str] = []
    for block in result.get("content") or []:
        value = block.get("Json", block.get("Text"))
        if isinstance(value, dict) and "stdout" in value:
            value = f"{value['stdout']}{value.get('stderr') or ''}"
        texts.append(value if isinstance(value, str) else str(value))
    return "\n".join(texts)


def _field(value: Any, place: int, name: str) -> Any:
    """A field of an object, or its place in the list that older rows have instead."""
    if isinstance(value, dict):
        return value.get(name)
    return value[place] if isinstance(value, list) and len(value) > place else None
