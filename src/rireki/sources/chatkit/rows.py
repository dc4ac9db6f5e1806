"""Reads a ChatKit database: an update per thread of which any row changed.

A thread is its row, its items in order, and the rows of the files its messages
mention; put together, its records are one JSON object with these three lists.
What an item says is not known here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from rireki.errors import SourceTrouble, Wording
from rireki.model.conversation import Trouble
from rireki.sources.chatkit.names import (
    ATTACHMENT,
    ATTACHMENTS,
    ITEMS,
    THREAD,
    THREADS,
    attachment_key,
    conversation_of,
    thread_key,
    value_key,
)
from rireki.sources.chatkit.records import in_order, open_record, opened_data, piece_of
from rireki.sources.chatkit.uploads import numbers_of, uploads_of
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.rows import LargeValue, frame, large_in
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.kit.tables import Table, TableRow, Value, fetch, list_rows, tables_of
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["INNER", "chatkit_tables", "is_chatkit", "read_database"]

#: What the apps wrap a row's value in.
INNER = {THREADS: "thread", ITEMS: "item", ATTACHMENTS: "attachment"}
_OPENINGS = {THREADS: b'{"threads":[', ITEMS: b'],"items":[', ATTACHMENTS: b'],"attachments":['}
_END = b"]}"
_HINT = Wording("kept-row")


_COLUMNS = {
    THREADS: {"id", "data"},
    ITEMS: {"id", "thread_id", "data"},
    ATTACHMENTS: {"id", "data"},
}


def chatkit_tables(database: Database) -> dict[str, Table]:
    """The tables of ours, by name, told by their columns."""
    return tables_of(database, _COLUMNS, whole=True)


def is_chatkit(database: Database) -> bool:
    return {THREADS, ITEMS} <= chatkit_tables(database).keys()


def read_database(origin: Origin, known: Known) -> Iterator[Update | Roll]:
    """An update per changed thread, then the roll of all there are."""
    with open_database(origin.place) as database:
        tables = chatkit_tables(database)
        if not {THREADS, ITEMS} <= tables.keys():
            raise SourceTrouble("no-chatkit-tables", place=origin.place)
        yield from _Reading(origin, known, database, tables).updates()


@dataclass(slots=True)
class _Thread:
    """The rows of one thread of one user, as the list shows them."""

    heads: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    marks: Any = field(default_factory=sha256)


class _Reading:
    def __init__(
        self, origin: Origin, known: Known, database: Database, tables: dict[str, Table]
    ) -> None:
        self.place = origin.place
        self.folder = str(Path(origin.place).parent)
        self.whole = known
        self.known = known.cursors
        self.thorough = known.thorough
        self.largest = known.largest
        self.database = database
        self.tables = tables
        self.threads: dict[tuple[str, str], _Thread] = {}
        #: What a store of ours says of each thread: as long as it stays, the thread need not be read.
        self.numbers = numbers_of(database)
        #: Number and digest of each file's row, by id and user.
        self.files: dict[tuple[str, str], tuple[int, bytes]] = {}

    def updates(self) -> Iterator[Update | Roll]:
        self._list()
        keys: list[str] = []
        mentioned: set[tuple[str, str]] = set()
        for (name, user), thread in self.threads.items():
            key = thread_key(name, user)
            cursor = self.known.get(key) or {}
            if self._is_changed(name, user, thread, cursor):
                if not (thread.heads or thread.items):
                    # It went a moment ago.
                    continue
                cursor = yield from self._thread(name, user, thread)
            keys += [key, *cursor.get("large", ())]
            mentioned |= {(file, user) for file in cursor.get("files", ())}
        for (name, user), (rowid, digest) in self.files.items():
            if (name, user) not in mentioned:
                # Uploaded and, so far, not sent with any message: kept, of no conversation.
                key = attachment_key(name, user)
                cursor = self.known.get(key) or {}
                if cursor.get("digest") != digest.hex():
                    rows = {ATTACHMENTS: self._fetch(ATTACHMENTS, [rowid])}
                    update = Update(
                        key=key,
                        role=ATTACHMENT,
                        conversation=None,
                        contents=[],
                        cursor={"digest": digest.hex()},
                    )
                    cursor = yield from self._bring(update, rows, user)
                keys += [key, *cursor.get("large", ())]
        for upload in uploads_of(self.database):
            if self.known.get(upload.key) != upload.cursor:
                bytes_ = upload.update(self.place, self.folder)
                if bytes_ is None:
                    continue
                yield bytes_
            keys.append(upload.key)
        yield Roll(keys)

    def _list(self) -> None:
        for name, user in self.numbers or ():
            thread = self.threads.setdefault((name, user), _Thread())
            if self._is_changed(name, user, thread, self.known.get(thread_key(name, user)) or {}):
                self._list_threads((name, user))
        if self.numbers is None:
            self._list_threads(None)
        if ATTACHMENTS in self.tables:
            for rowid, (name, user), mark in self._rows(ATTACHMENTS, "id"):
                self.files[name, user] = (rowid, digest_of_bytes(mark))

    def _list_threads(self, which: tuple[str, str] | None) -> None:
        # A thread's row is saved before its items: looked at later, it is there.
        for rowid, owner, mark in self._rows(ITEMS, "thread_id", which):
            thread = self.threads.setdefault(owner, _Thread())
            thread.items.append(rowid)
            thread.marks.update(mark)
        for rowid, owner, mark in self._rows(THREADS, "id", which):
            thread = self.threads.setdefault(owner, _Thread())
            thread.heads.append(rowid)
            thread.marks.update(b"head" + mark)

    def _rows(
        self, table: str, column: str, which: tuple[str, str] | None = None
    ) -> Iterator[tuple[int, tuple[str, str], bytes]]:
        only = dict(zip((column, "user_id"), which, strict=True)) if which else None
        for row in list_rows(self.database, self.tables[table], (column, "user_id"), only):
            yield row.rowid, (row.names[0], row.names[1]), row.mark

    def _is_changed(self, name: str, user: str, thread: _Thread, cursor: dict[str, Any]) -> bool:
        if self.thorough:
            return True
        if self.numbers is not None:
            return bool(cursor.get("number") != self.numbers[name, user])
        return bool(cursor.get("digest") != self._digest(thread, cursor.get("files", []), user))

    def _digest(self, thread: _Thread, files: Sequence[str], user: str) -> str:
        """Changes whenever a row of the thread does, or one of the files it mentions."""
        marks = thread.marks.copy()
        for file in files:
            marks.update(self.files.get((file, user), (0, b"none"))[1])
        return str(marks.hexdigest()[:32])

    def _thread(
        self, name: str, user: str, thread: _Thread
    ) -> Generator[Update, None, dict[str, Any]]:
        # A number that was freed may by now be another's.
        heads = self._fetch(THREADS, thread.heads)
        heads = [row for row in heads if not row.is_anothers("id", name)]
        items = self._fetch(ITEMS, thread.items)
        items = [row for row in items if not row.is_anothers("thread_id", name)]
        files = _mentioned(items)
        numbers = [self.files[file, user][0] for file in files if (file, user) in self.files]
        attached = [row for row in self._fetch(ATTACHMENTS, numbers) if row.name("id") in files]
        attached.sort(key=lambda row: files.index(row.name("id")))
        rows = {THREADS: heads, ITEMS: items, ATTACHMENTS: attached}
        cursor = self._cursor(name, user, thread, files)
        update = Update(
            key=thread_key(name, user),
            role=THREAD,
            conversation=conversation_of(name, user),
            contents=[frame(_END)],
            cursor=cursor,
        )
        return (yield from self._bring(update, rows, user))

    def _bring(
        self, update: Update, rows: dict[str, list[TableRow]], user: str
    ) -> Generator[Update, None, dict[str, Any]]:
        """An update with its rows, and what of them is too large to be a part of it; returns its cursor."""
        contents: list[Content] = []
        large: list[LargeValue] = []
        for table, some in rows.items():
            contents += [frame(_OPENINGS[table])] if update.contents else []
            contents.append(Content(table, self._pieces(table, some, update.troubles), ","))
            large += self._large(table, some, user, update.conversation)
        update.contents, update.project = [*contents, *update.contents], self.folder
        cursor: dict[str, Any] = update.cursor
        if large:
            cursor["large"] = [one.key for one in large]
        yield update
        for value in large:
            yield from value.updates(self.database, self.whole)
        return cursor

    def _cursor(self, name: str, user: str, thread: _Thread, files: list[str]) -> dict[str, Any]:
        cursor = {"digest": self._digest(thread, files, user), "files": files}
        return cursor if self.numbers is None else cursor | {"number": self.numbers[name, user]}

    def _large(
        self, table: str, rows: Sequence[TableRow], user: str, conversation: str | None
    ) -> list[LargeValue]:
        return [
            one._replace(
                key=value_key(table, row.name("id")[:200], one.column, user), project=self.folder
            )
            for row in rows
            for one in large_in(
                self.place, self.tables[table], row, row.name("id")[:100], conversation
            )
        ]

    def _fetch(self, table: str, rowids: Sequence[int]) -> list[TableRow]:
        if not rowids:
            return []
        return list(fetch(self.database, self.tables[table], rowids, self.largest))

    def _pieces(self, table: str, rows: Sequence[TableRow], troubles: list[Trouble]) -> list[Piece]:
        """The records of some rows, in order; what is wrong with them is noted."""
        pieces = []
        for dated in in_order(rows, [_time(table, row) for row in rows]):
            piece = piece_of(dated)
            wrong = open_record(piece.data, INNER[table]).wrong
            if wrong:
                place = f"{self.place}: {table} row {dated.row.name('id')[:100]}"
                troubles.append(Trouble.of(place, wrong, _HINT))
            pieces.append(piece)
        return pieces


def _time(table: str, row: TableRow) -> Value:
    """When a row was made: its column says so, else its value."""
    if "created_at" in row.values:
        return row.values["created_at"]
    value = opened_data(_loaded(row), INNER[table])
    found = value.get("created_at") if isinstance(value, dict) else None
    return found if isinstance(found, str | int | float) else None


def _mentioned(items: Sequence[TableRow]) -> list[str]:
    """The ids of the files that came with messages."""
    found: dict[str, None] = {}
    for row in items:
        data = row.values["data"]
        if isinstance(data, str) and '"attachments"' in data:
            item = opened_data(_loaded(row), INNER[ITEMS])
            files = item.get("attachments") if isinstance(item, dict) else None
            for file in files if isinstance(files, list) else ():
                name = file.get("id") if isinstance(file, dict) else None
                if isinstance(name, str):
                    found.setdefault(name)
    return list(found)


def _loaded(row: TableRow) -> Any:
    data = row.values["data"]
    try:
        return load(data.encode()) if isinstance(data, str) else None
    except NotReadable:
        return None
