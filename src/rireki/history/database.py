"""A history in PostgreSQL: any number of processes write it, each behind what it has read.

Whatever reads asks first what others wrote; whatever decides by what is there is alone with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rireki.errors import NotFound, RirekiError
from rireki.history.journal import HistoryConflict
from rireki.history.store import HistoryStore, search_in_memory
from rireki.home import history_name
from rireki.journals.history_entry import JournalEntry, parse_all
from rireki.journals.history_log import Item

try:
    from rireki.journals.postgres.journal import PostgresJournal, histories_in
except ModuleNotFoundError as error:
    if error.name not in ("psycopg", "psycopg_pool"):
        raise
    raise RirekiError("postgres-not-installed") from error

if TYPE_CHECKING:
    from rireki.search.results import Hit

__all__ = ["DatabaseStore", "slot_of"]


def slot_of(address: str, conversation: str) -> str:
    """What a history of a database is called among all that are open in this process."""
    return f"{address}#{history_name(conversation)}"


class DatabaseStore(HistoryStore):
    """One conversation of a database, as far as this process has read it."""

    is_shared = True

    def __init__(self, address: str, journal: PostgresJournal, read_only: bool) -> None:
        super().__init__(journal.conversation, read_only, [])
        self._address = address
        self._journal = journal
        self._process = os.getpid()
        self._is_alone = False

    @classmethod
    def open(cls, address: str, conversation: str, read_only: bool) -> DatabaseStore:
        pool = histories_in(address)
        journal = PostgresJournal(pool, history_name(conversation))
        store = cls(address, journal, read_only)
        if read_only and not pool.knows_tables():
            raise NotFound("no-history", id=store.conversation, path=pool.name)
        store.refresh()
        if read_only and not store.log.entries:
            raise NotFound("no-history", id=store.conversation, path=pool.name)
        return store

    def refresh(self) -> None:
        if not self._journal.is_held and os.getpid() == self._process:
            self._read(self._journal.read(self._seq))

    def _read(self, lines: Sequence[bytes]) -> None:
        """Lines that others wrote."""
        for number, entry in enumerate(parse_all(lines), self._seq):
            if entry is None:
                place = f"{self._journal.pool.name} {self.conversation}"
                self.troubles.append(f"{place}: entry {number} cannot be read; it was passed over")
            else:
                self.log.add(entry)
        self._seq += len(lines)

    # ── writing ──

    @contextmanager
    def alone(self) -> Iterator[None]:
        self._check()
        if self._is_alone:
            yield
            return
        self._is_alone = True
        try:
            self._begin()
            yield
        finally:
            self._is_alone = False
            self._journal.release()

    def _begin(self) -> None:
        try:
            self._read(self._journal.hold(self._seq))
        except RirekiError as error:
            if error.code != "postgres-busy":
                raise
            name = self._journal.pool.name
            raise HistoryConflict("history-held", id=self.conversation, path=name) from error

    def _keep(self, lines: list[bytes]) -> bool:
        self._check()
        journal = self._journal
        if self._is_alone and not journal.is_held:
            # Another handle of this thread wrote in the middle of it, or others did afterwards.
            before = self._seq
            self._begin()
            if self._seq > before:
                return False
        if journal.is_held:
            if not journal.append_and_release(lines, self._seq):
                raise HistoryConflict("history-hold-lost", id=self.conversation)
            return True
        if journal.append(lines, self._seq):
            return True
        before = self._seq
        self.refresh()
        if self._seq == before:
            raise RirekiError("history-rows-gone", id=self.conversation, path=journal.pool.name)
        return False

    def _check(self) -> None:
        if self.read_only:
            raise RirekiError("history-read-only", id=self.conversation)
        if os.getpid() != self._process:
            raise HistoryConflict(
                "history-of-a-copy", id=self.conversation, process=self._process, copy=os.getpid()
            )

    # ── others ──

    def slot(self, conversation: str) -> str:
        return slot_of(self._address, conversation)

    def in_use(self) -> RirekiError:
        return RirekiError(
            "history-file-exists", id=self.conversation, path=self._journal.pool.name
        )

    def fork(
        self, conversation: str, chain: Sequence[JournalEntry], head: str | None
    ) -> DatabaseStore:
        name = history_name(conversation)
        lines = self._forked(name, chain, head)
        store = DatabaseStore(
            self._address, PostgresJournal(self._journal.pool, name), read_only=False
        )
        if not store._journal.append(lines, 0):
            raise store.in_use()
        store.refresh()
        return store

    def search(self, query: str, limit: int) -> list[Hit]:
        if not query.strip():
            return []
        entries = self.log.entries.values()
        items: list[Item] = [(entry, message) for entry in entries for message in entry.messages]
        return search_in_memory(items, query, limit)
