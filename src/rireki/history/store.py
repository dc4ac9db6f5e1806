"""What is behind a history that is kept: its entries, and the archive that they are brought into."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rireki.archive.open import now
from rireki.errors import RirekiError
from rireki.history import late
from rireki.history.journal import HistoryJournal, Sync
from rireki.home import Home, archive_path
from rireki.journals.history_entry import GOES_ON, MESSAGES, JournalEntry, parse, spell
from rireki.journals.history_log import EntryLog
from rireki.providers import detect, plain

if TYPE_CHECKING:
    from rireki.journals.history_log import Item
    from rireki.search.results import Hit

__all__ = ["HistoryStore", "JournalStore", "place_of", "search_in_memory"]

#: What a history says of itself.
_ABOUT = ("project", "title")


class HistoryStore:
    """Where the entries of a history are kept, and what is still to be said before its first one."""

    def __init__(self, conversation: str, read_only: bool, entries: list[JournalEntry]) -> None:
        self.conversation = conversation
        self.read_only = read_only
        self.troubles: list[str] = []
        self._seq = max([entry.seq for entry in entries], default=-1) + 1
        self._first: JournalEntry | None = None
        #: What the entries come to, for all handles of this process; and who works on it.
        self.log = EntryLog(entries)
        self.lock = RLock()

    def introduce(self, project: str | Path | None, title: str | None) -> None:
        """What a history is about: said with its first entry, or now if it is to change."""
        about: dict[str, Any] = {}
        if project is not None:
            about["project"] = str(Path(project).expanduser().absolute())
        if title is not None:
            about["title"] = title
        if not self.log.entries:
            about = {"conversation": self.conversation, "project": str(Path.cwd()), **about}
            self._first = _entry("start", about)
            return
        changed = {name: said for name, said in about.items() if said != _said(self.log, name)}
        if changed and not self.read_only:
            self.write([_entry("title", changed)])

    def write(self, entries: Sequence[JournalEntry]) -> None:
        """Keep entries behind those of the log, and add them to it; none of them is, if it fails."""
        lines = self._lines(entries)
        while not self._keep(lines):
            # Others came first: these follow theirs.
            lines = self._lines(entries)
        self._first = None
        for line in lines:
            # Read back, so that it says now what it will say when it is opened again.
            self.log.add(_read_back(line))
        self._seq += len(lines)

    def _lines(self, entries: Sequence[JournalEntry]) -> list[bytes]:
        """Entries as they follow the log."""
        first = [self._first] if self._first is not None and not self.log.entries else []
        lines: list[bytes] = []
        parent, at = self.log.head, now()
        for number, entry in enumerate([*first, *entries]):
            if entry.kind != "branch":
                entry.parent = parent
            entry.seq, entry.at = self._seq + number, at
            if number >= len(first) and number < len(first) + len(entries) - 1:
                entry.more = {**entry.more, GOES_ON: True}
            if entry.kind in MESSAGES:
                entry.raw = plain(entry.raw)
                entry.provider = entry.provider or detect(entry.raw)
            lines.append(_spelled(entry))
            parent = entry.id
        return lines

    def _forked(
        self, conversation: str, chain: Sequence[JournalEntry], head: str | None
    ) -> list[bytes]:
        """The first lines of another history that begins with these entries."""
        about: dict[str, Any] = {"conversation": conversation}
        for entry in chain:
            if entry.kind not in MESSAGES:
                about |= {name: said for name, said in entry.more.items() if name in _ABOUT}
        start = _entry("start", about)
        start.more |= {"forked_from": self.conversation, "forked_at": head}
        start.at = now()
        kept = [entry for entry in chain if entry.kind not in ("start", "torn")]
        return _in_line([start, *kept])

    def closed(self) -> RirekiError:
        """What is told to those who write to it after they closed it."""
        return RirekiError("history-closed", id=self.conversation)

    # ── what engines do in ways of their own ──

    #: Whether others may write meanwhile, so that reading asks a server what is new.
    is_shared = False

    @property
    def is_behind(self) -> bool:
        """Whether something was written that the archive does not have."""
        return False

    def _keep(self, lines: list[bytes]) -> bool:
        """Lines that are kept once this returns; False where others came first, and are read now."""
        raise NotImplementedError

    def slot(self, conversation: str) -> str:
        """What another history of the same place is called among all that are open."""
        raise NotImplementedError

    def fork(
        self, conversation: str, chain: Sequence[JournalEntry], head: str | None
    ) -> HistoryStore:
        """A new history that begins with these entries; there with all of them, or not at all."""
        raise NotImplementedError

    def search(self, query: str, limit: int) -> list[Hit]:
        raise NotImplementedError

    def in_use(self) -> RirekiError:
        """What is told to those who want a fresh one of its name."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Read what others wrote."""

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Until it ends nobody else adds anything, and everything that was added is read."""
        yield

    def wait_for_disk(self) -> None:
        """From now on."""

    def release(self) -> None:
        """Let go of what is held."""

    def take_in(self) -> None:
        """Bring what was written into the archive."""


class JournalStore(HistoryStore):
    """A journal beside an archive, which it is brought into. One process writes it at a time."""

    def __init__(self, archive: Path, journal: HistoryJournal) -> None:
        super().__init__(journal.conversation, journal.read_only, journal.entries)
        self.archive = archive
        self.journal = journal
        self.troubles += journal.damage
        self._process = os.getpid()
        #: Whether the archive has everything that was written; who wrote here before may have been
        #: killed before it did.
        self._taken = not (journal.entries or journal.damage)

    @classmethod
    def open(cls, archive: Path, place: Path, read_only: bool, sync: Sync) -> JournalStore:
        return cls(archive, HistoryJournal(place, read_only=read_only, sync=sync))

    def _keep(self, lines: list[bytes]) -> bool:
        self.journal.write(b"".join(lines))
        self._taken = False
        return True

    def slot(self, conversation: str) -> str:
        return os.path.realpath(self._beside(conversation))

    def _beside(self, conversation: str) -> Path:
        return Home(self.archive).history(conversation)

    def fork(
        self, conversation: str, chain: Sequence[JournalEntry], head: str | None
    ) -> JournalStore:
        place = self._beside(conversation)
        first = b"".join(self._forked(place.stem, chain, head))
        store = JournalStore(
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

    def in_use(self) -> RirekiError:
        return self.journal.conflict()

    @property
    def is_behind(self) -> bool:
        return not self._taken and not self.read_only and os.getpid() == self._process

    def wait_for_disk(self) -> None:
        self.journal.sync = "full"

    def release(self) -> None:
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


def place_of(
    conversation: str, archive: str | Path | None, address: str | None, read_only: bool, sync: Sync
) -> tuple[str, Callable[[], HistoryStore]]:
    """What a history is called among all that are open, and how it is opened."""
    if address is not None:
        slot = late.database.slot_of(address, conversation)
        return slot, lambda: late.database.DatabaseStore.open(address, conversation, read_only)
    path = archive_path(archive)
    place = Home(path).history(conversation)
    return os.path.realpath(place), lambda: JournalStore.open(path, place, read_only, sync)


def search_in_memory(items: Iterable[Item], query: str, limit: int) -> list[Hit]:
    """As on disk, in an archive that goes away afterwards."""
    with TemporaryDirectory(prefix="rireki-") as folder:
        archive = Path(folder) / "archive.sqlite3"
        store = JournalStore.open(archive, Home(archive).history(str(uuid4())), False, "os")
        entries = [
            JournalEntry(f"{number}", "user", message, entry.provider)
            for number, (entry, message) in enumerate(items)
        ]
        store.write(entries)
        try:
            return store.search(query, limit)
        finally:
            store.release()


def _in_line(entries: Sequence[JournalEntry]) -> list[bytes]:
    """The lines of entries, each following the one before."""
    lines: list[bytes] = []
    parent = None
    for seq, entry in enumerate(entries):
        more = {name: said for name, said in entry.more.items() if name != GOES_ON}
        again = JournalEntry(entry.id, entry.kind, entry.raw, entry.provider, more)
        again.parent, again.seq, again.at = parent, seq, entry.at
        lines.append(spell(again))
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
