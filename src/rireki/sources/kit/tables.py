"""Tables of a database that belongs to another program: listed, and fetched some rows at a time.

Every statement is short, because the program must be able to save at any time: rows are listed in
small batches, and a long value is read in slices. What a value means is not known here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias

import msgspec

from rireki.errors import SourceTrouble
from rireki.sources.kit.sqlite import Database

__all__ = [
    "BATCH",
    "LOOK",
    "Large",
    "Listed",
    "Table",
    "TableRow",
    "Value",
    "fetch",
    "list_rows",
    "signs",
    "tables_of",
]

#: How many rows one statement brings.
BATCH = 200
#: Up to this many bytes a value is looked at whole; of a longer one, its length and its ends.
LOOK = 16 << 10
_END = 2 << 10
#: A longer value is fetched by itself, in slices: no lock lasts longer than a blink.
LONG = 256 << 10
SLICE = 4 << 20
#: How often a value that was saved between two slices is begun again.
_ATTEMPTS = 10


class Large(NamedTuple):
    """Stands for a value that is too large to be one record."""

    size: int


#: A text, or bytes that are none; numbers and null as they are.
Value: TypeAlias = str | bytes | int | float | Large | None


class Table(NamedTuple):
    name: str
    #: Those that are read, in the order of the table.
    columns: tuple[str, ...]
    #: How the database spells its texts.
    encoding: str


class Listed(NamedTuple):
    """A row as the list shows it: enough to tell that it changed, without its long values."""

    rowid: int
    #: What the columns say that were asked for; empty where there is none of that name.
    names: tuple[str, ...]
    #: Changes whenever the row does; not with its rowid, which is another after a VACUUM.
    mark: bytes


class TableRow(NamedTuple):
    rowid: int
    values: dict[str, Value]

    def name(self, column: str) -> str:
        value = self.values.get(column)
        if isinstance(value, bytes):
            return value.decode("utf-8", "backslashreplace")
        return "" if value is None else str(value)

    def is_anothers(self, column: str, name: str) -> bool:
        """Whether a column names something else; a name that is no plain text is given its due."""
        value = self.values.get(column)
        plain = isinstance(value, int) or (isinstance(value, str) and len(value) <= LOOK // 4)
        return plain and self.name(column) != name


def tables_of(
    database: Database,
    wanted: Mapping[str, Collection[str]],
    *,
    whole: bool = False,
    also: Mapping[str, Collection[str]] | None = None,
) -> dict[str, Table]:
    """Those of the wanted tables that have the columns wanted, with those of `also` they happen to
    have; with `whole`, with all columns they have."""
    tables: dict[str, Table] = {}
    encoding = str(database.rows("PRAGMA encoding")[0][0])
    for name, columns in wanted.items():
        # Without rowids there is neither an order of arrival nor a way into long values.
        plain = database.rows(
            """SELECT 1 FROM pragma_table_list
                WHERE schema = 'main' AND name = ? AND type = 'table' AND NOT wr""",
            (name,),
        )
        statement = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
        found = [str(column) for (column,) in database.rows(statement, (name,))]
        if plain and all(column in found for column in columns):
            read = {*columns, *(also or {}).get(name, ())}
            kept = found if whole else [column for column in found if column in read]
            tables[name] = Table(name, tuple(kept), encoding)
    return tables


# ── listing ──


def list_rows(
    database: Database,
    table: Table,
    names: Sequence[str],
    only: Mapping[str, str] | None = None,
    bulky: Collection[str] = (),
) -> Iterator[Listed]:
    """The rows of a table in the order of their rowids, in batches of one short statement.

    All of them; or those whose columns say what `only` says, where an index leads to them. Of
    `bulky` columns, the length alone is looked at.
    """
    shown = ", ".join(
        f"CAST(octet_length({_quoted(name)}) AS BLOB)" if name in bulky else _shown(_quoted(name))
        for name in table.columns
    )
    matching = "".join(f" AND {_quoted(column)} = ?" for column in only or ())
    statement = (
        f"SELECT rowid, {shown} FROM {_quoted(table.name)} WHERE rowid > ?{matching}"
        f" ORDER BY rowid LIMIT {BATCH}"
    )
    places = [table.columns.index(name) if name in table.columns else None for name in names]
    encode, encoding = msgspec.msgpack.Encoder().encode, table.encoding
    last = -(1 << 63)
    while True:
        batch = database.rows(statement, (last, *(only or {}).values()))
        for rowid, *values in batch:
            ends = _ends(database, table, rowid, values) if _has_long(values) else None
            said = tuple(_name(values, place, encoding) for place in places)
            yield Listed(rowid, said, encode((values, ends)))
        if len(batch) < BATCH:
            return
        last = batch[-1][0]


def _shown(name: str) -> str:
    """A value, or, of a long one, its length."""
    length = f"octet_length({name})"
    return f"CASE WHEN {length} <= {LOOK} THEN CAST({name} AS BLOB) ELSE {length} END"


def _has_long(values: Sequence[Any]) -> bool:
    """Whether the length of a value stands in its place."""
    return int in map(type, values)


def _ends(
    database: Database, table: Table, rowid: int, values: Sequence[Any]
) -> list[bytes | None]:
    """How the long values of a row begin and end."""
    return [
        database.slice(table.name, column, rowid, start, _END)
        for column, length in zip(table.columns, values, strict=True)
        if isinstance(length, int)
        for start in (0, length - _END)
    ]


def _name(values: Sequence[Any], place: int | None, encoding: str) -> str:
    """A name as a text that can be stored, whatever its bytes are."""
    value = None if place is None else values[place]
    if isinstance(value, int):
        return f"({value} bytes)"
    return value.decode(encoding, "backslashreplace") if value else ""


# ── fetching ──


def fetch(
    database: Database, table: Table, rowids: Sequence[int], largest: float = inf
) -> Iterator[TableRow]:
    """The rows that are still there, in the order of their numbers; values up to the largest size."""
    for start in range(0, len(rowids), BATCH):
        some = rowids[start : start + BATCH]
        for rowid, *cells in database.rows(_statement(table, len(some)), some):
            yield from _row(database, table, rowid, cells, largest)


def _statement(table: Table, count: int) -> str:
    cells = ", ".join(
        f"typeof({name}), CASE WHEN octet_length({name}) > {LONG} THEN octet_length({name})"
        f" WHEN typeof({name}) IN ('text', 'blob') THEN CAST({name} AS BLOB) ELSE {name} END"
        for name in map(_quoted, table.columns)
    )
    numbers = ", ".join("?" * count)
    return f"SELECT rowid, {cells} FROM {_quoted(table.name)} WHERE rowid IN ({numbers}) ORDER BY rowid"


def _row(
    database: Database, table: Table, rowid: int, cells: Sequence[Any], largest: float
) -> list[TableRow]:
    """The row, or nothing when it went while its long values were read."""
    values: dict[str, Value] = {}
    for column, kind, value in zip(table.columns, cells[::2], cells[1::2], strict=True):
        if kind in ("text", "blob") and not isinstance(value, bytes) and value > largest:
            values[column] = Large(value)
            continue
        if kind in ("text", "blob") and not isinstance(value, bytes):
            value = _fetch_long(database, table, column, rowid)
            if value is None:
                return []
        values[column] = _value(kind, value, table.encoding)
    return [TableRow(rowid, values)]


def _value(kind: str, value: Any, encoding: str) -> Value:
    if not isinstance(value, bytes):
        plain: int | float | None = value
        return plain
    try:
        # Some apps hand bytes to SQLite where they mean text: what is text is taken for it.
        return value.decode(encoding if kind == "text" else "utf-8")
    except UnicodeDecodeError:
        return value


def _fetch_long(database: Database, table: Table, column: str, rowid: int) -> bytes | None:
    """A long value, slice by slice; None when the row is gone by now."""
    for _ in range(_ATTEMPTS):
        before = signs(database, table, column, rowid)
        if before is None:
            return None
        slices = [
            database.slice(table.name, column, rowid, start, SLICE)
            for start in range(0, before[0], SLICE)
        ]
        if None not in slices and signs(database, table, column, rowid) == before:
            return b"".join(piece for piece in slices if piece)
    raise SourceTrouble("row-too-fast", place=database.place, table=table.name, row=rowid)


def signs(
    database: Database, table: Table, column: str, rowid: int
) -> tuple[int, bytes | None, bytes | None] | None:
    """Length and ends of a long value."""
    name = _quoted(column)
    rows = database.rows(
        f"SELECT octet_length({name}) FROM {_quoted(table.name)} WHERE rowid = ?", (rowid,)
    )
    if not rows or rows[0][0] is None:
        return None
    length: int = rows[0][0]
    start = database.slice(table.name, column, rowid, 0, _END)
    return length, start, database.slice(table.name, column, rowid, max(0, length - _END), _END)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
