"""Rows of another program's database as records: JSON of the columns that were named, and of no others.

A strand is a conversation: its rows, of one table or of several. Joined, its records are one JSON
object with a list per table. A value that is too large for that is a strand of its own: kept in
pieces, as long lines are (`jsonl.py`), read a stretch at a time, and never interpreted.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from rireki.errors import SourceTrouble
from rireki.model.strand import PIECES
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.kit.jsonl import PIECE, too_large
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.kit.tables import (
    Large,
    Table,
    TableRow,
    Value,
    fetch,
    list_rows,
    signs,
    tables_of,
)
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = [
    "FRAME",
    "ROWS",
    "VALUE",
    "Changed",
    "LargeValue",
    "RowKind",
    "encoded",
    "frame",
    "is_unfinished",
    "large_in",
    "pieces_of",
    "read_rows",
    "updates",
]

#: Pieces that are read by one statement. To get to a stretch SQLite follows the pages of all before
#: it: many short ones would take far longer, one long one all the memory.
STRETCH = 8
#: Stands in the cursor of a value whose last piece was not read yet.
_UNFINISHED = "unfinished"


class Changed(Exception):
    """The value was saved again while it was read."""


def pieces_of(
    database: Database, table: str, column: str, rowid: int, size: int
) -> Iterator[bytes]:
    """A value piece by piece. Raises Changed when it is no longer what it was."""
    for start in range(0, size, STRETCH * PIECE):
        wanted = min(STRETCH * PIECE, size - start)
        data = database.slice(table, column, rowid, start, wanted)
        if data is None or len(data) != wanted:
            raise Changed
        for at in range(0, wanted, PIECE):
            yield data[at : at + PIECE]


def updates(whole: Update, pieces: Iterator[bytes], *, begun: bool) -> Iterator[Update]:
    """The updates that bring a value. Only the last has the cursor of `whole`: whoever is
    interrupted before begins again, and says so by `begun`."""
    unfinished = {**whole.cursor, _UNFINISHED: True}
    made: Update | None = None
    for data in pieces:
        if made is not None:
            yield made
        made = replace(
            whole,
            contents=[Content(PIECES, [Piece(data, digest_of_bytes(data))])],
            grows=made is not None,
            continues=made is not None or begun,
            cursor=unfinished,
        )
    if made is not None:
        made.cursor = whole.cursor
        yield made


def is_unfinished(cursor: Any) -> bool:
    """Whether what is kept of a value is only its beginning."""
    return isinstance(cursor, dict) and bool(cursor.get(_UNFINISHED))


#: The lane of what stands between the rows.
FRAME = "frame"
#: What a strand is: the rows of a conversation, or one value of them.
ROWS, VALUE = "rows", "value"
#: How often a large value that was saved while it was read is begun again.
_ATTEMPTS = 10


class RowKind(NamedTuple):
    """Rows of a table that belong to conversations."""

    table: str
    #: What is kept of a row; nothing else is looked at.
    columns: Collection[str]
    #: The column that names the conversation.
    conversation: str
    #: Columns whose text is JSON, and is kept as such.
    json: Collection[str] = ()
    #: Columns that only some versions have, and that are kept where they are.
    optional: Collection[str] = ()
    #: Columns that never change without another one of the row (a time of change): of these, only the
    #: length is looked at to tell whether a row changed.
    bulky: Collection[str] = ()


def read_rows(origin: Origin, known: Known, kinds: Sequence[RowKind]) -> Iterator[Update | Roll]:
    """An update per conversation that changed, then the roll of all there are."""
    with open_database(origin.place) as database:
        wanted = {kind.table: {*kind.columns, kind.conversation} for kind in kinds}
        tables = tables_of(database, wanted, also={kind.table: kind.optional for kind in kinds})
        here = [kind for kind in kinds if kind.table in tables]
        if not here:
            named = ", ".join(kind.table for kind in kinds)
            raise SourceTrouble("no-such-tables", place=origin.place, names=named)
        yield from _Reading(origin, known, database, tables, here).updates()


@dataclass(slots=True)
class _Group:
    """The rows of one conversation, as lists show them."""

    rowids: dict[str, list[int]] = field(default_factory=dict)
    marks: Any = field(default_factory=sha256)


class _Reading(NamedTuple):
    origin: Origin
    known: Known
    database: Database
    tables: Mapping[str, Table]
    kinds: Sequence[RowKind]

    def updates(self) -> Iterator[Update | Roll]:
        keys: list[str] = []
        for name, group in self._groups().items():
            cursor = self.known.cursors.get(name) or {}
            if self.known.thorough or cursor.get("digest") != group.marks.hexdigest()[:32]:
                update, large = self._update(name, group)
                cursor = update.cursor
                yield update
                for value in large:
                    yield from value.updates(self.database, self.known)
            keys += [name, *cursor.get("large", ())]
        yield Roll(keys)

    def _groups(self) -> dict[str, _Group]:
        found: dict[str, _Group] = {}
        for kind in self.kinds:
            bulky = () if self.known.thorough else kind.bulky
            table = self.tables[kind.table]
            for row in list_rows(self.database, table, [kind.conversation], bulky=bulky):
                group = found.setdefault(row.names[0], _Group())
                group.rowids.setdefault(kind.table, []).append(row.rowid)
                group.marks.update(kind.table.encode() + row.mark)
        return found

    def _update(self, name: str, group: _Group) -> tuple[Update, list[LargeValue]]:
        contents: list[Content] = []
        large: list[LargeValue] = []
        for kind in self.kinds:
            table, rowids = self.tables[kind.table], group.rowids.get(kind.table, [])
            rows = list(fetch(self.database, table, rowids, self.known.largest))
            # A number that was freed may by now be another conversation's.
            rows = [row for row in rows if not row.is_anothers(kind.conversation, name)]
            pieces = [encoded(row.values, kind.json) for row in rows]
            opening = f"{',' if contents else '{'}{json.dumps(kind.table)}:[".encode()
            contents += [
                frame(b"]" + opening if contents else opening),
                Content(kind.table, [Piece(one, digest_of_json(one)) for one in pieces], ","),
            ]
            for row in rows:
                large += large_in(self.origin.place, table, row, row.rowid, name)
        cursor: dict[str, Any] = {"digest": group.marks.hexdigest()[:32]}
        update = Update(
            key=name,
            role=ROWS,
            conversation=name,
            contents=[*contents, frame(b"]}")],
            cursor={**cursor, "large": [one.key for one in large]} if large else cursor,
        )
        return update, large


def frame(text: bytes) -> Content:
    return Content(FRAME, [Piece(text, digest_of_bytes(text))])


# ── a row ──


def encoded(values: Mapping[str, Value], as_json: Collection[str] = ()) -> bytes:
    """A row as a JSON object. What is no JSON stands as a text (`column:text`), what is no text in
    base64 (`column:base64`); of what is too large there is the length (`column:large`)."""
    return b"{" + b",".join(_field(*item, as_json) for item in values.items()) + b"}"


def _field(name: str, value: Value, as_json: Collection[str]) -> bytes:
    if isinstance(value, Large):
        return _pair(f"{name}:large", value.size)
    if isinstance(value, bytes):
        return _pair(f"{name}:base64", base64.b64encode(value).decode())
    if isinstance(value, str) and name in as_json:
        if _is_json(value):
            return msgspec.json.encode(name) + b":" + value.encode()
        return _pair(f"{name}:text", value)
    if isinstance(value, float) and value - value != 0:
        # Infinite: JSON has no number for it.
        return _pair(f"{name}:text", repr(value))
    return _pair(name, value)


def _pair(name: str, value: str | float | None) -> bytes:
    return msgspec.json.encode(name) + b":" + msgspec.json.encode(value)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


# ── values that are too large ──


class LargeValue(NamedTuple):
    """A value of a row that is too large to be a part of its strand: a strand of its own, in pieces."""

    key: str
    #: Where it is, for people.
    place: str
    table: Table
    column: str
    rowid: int
    size: int
    conversation: str | None
    project: str | None = None

    def updates(self, database: Database, known: Known) -> Iterator[Update]:
        """The value in pieces, unless that is what is kept of it."""
        cursor = known.cursors.get(self.key)
        begun = is_unfinished(cursor)
        for _ in range(_ATTEMPTS):
            mark = self._mark(database)
            if mark is None or (cursor == {"mark": mark} and not known.thorough):
                return
            whole = Update(
                key=self.key,
                role=VALUE,
                conversation=self.conversation,
                contents=[],
                cursor={"mark": mark},
                project=self.project,
                troubles=[too_large(self.place, "a value", self.size, known.largest)],
            )
            pieces = pieces_of(database, self.table.name, self.column, self.rowid, self.size)
            try:
                for part in updates(whole, pieces, begun=begun):
                    begun = True
                    if not is_unfinished(part.cursor) and self._mark(database) != mark:
                        raise Changed
                    yield part
            except Changed:
                continue
            return
        # It is written to all the time: what it belongs to changes with it, and is read again.

    def _mark(self, database: Database) -> str | None:
        """Another one when the value is, as its length and its ends tell; None when it went."""
        found = signs(database, self.table, self.column, self.rowid)
        if found is None or found[0] != self.size:
            return None
        size, *ends = found
        return digest_of_bytes(b"%d " % size + b" ".join(end or b"" for end in ends)).hex()


def large_in(
    place: str, table: Table, row: TableRow, name: object, conversation: str | None
) -> list[LargeValue]:
    """The values of a row that are too large."""
    return [
        LargeValue(
            json.dumps([VALUE, f"{table.name}-{name}.{column}"], ensure_ascii=False),
            f"{place}: {table.name} row {name}",
            table,
            column,
            row.rowid,
            value.size,
            conversation,
        )
        for column, value in row.values.items()
        if isinstance(value, Large)
    ]
