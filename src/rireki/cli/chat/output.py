"""What a driven conversation looks like on a terminal, in a pipe, and for a program.

Text is written as it comes; a call is a line. Nothing that an agent says can steer the terminal.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rireki.cli.output import StandardOutput
from rireki.model.parts import ToolCall
from rireki.show.catalogue import language, say, say_reading
from rireki.show.parts import tell
from rireki.show.safe import one_line, safe
from rireki.show.width import truncate

if TYPE_CHECKING:
    from rireki.drive.events import Event
    from rireki.errors import RirekiError
    from rireki.journals.session_entry import BridgeEntry

__all__ = ["ChatOutput", "JsonChatOutput"]


class ChatOutput:
    """For people; also for those who read a pipe."""

    def __init__(self) -> None:
        self.screen = StandardOutput()
        self.style = self.screen.style
        #: How much of each block was written, in units of UTF-16, as events count.
        self._written: dict[str, int] = {}
        self._block: str | None = None
        #: What is known of each call; None when it was told.
        self._calls: dict[str, dict[str, Any] | None] = {}
        self._noted: set[str] = set()
        self._state = ""
        #: Whether the last line is complete.
        self._at_start = True

    def begin(self, agent: str, project: str) -> None:
        if self.screen.terminal:
            self.line(self.style.bold(f"{one_line(agent)}{say(' in ')}{one_line(project)}"))
            self.hint(say("Ctrl-C stops, Ctrl-D leaves; a line that ends with \\ goes on."))

    def show(self, event: Event) -> None:
        if event.kind == "delta":
            self._delta(event.more)
        elif event.kind == "status":
            self._status(event.more["status"])

    def tell(self, entries: list[BridgeEntry]) -> None:
        """What happened besides the text: calls and notes."""
        for entry in entries:
            if entry.kind in ("call", "result"):
                self._call(entry)
            elif entry.kind == "note" and entry.text("level") != "info":
                self.note(entry.text("text"))

    def line(self, text: str) -> None:
        self._break()
        self._write(f"{text}\n")

    def hint(self, text: str) -> None:
        self._aside(self.style.dim(text))

    def note(self, text: str) -> None:
        """Said once, however often it comes."""
        if text in self._noted:
            return
        self._noted.add(text)
        self._aside(self.style.yellow(say(f"note: {one_line(text)}")))

    def error(self, error: RirekiError) -> None:
        message, hint = error.lines(language())
        self._aside(f"{self.style.red(say('error:'))} {one_line(say(message))}")
        if hint:
            self.hint(f"{say('hint:')} {one_line(say(hint))}")

    def _aside(self, text: str) -> None:
        """Our own words: a pipe gets the agent's alone."""
        if self.screen.terminal:
            self.line(text)
        else:
            sys.stderr.write(f"{text}\n")

    def end(self, conversation: str) -> None:
        """How to go on."""
        told = f"Go on with: rireki chat --continue {conversation}\n"
        told += f"Read it with: rireki show {conversation} (in the browser: /c/{conversation})\n"
        for line in told.splitlines():
            self.hint(say(line))

    def _delta(self, more: dict[str, Any]) -> None:
        known = self._written.get(more["block"], 0)
        units = more["text"].encode("utf-16-le", "surrogatepass")[2 * max(0, known - more["at"]) :]
        text = units.decode("utf-16-le", "replace")
        if not text:
            return
        self._written[more["block"]] = known + len(units) // 2
        if self._block != more["block"]:
            self._break()
            self._block = more["block"]
        shown = safe(text)
        self._write(self.style.dim(shown) if more["kind"] == "thought" else shown)

    def _call(self, entry: BridgeEntry) -> None:
        """Told once, when it is known what it is about, or when it is over."""
        id = entry.text("call")
        if id not in self._calls:
            self._calls[id] = {}
        known = self._calls[id]
        if known is None:
            return
        known.update(entry.more)
        if known.get("arguments") or entry.kind == "result":
            self._calls[id] = None
            name = str(known.get("name") or known.get("title") or "a tool")
            call = ToolCall(call_id=id, name=name, arguments=known.get("arguments"))
            told = tell(call, say_reading)
            self.line(self.style.cyan(truncate(f"● {told}", self.screen.columns)))

    def _status(self, status: dict[str, Any]) -> None:
        state = status["state"]
        if state != self._state and state == "failed":
            self._aside(f"{self.style.red(say('the agent failed:'))} {safe(status['detail'])}")
        if state in ("idle", "failed", "ended"):
            self._break()
        self._state = state

    def _break(self) -> None:
        """Whatever follows begins a line."""
        self._block = None
        if not self._at_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
        self._at_start = text.endswith(("\n", "\n\x1b[0m"))


class JsonChatOutput(ChatOutput):
    """For programs: an event per line, and nothing else."""

    def show(self, event: Event) -> None:
        self.screen.json([{"event": event.kind, **event.data()}])
        sys.stdout.flush()

    def tell(self, entries: list[BridgeEntry]) -> None:
        lines = [{"event": "entry", "kind": e.kind, "n": e.number, **e.more} for e in entries]
        self.screen.json(lines)
        sys.stdout.flush()

    def _aside(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")

    def begin(self, agent: str, project: str) -> None: ...

    def end(self, conversation: str) -> None:
        self.screen.json([{"event": "end", "conversation": conversation}])
