"""The file of one history: every entry is in the hands of the system before a method returns.

One line per entry, appended with one write, so that a process that is killed leaves whole lines
and at most one torn one. One writer at a time; readers need no lock. Knows no messages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeAlias

from rireki.errors import NotFound, RirekiError
from rireki.journals.file import GrowingFile
from rireki.journals.history_entry import GOES_ON, JournalEntry, parse, parse_all, spell
from rireki.journals.lock import WriterLock
from rireki.sources.kit.jsonl import split_lines

__all__ = ["HistoryConflict", "HistoryJournal", "Sync"]

#: What a method waits for: that the system has the entry, or that the disk has it.
Sync: TypeAlias = Literal["os", "full"]


class HistoryConflict(RirekiError):
    """Somebody else writes this conversation."""


class HistoryJournal(GrowingFile):
    """An open journal. `entries` are those that were there; `damage` tells of what was not one."""

    _lost = "go-on-in-a-copy"

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        sync: Sync = "os",
        first: bytes | None = None,
    ) -> None:
        """`first` are the lines that a new journal begins with: there with all of them, or not."""
        self.path = path
        self.conversation = path.stem
        self.read_only = read_only
        self.sync = sync
        self.entries: list[JournalEntry] = []
        self.damage: list[str] = []
        #: Bytes after the last whole line: an entry whose writer was killed.
        self.torn = b""
        self._process = os.getpid()
        self._lock = WriterLock(path)
        self._file: int | None = None
        self._size = 0
        if read_only:
            self._read_all()
            self._take_back()
        else:
            self._open(first)

    @property
    def is_open(self) -> bool:
        """Whether this process may write to it; a copy of the process that opened it may not."""
        return self._file is not None and os.getpid() == self._process

    def write(self, lines: bytes) -> None:
        """Append whole lines, with one write; all of it is kept, or nothing and an error is raised."""
        self._check()
        self._append(lines, sync=self.sync == "full")

    def close(self) -> None:
        """Let go of the file; one that nothing was written to goes away."""
        if self._file is None or not self.is_open:
            return
        empty = not os.fstat(self._file).st_size
        os.close(self._file)
        self._file = None
        if empty:
            self.path.unlink(missing_ok=True)
        self._lock.release()

    # ── opening ──

    def _open(self, first: bytes | None) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._lock.take():
                raise self.conflict()
            try:
                if first is not None:
                    self._create(first)
                self._read_and_mend()
            except BaseException:
                self._let_go()
                raise
        except OSError as error:
            raise RirekiError(
                "history-not-opened",
                id=self.conversation,
                path=error.filename or self.path,
                why=error.strerror or error,
            ) from error

    def _create(self, first: bytes) -> None:
        if self.path.exists():
            raise RirekiError("history-file-exists", id=self.conversation, path=self.path)
        fresh = self.path.with_suffix(".new")
        try:
            fresh.unlink(missing_ok=True)
            with os.fdopen(
                os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(first)
                if self.sync == "full":
                    file.flush()
                    os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def _read_and_mend(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        # A link in somebody else's folder would have us write to what it leads to.
        flags |= getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(self.path, flags, 0o600)
        self._read_all()
        self._size = self.path.stat().st_size
        if self.torn:
            self._set_aside()
        self._take_back()

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._lock.release()

    def _read_all(self) -> None:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            raise NotFound("no-history", id=self.conversation, path=self.path) from None
        lines, self.torn = split_lines(data)
        found = parse_all(lines)
        self.entries = [entry for entry in found if entry is not None]
        if len(self.entries) < len(found):
            self.damage += [
                f"{self.path}: line {number} is not an entry; it was passed over"
                for number, entry in enumerate(found, 1)
                if entry is None
            ]

    def _set_aside(self) -> None:
        """Finish the line that its writer could not: as what it is, or as the rest of one."""
        entry = parse(self.torn)
        if entry is None:
            text = self.torn.decode("utf-8", "backslashreplace")
            seq = len(self.entries)
            at = self.entries[-1].at if self.entries else None
            entry = JournalEntry(os.urandom(6).hex(), "torn", more={"torn": text}, seq=seq, at=at)
            entry.parent = self.entries[-1].id if self.entries else None
            self.damage.append(f"{self.path}: an unfinished last line was set aside")
            line = spell(entry)
        else:
            line = self.torn + b"\n"
        start = self._size - len(self.torn)
        # Written over what it tells of, so that it is never lost in between.
        with self.path.open("r+b", buffering=0) as file:
            file.seek(start)
            file.write(line)
            file.truncate(start + len(line))
        self.entries.append(entry)
        self._size = start + len(line)

    def _take_back(self) -> None:
        """Leave entries that were to be kept together with others, which their writer did not write."""
        rest = len(self.entries)
        while rest and self.entries[rest - 1].kind == "torn":
            rest -= 1
        first = rest
        while first and self.entries[first - 1].more.get(GOES_ON) is True:
            first -= 1
        if first == rest:
            return
        last = self.entries[-1]
        back = JournalEntry(os.urandom(6).hex(), "branch", seq=last.seq + 1, at=last.at)
        back.parent = self.entries[first - 1].id if first else None
        if self._file is not None:
            line = spell(back)
            os.write(self._file, line)
            self._size += len(line)
        self.entries.append(back)
        self.damage.append(f"{self.path}: {rest - first} entries of an unfinished write were left")

    def conflict(self) -> HistoryConflict:
        """What is told to those who want to write it as well."""
        holder = self._lock.holder()
        who = "this process" if holder == os.getpid() else f"process {holder or 'unknown'}"
        return HistoryConflict(
            "history-being-written", id=self.conversation, who=who, path=self.path
        )

    # ── writing ──

    def _check(self) -> None:
        if self.read_only:
            raise RirekiError("history-read-only", id=self.conversation)
        if self._file is None:
            raise self.closed()
        if os.getpid() != self._process:
            raise HistoryConflict(
                "history-of-a-copy", id=self.conversation, process=self._process, copy=os.getpid()
            )

    def closed(self) -> RirekiError:
        """What is told to those who write to it after they closed it."""
        return RirekiError("history-closed", id=self.conversation)

    def _failed(self, reason: str) -> RirekiError:
        return RirekiError("history-not-written", id=self.conversation, path=self.path, why=reason)
