"""What one run of an agent reports, on its way into the book.

Every run has its own; what comes from a run that was given up is not heard any more. Knows what
entries say, not how the agent is run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from rireki.drive.driver import Level, Reply
from rireki.drive.leftover import note_process
from rireki.drive.session_state import Book
from rireki.drive.values import Ask, AskAnswer, Mode

__all__ = ["Offer", "Reports"]

#: Characters of a tool's output that are kept here; the agent's transcript has all of it.
OUTPUT = 200_000


class Offer(msgspec.Struct):
    """What the agent offers, as it said last."""

    models: list[Mode] = []
    model: str | None = None
    modes: list[Mode] = []
    mode: str | None = None
    usage: dict[str, Any] | None = None


class Reports:
    """The sink of one driver."""

    def __init__(
        self, book: Book, source: str | None, on_gone: Callable[[int | None, str], None]
    ) -> None:
        self.offer = Offer()
        self._book = book
        self._source = source
        self._on_gone = on_gone
        self._heard = True
        self._open: dict[str, asyncio.Future[Reply]] = {}
        self._plan: list[dict[str, Any]] = []

    def detach(self) -> None:
        """Hear nothing more; whoever waits for an answer is told that there will be none."""
        self._heard = False
        for future in self._open.values():
            if not future.done():
                future.set_result(Reply("expired", AskAnswer()))
        self._open.clear()

    def reply(self, ask: str, reply: Reply) -> bool:
        """Hand an answer to the agent; whether it still waits for it."""
        future = self._open.pop(ask, None)
        if future is None or future.done():
            return False
        future.set_result(reply)
        return True

    # ── the sink ──

    def text(self, text: str, *, message: str | None = None, provisional: bool = False) -> None:
        if self._heard and text:
            self._book.add_text("text", text, message, provisional)

    def thought(self, text: str, *, message: str | None = None) -> None:
        if self._heard and text:
            self._book.add_text("thought", text, message, False)

    def replaced(self) -> None:
        if self._heard:
            self._book.settle_text()

    def call(
        self,
        id: str,
        *,
        name: str | None = None,
        title: str | None = None,
        tool: str | None = None,
        arguments: Any = None,
        diffs: list[dict[str, Any]] | None = None,
    ) -> None:
        if not self._heard:
            return
        known = self._book.log.calls.get(id)
        said = {
            "name": name,
            "title": title,
            "tool": tool,
            "arguments": arguments,
            "diffs": diffs,
        }
        news = {
            key: value
            for key, value in said.items()
            if value is not None and (known is None or getattr(known, key) != value)
        }
        if news or (known is None and id not in self._book.log.done):
            self._book.settle_text()
            self._book.keep("call", call=id, **news)

    def result(self, id: str, status: Literal["ok", "error", "cancelled"], output: str) -> None:
        if self._heard and id not in self._book.log.done:
            self._book.settle_text()
            self._book.keep("result", call=id, status=status, output=output[:OUTPUT])

    def plan(self, entries: list[dict[str, Any]]) -> None:
        if self._heard and entries != self._plan:
            self._plan = entries
            self._book.settle_text()
            self._book.keep("plan", entries=entries)

    async def ask(self, ask: Ask) -> Reply:
        if not self._heard:
            return Reply("expired", AskAnswer())
        self._book.settle_text()
        id = f"{self._book.id}-{self._book.number()}"
        more = msgspec.to_builtins(ask)
        for name in ("id", "at", "number"):
            del more[name]
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[id] = future
        self._book.keep("ask", id=id, **{name: value for name, value in more.items() if value})
        try:
            return await future
        finally:
            self._open.pop(id, None)

    def session(self, id: str, *, resumable: bool = False, images: bool | None = None) -> None:
        log = self._book.log
        if self._heard and (log.native, log.resumable, log.images) != (id, resumable, images):
            more = {} if images is None else {"images": images}
            self._book.keep("session", source=self._source, id=id, resumable=resumable, **more)

    def usage(self, usage: dict[str, Any]) -> None:
        if self._heard:
            self.offer.usage = usage
            self._book.changed()

    def models(self, models: list[Mode], current: str | None) -> None:
        if self._heard:
            self.offer.models, self.offer.model = models, current
            self._book.changed()

    def modes(self, modes: list[Mode], current: str | None) -> None:
        if self._heard:
            self.offer.modes, self.offer.mode = modes, current
            self._book.changed()

    def note(self, text: str, level: Level = "info") -> None:
        if self._heard:
            self._book.settle_text()
            self._book.keep("note", text=text, level=level)

    def process(self, pid: int) -> None:
        if self._heard:
            self._book.keep("process", **note_process(self._book.journal.path, pid))

    def gone(self, code: int | None, printed: str) -> None:
        if self._heard:
            self._on_gone(code, printed)
