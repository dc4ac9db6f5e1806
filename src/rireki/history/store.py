"""The files behind a history on disk: its journal, and the archive it is brought into."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rireki.archive.open import now
from rireki.errors import RirekiError
from rireki.history import late
from rireki.history.journal import HistoryJournal, Sync
from rireki.home import Home
from rireki.journals.history_entry import GOES_ON, MESSAGES, JournalEntry, parse, spell
from rireki.journals.history_log import EntryLog
from rireki.providers import detect, plain

if TYPE_CHECKING:
    from rireki.journals.history_log import Item
    from rireki.search.results import Hit

__all__ = ["HistoryStore", "search_in_memory"]

#: What a history says of itself.
_ABOUT = ("project", "title")


class HistoryStore:
    """A journal, its archive, and what is still to be said before its first entry."""

    def __init__(self, archive: Path, journal: HistoryJournal) -> None:
        self.archive = archive
        self.journal = journal
        self.troubles: list[str] = list(journal.damage)
        self._process = os.getpid()
        self._seq = max([entry.seq for entry in journal.entries], default=-1) + 1
        self._first: JournalEntry | None = None
        #: Whether the archive has everything that was written; who wrote here before may have been
        #: killed before it did.
        self._taken = not (journal.entries or journal.damage)
        #: What the journal comes to, for all handles of this process; and who works on it.
        self.log = EntryLog(journal.entries)
        self.lock = RLock()

    @classmethod
    def open(cls, archive: Path, place: Path, read_only: bool, sync: Sync) -> HistoryStore:
        return cls(archive, HistoryJournal(place, read_only=read_only, sync=sync))

    def introduce(self, log: EntryLog, project: str | Path | None, title: str | None) -> None:
        """What a history is about: said with its first entry, or now if it is to change."""
        about: dict[str, Any] = {}
        if project is not None:
            about["project"] = str(Path(project).expanduser().absolute())
        if title is not None:
            about["title"] = title
        if not log.entries:
            about = {"conversation": self.journal.conversation, "project": str(Path.cwd()), **about}
            self._first = _entry("start", about)
            return
        changed = {name: said for name, said in about.items() if said != _said(log, name)}
        if changed and not self.journal.read_only:
            for entry in self.write([_entry("title", changed)], log):
                log.add(entry)

    def write(self, entries: Sequence[JournalEntry], log: EntryLog) -> list[JournalEntry]:
        """Entries as they are on disk once this returns; none of them is, if it fails."""
        first = [self._first] if self._first is not None else []
        made: list[JournalEntry] = []
        lines = b""
        parent, at = log.head, now()
        for number, entry in enumerate([*first, *entries]):
            if entry.kind != "branch":
                entry.parent = parent
            entry.seq, entry.at = self._seq + number, at
            if number >= len(first) and number < len(first) + len(entries) - 1:
                entry.more = {**entry.more, GOES_ON: True}
            if entry.kind in MESSAGES:
                entry.raw = plain(entry.raw)
                entry.provider = entry.provider or detect(entry.raw)
            line = _spelled(entry)
            lines += line
            # Read back, so that it says now what it will say when it is opened again.
            made.append(_read_back(line))
            parent = entry.id
        self.journal.write(lines)
        self._seq += len(made)
        self._first, self._taken = None, False
        return made

    def fork(self, place: Path, chain: Sequence[JournalEntry], head: str | None) -> HistoryStore:
        """A new journal that begins with these entries; there with all of them, or not at all."""
        about: dict[str, Any] = {"conversation": place.stem}
        for entry in chain:
            if entry.kind not in MESSAGES:
                about |= {name: said for name, said in entry.more.items() if name in _ABOUT}
        start = _entry("start", about)
        start.more |= {"forked_from": self.journal.conversation, "forked_at": head}
        start.at = now()
        kept = [entry for entry in chain if entry.kind not in ("start", "torn")]
        first = _in_line([start, *kept])
        store = HistoryStore(
            self.archive, HistoryJournal(place, sync=self.journal.sync, first=first)
        )
        store._taken = False
        return store

    def search(self, query: str, limit: int) -> list[Hit]:
        if not query.strip() or not self.journal.path.exists():
            return []
        hits = late.importing.find_in(self.archive, self.journal.path, query, limit)
        self._taken = True
        return hits

    @property
    def is_behind(self) -> bool:
        """Whether something was written that the archive does not have."""
        return not self._taken and not self.journal.read_only and os.getpid() == self._process

    def release(self) -> None:
        """Let go of the file."""
        self.journal.close()

    def take_in(self) -> None:
        """The entries are safe in the journal: what hinders the archive is said, and not raised."""
        if not self.is_behind:
            return
        try:
            if not late.importing.is_kept(self.archive):
                late.importing.take_in_journal(self.archive, self.journal.path)
            self._taken = True
        except (RirekiError, OSError) as error:
            trouble = (
                f"the history {self.journal.conversation} is kept in {self.journal.path} and was "
                f"not brought into the archive {self.archive} ({error}); 'rireki import' does that"
            )
            self.troubles.append(trouble)
            logging.getLogger("rireki").warning(trouble)


def search_in_memory(items: Iterable[Item], query: str, limit: int) -> list[Hit]:
    """As on disk, in an archive that goes away afterwards."""
    with TemporaryDirectory(prefix="rireki-") as folder:
        archive = Path(folder) / "archive.sqlite3"
        store = HistoryStore.open(archive, Home(archive).history(str(uuid4())), False, "os")
        log = store.log
        entries = [
            JournalEntry(f"{number}", "user", message, entry.provider)
            for number, (entry, message) in enumerate(items)
        ]
        store.write(entries, log)
        try:
            return store.search(query, limit)
        finally:
            store.release()


def _in_line(entries: Sequence[JournalEntry]) -> bytes:
    """The lines of entries, each following the one before."""
    lines = b""
    parent = None
    for seq, entry in enumerate(entries):
        more = {name: said for name, said in entry.more.items() if name != GOES_ON}
        again = JournalEntry(entry.id, entry.kind, entry.raw, entry.provider, more)
        again.parent, again.seq, again.at = parent, seq, entry.at
        lines += spell(again)
        parent = entry.id
    return lines


def _entry(kind: str, more: dict[str, Any]) -> JournalEntry:
    return JournalEntry(os.urandom(6).hex(), kind, more=more)


def _spelled(entry: JournalEntry) -> bytes:
    try:
        return spell(entry)
    except (TypeError, ValueError, RecursionError) as error:
        raise RirekiError("entry-not-json", kind=entry.kind, why=error) from error


def _read_back(line: bytes) -> JournalEntry:
    entry = parse(line)
    assert entry is not None
    return entry


def _said(log: EntryLog, name: str) -> str | None:
    said = [entry.text(name) for entry in log.entries.values() if entry.kind not in MESSAGES]
    return next((text for text in reversed(said) if text), None)
