"""The file of one driven conversation: what is acknowledged is in it, whatever is killed next.

One line per entry, appended with one write. One writer at a time, over all processes. Knows the
spelling of entries, not their meaning.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rireki.errors import NotFound, RirekiError
from rireki.journals.file import GrowingFile
from rireki.journals.lock import WriterLock
from rireki.journals.session_entry import BridgeEntry, parse, spell
from rireki.sources.kit.jsonl import split_lines

__all__ = ["DrivenElsewhere", "Counter", "DriveJournal", "ended"]

#: The last line of a conversation that has ended is shorter than this.
TAIL = 1024


class DrivenElsewhere(RirekiError):
    """Another process drives this conversation."""


def ended(path: Path) -> bool:
    """Whether the last line says that the conversation has ended, with nothing left to do."""
    with path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(-min(file.tell(), TAIL), os.SEEK_END)
        lines, torn = split_lines(file.read())
    entry = parse(lines[-1]) if lines and not torn else None
    if entry is None or entry.kind != "state" or entry.text("state") != "ended":
        return False
    return not entry.more.get("waiting")


class Counter:
    """The numbers of the events of one bridge: they only grow, also over restarts."""

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last = max(self.last + 1, time.time_ns() // 1000)
        return self.last

    def reach(self, number: int) -> None:
        """Whatever comes next is later than this number."""
        self.last = max(self.last, number)


class DriveJournal(GrowingFile):
    """The journal of one conversation, to be opened before anything is written."""

    def __init__(self, path: Path, counter: Counter) -> None:
        self.path = path
        self.id = path.stem
        #: Why entries of the agent are waiting in memory; empty when none are.
        self.trouble = ""
        self._counter = counter
        self._lock = WriterLock(path)
        self._file: int | None = None
        #: Bytes that were read or written; what lies behind them is half a line of ours.
        self._size = 0
        self._waiting = b""

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def peek(self) -> list[BridgeEntry]:
        """The entries that came since it was read last, without the right to write."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._size)
                data = file.read()
        except FileNotFoundError:
            raise NotFound("never-driven", id=self.id) from None
        except OSError as error:
            raise self._unopened(error) from error
        lines, torn = split_lines(data)
        self._size += len(data) - len(torn)
        return self._parsed(lines)

    def open(self) -> list[BridgeEntry]:
        """Become its only writer; the entries that came since it was read last."""
        if self.is_open:
            return []
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._lock.take():
                raise self._busy()
            try:
                return self._open()
            except BaseException:
                self._let_go()
                raise
        except OSError as error:
            raise self._unopened(error) from error

    def write(self, kind: str, **more: Any) -> BridgeEntry:
        """Store an entry: the system has it when this returns, or nothing is kept and an error raised."""
        entry = self._entry(kind, more)
        self._append(self._waiting + spell(entry))
        self._waiting, self.trouble = b"", ""
        return entry

    def keep(self, kind: str, **more: Any) -> BridgeEntry:
        """Store what the agent did; while the disk is full it waits in memory, and `trouble` says so."""
        entry = self._entry(kind, more)
        lines = self._waiting + spell(entry)
        try:
            self._append(lines)
        except RirekiError as error:
            self._waiting, self.trouble = lines, error.message
        else:
            self._waiting, self.trouble = b"", ""
        return entry

    async def settle(self) -> None:
        """Wait until the disk has what was written, not only the system."""
        if self._file is None:
            return
        copy = os.dup(self._file)
        try:
            await asyncio.to_thread(os.fsync, copy)
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error
        finally:
            os.close(copy)

    def close(self) -> None:
        """Let others write."""
        if self._file is not None:
            if self._waiting:
                with suppress(RirekiError):
                    self._append(self._waiting)
                    self._waiting = b""
            self._let_go()

    # ── inside ──

    def _entry(self, kind: str, more: dict[str, Any]) -> BridgeEntry:
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        return BridgeEntry(self._counter.next(), at.replace("+00:00", "Z"), kind, more)

    def _open(self) -> list[BridgeEntry]:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        # A link in somebody else's folder would have us write to what it leads to.
        flags |= getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(self.path, flags, 0o600)
        with self.path.open("rb") as file:
            file.seek(self._size)
            data = file.read()
        lines, torn = split_lines(data)
        self._size += len(data)
        if torn:
            # Its writer was killed: a line of its own, whatever it is, and the next one is whole.
            self._append(b"\n")
            lines = [*lines, torn]
        return self._parsed(lines)

    def _parsed(self, lines: list[bytes]) -> list[BridgeEntry]:
        entries = [entry for line in lines if (entry := parse(line)) is not None]
        for entry in entries:
            self._counter.reach(entry.number)
        return entries

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._lock.release()

    def _append(self, lines: bytes, *, sync: bool = False) -> None:
        if self._file is None:
            raise RirekiError("journal-not-open", path=self.path)
        super()._append(lines, sync=sync)

    def _failed(self, reason: str) -> RirekiError:
        return RirekiError("session-not-written", id=self.id, path=self.path, why=reason)

    def _unopened(self, error: OSError) -> RirekiError:
        return RirekiError(
            "session-not-opened",
            id=self.id,
            path=error.filename or self.path,
            why=error.strerror or error,
        )

    def _busy(self) -> DrivenElsewhere:
        return DrivenElsewhere(
            "driven-elsewhere", id=self.id, process=self._lock.holder() or "unknown"
        )
