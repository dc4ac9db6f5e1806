"""What is known of one driven conversation, and the one way to add to it: written, worked out, shown.

Brings journal, log and growing text together, and tells listeners that something changed.
Knows no agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rireki.drive.blocks import Blocks, Growing, Kind
from rireki.drive.events import Fan
from rireki.drive.journal import Counter, DriveJournal
from rireki.drive.reduce import SessionLog
from rireki.drive.values import Prompt, Queued, RunningCall, StreamBlock
from rireki.journals.session_entry import BridgeEntry

__all__ = ["Book"]

#: Seconds after which a stretch of text is written, although more of it is to come: whatever is on
#: a screen for so long is there after a crash.
STRETCH = 0.25


class Book:
    def __init__(self, id: str, path: Path, counter: Counter, fan: Fan) -> None:
        self.id = id
        self.log = SessionLog()
        self.journal = DriveJournal(path, counter)
        self.blocks = Blocks(id, self)
        self.touched = 0
        self._counter = counter
        self._fan = fan
        self._timer: asyncio.TimerHandle | None = None
        #: Prompts that this process may give: it stored them itself, or the person said yes to them.
        self._confirmed: set[str] = set()

    # ── reading and opening ──

    def peek(self) -> None:
        """Take in what is there, without the right to write."""
        self._take(self.journal.peek())

    def open(self) -> None:
        """Become the only writer, and take in what others wrote before."""
        self._take(self.journal.open())

    def close(self) -> None:
        self.journal.close()

    def _take(self, entries: list[BridgeEntry]) -> None:
        for entry in entries:
            self.log.add(entry)
        self.touched = max(self.touched, self.log.number)

    # ── the queue ──

    @property
    def next(self) -> Prompt | None:
        """The prompt whose turn it is, if nothing holds the queue back."""
        prompt = self.log.next
        return prompt if prompt is not None and prompt.id in self._confirmed else None

    @property
    def recovered(self) -> list[Queued]:
        """Prompts that an earlier process stored: not given before the person says yes."""
        return [queued for queued in self.log.queue if queued.id not in self._confirmed]

    def confirm(self) -> None:
        """The person said yes to all that waits."""
        self._confirmed.update(self.log.waiting)

    # ── writing ──

    def write(self, kind: str, **more: Any) -> BridgeEntry:
        """What a person did: it is kept, or an error is raised."""
        self.open()
        entry = self.journal.write(kind, **more)
        if kind == "prompt":
            self._confirmed.add(entry.text("id"))
        return self._added(entry)

    def keep(self, kind: str, **more: Any) -> BridgeEntry:
        """What the agent did, or became of it: kept sooner or later."""
        self.open()
        return self._added(self.journal.keep(kind, **more))

    async def settle(self) -> None:
        """Wait until the disk has all that was written."""
        await self.journal.settle()

    def _added(self, entry: BridgeEntry) -> BridgeEntry:
        self.log.add(entry)
        self.touched = entry.number
        self._fan.changed(
            self.id, status=True, call=entry.text("call") if entry.kind == "call" else None
        )
        return entry

    def changed(self) -> None:
        """Something of the status that has no entry is different now."""
        self.touched = self._counter.next()
        self._fan.changed(self.id, status=True)

    # ── text that grows ──

    def add_text(self, kind: Kind, piece: str, message: str | None, provisional: bool) -> None:
        self.blocks.add(kind, piece, message, provisional)
        self.touched = self._counter.next()
        self._fan.changed(self.id)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(STRETCH, self._flush)

    def settle_text(self) -> None:
        """The agent turned to something else, or is done."""
        self.blocks.settle()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._timer = None
        if self.log.turn is None:
            # Said outside of any turn: nothing will come that could settle it.
            self.blocks.settle()
        else:
            self.blocks.flush()

    def growing(self) -> list[StreamBlock]:
        block = self.blocks.growing
        return [StreamBlock(block.id, block.kind, block.text, block.provisional)] if block else []

    @property
    def calls(self) -> Mapping[str, RunningCall]:
        return self.log.calls

    # ── what Blocks wants of its writer ──

    def number(self) -> int:
        return self._counter.next()

    def stretch(self, block: Growing, text: str) -> None:
        more = {"provisional": True} if block.provisional else {}
        self.log.add(self.journal.keep(block.kind, block=block.id, text=text, **more))

    def settled(self, block: Growing) -> None:
        self.touched = self._counter.next()
        self._fan.changed(self.id)
