"""The two conversation tables of an Amazon Q or Kiro database: listed, and fetched a row at a time.

Every statement is short, because the agent drops a save that has to wait for a
reader: rows are listed in small batches, and a long value is read in slices.
For who works in a directory there is also what it holds right now. What a value means is not known
here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from rireki.errors import SourceTrouble
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.reader import LARGEST

__all__ = [
    "ATTEMPTS",
    "NEW",
    "OLD",
    "ConversationRow",
    "HeldRow",
    "conversation_of",
    "count_rows",
    "fetch",
    "fetch_start",
    "find",
    "held",
    "list_rows",
    "mark_of",
    "tables_of",
    "too_fast",
]


OLD, NEW = "conversations", "conversations_v2"
_COLUMNS = {OLD: {"key", "value"}, NEW: {"key", "conversation_id", "value"}}
_BATCH = 200
#: A longer value is read in slices of this size: no lock lasts longer than a blink.
SLICE = 4 << 20
#: How often a value that was saved between two slices is begun again.
ATTEMPTS = 10
#: Bytes at the start of a value, which hold the conversation's id and its first prompt.
_START = 4096


class ConversationRow(NamedTuple):
    """A row as the list shows it, without its value."""

    table: str
    rowid: int
    directory: str
    #: The column of that name; None in the old table, which has none.
    conversation: str | None
    length: int | None
    created_at: Any
    updated_at: Any
    #: A digest of how the value begins: in a new file, rowids are those of the old one.
    start: str | None

    @property
    def signs(self) -> dict[str, Any]:
        """What stays the same as long as the row does, all of it to be had without its value."""
        return {name: mark for name, mark in self.marks.items() if name != "created_at"}

    @property
    def marks(self) -> dict[str, Any]:
        """What is remembered of the row."""
        return {
            "rowid": self.rowid,
            "length": self.length,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "start": self.start,
        }


def tables_of(database: Database) -> list[str]:
    # By shape, not by the migrations table: that one has gaps.
    return [table for table, wanted in _COLUMNS.items() if wanted <= database.columns(table)]


def count_rows(database: Database, table: str) -> int:
    # SQLite counts along the smallest index: the values are not walked through.
    number: int = database.rows(f"SELECT count(*) FROM {table}")[0][0]
    return number


def list_rows(database: Database, table: str) -> Iterator[ConversationRow]:
    """The rows of a table, in batches of a few short statements; none reads through a value."""
    times = _times(database, table)
    column = "conversation_id" if table == NEW else "NULL"
    last = -(1 << 63)
    while True:
        batch = database.rows(
            f"SELECT rowid, CAST(key AS BLOB), CAST({column} AS BLOB), octet_length(value)"
            f" FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {_BATCH}",
            (last,),
        )
        starts = database.starts(table, "value", [row[0] for row in batch], _START)
        for (rowid, directory, conversation, length), start in zip(batch, starts, strict=True):
            names = (_text(directory), _text(conversation) or None)
            updated = times.get(rowid)
            yield ConversationRow(
                table, rowid, *names, length, None, _plain(updated), _digest(start)
            )
        if len(batch) < _BATCH:
            return
        last = batch[-1][0]


def fetch(database: Database, row: ConversationRow) -> tuple[ConversationRow, bytes | None] | None:
    """The row with its value. It may have been saved again, or deleted, since it was listed."""
    for _ in range(ATTEMPTS):
        found = find(database, row)
        if found is None:
            return None
        if (found.length or 0) <= SLICE:
            return _fetch_at_once(database, found)
        value = _fetch_in_slices(database, found)
        if value is not None:
            return found, value
    raise too_fast(database.place, row)


def too_fast(place: str, row: ConversationRow) -> SourceTrouble:
    return SourceTrouble("row-too-fast", place=place, table=row.table, row=row.directory)


def find(database: Database, row: ConversationRow) -> ConversationRow | None:
    """The row as it is now: a save may have given it another rowid."""
    for condition, values in _ways_to(row):
        rows = database.rows(
            f"SELECT rowid, octet_length(value) FROM {row.table} WHERE {condition}", values
        )
        if rows:
            rowid, length = rows[0]
            created, updated, start = _marks(database, row.table, rowid)
            return row._replace(
                rowid=rowid, length=length, created_at=created, updated_at=updated, start=start
            )
    return None


def fetch_start(database: Database, row: ConversationRow) -> bytes:
    """How the value begins."""
    return database.slice(row.table, "value", row.rowid, 0, _START) or b""


def _ways_to(row: ConversationRow) -> list[tuple[str, tuple[Any, ...]]]:
    by_rowid = ("rowid = ?", (row.rowid,))
    if row.table == OLD:
        return [by_rowid, ("key = ?", (row.directory,))]
    names = (row.directory, row.conversation)
    return [by_rowid, ("key = ? AND conversation_id = ?", names)]


def _fetch_at_once(
    database: Database, row: ConversationRow
) -> tuple[ConversationRow, bytes | None] | None:
    rows = database.rows(
        f"SELECT CAST(value AS BLOB), octet_length(value) FROM {row.table} WHERE rowid = ?",
        (row.rowid,),
    )
    return (row._replace(length=rows[0][1]), rows[0][0]) if rows else None


def _fetch_in_slices(database: Database, row: ConversationRow) -> bytes | None:
    """The value, or None when the row was saved while its slices were read."""
    length = row.length or 0
    slices: list[bytes] = []
    for start in range(0, length, SLICE):
        piece = database.slice(row.table, "value", row.rowid, start, SLICE)
        if piece is None or len(piece) != min(SLICE, length - start):
            return None
        slices.append(piece)
    # Amazon Q gives a saved row a new rowid, Kiro a new time.
    return b"".join(slices) if find(database, row) == row else None


def _times(database: Database, table: str) -> dict[int, Any]:
    """When each row was saved, by rowid.

    In the table itself the times stand behind the value, and SQLite would walk through
    every page of it to get there. The client keeps an index of them; where that is
    missing, a row takes a statement of its own.
    """
    if not _is_timed(database, table):
        return {}
    if _has_index_of_times(database):
        return dict(database.rows(f"SELECT rowid, updated_at FROM {NEW} ORDER BY updated_at"))
    rowids = database.rows(f"SELECT rowid FROM {NEW}")
    return {rowid: _times_of(database, rowid)[1] for (rowid,) in rowids}


def _has_index_of_times(database: Database) -> bool:
    """Whether there is an index that begins with the time of saving, and so can be read in its order."""
    names = database.rows(
        """SELECT 1 FROM pragma_index_list(?) list
            WHERE NOT list.partial AND EXISTS
                  (SELECT 1 FROM pragma_index_info(list.name) WHERE seqno = 0 AND name = ?)""",
        (NEW, "updated_at"),
    )
    return bool(names)


def _times_of(database: Database, rowid: int) -> tuple[Any, Any]:
    rows = database.rows(f"SELECT created_at, updated_at FROM {NEW} WHERE rowid = ?", (rowid,))
    return rows[0] if rows else (None, None)


def _marks(database: Database, table: str, rowid: int) -> tuple[Any, Any, str | None]:
    """Times and start of one value, each in a statement of its own."""
    timed = _is_timed(database, table)
    created, updated = _times_of(database, rowid) if timed else (None, None)
    start = database.slice(table, "value", rowid, 0, _START)
    return _plain(created), _plain(updated), _digest(start)


def _digest(start: bytes | None) -> str | None:
    return None if start is None else digest_of_bytes(start).hex()


def _is_timed(database: Database, table: str) -> bool:
    return table == NEW and {"created_at", "updated_at"} <= database.columns(table)


def _text(value: bytes | None) -> str:
    # A name that is no UTF-8 must still be a name that can be stored.
    return (value or b"").decode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else None


def conversation_of(value: Any) -> str:
    """The id inside a saved conversation. Raises NotReadable when it is none."""
    if not isinstance(value, dict):
        names = {list: "a list", str: "a text", type(None): "null"}
        raise NotReadable("not-a-conversation", what=names.get(type(value), "a number"))
    found = value.get("conversation_id")
    if not isinstance(found, str) or not found:
        raise NotReadable("no-conversation-id")
    return found


#: How many of the last entries are opened: more than one turn has.
LAST = 100


class HeldRow(NamedTuple):
    conversation: str
    #: Another one after every save.
    mark: tuple[Any, ...]
    #: The last entries of its history, as they are.
    entries: list[Any]


def mark_of(place: str, directory: str) -> tuple[Any, ...] | None:
    """The mark of what the directory holds; None when that is nothing."""
    with open_database(place) as database:
        row = _row(database, directory)
        return None if row is None else _mark(row)


def held(place: str, directory: str) -> HeldRow | None:
    """What the directory holds; None when that is nothing, or nothing that can be read."""
    with open_database(place) as database:
        row = _row(database, directory)
        small = row is not None and (row.length or 0) <= LARGEST
        found = fetch(database, row) if row is not None and small else None
    if found is None or row is None or found[1] is None:
        return None
    value = _opened(found[1])
    if value is None:
        return None
    return HeldRow(row.conversation or value[0], _mark(row), value[1])


def _row(database: Database, directory: str) -> ConversationRow | None:
    """Its row, the one that was saved last where there are several."""
    for table in reversed(tables_of(database)):
        new = table == NEW
        updated = "updated_at" if new and "updated_at" in database.columns(table) else "NULL"
        rows = database.rows(
            f"SELECT rowid, {'conversation_id' if new else 'NULL'}, octet_length(value), {updated}"
            f" FROM {table} WHERE key = ? ORDER BY {updated} DESC, rowid DESC LIMIT 1",
            (directory,),
        )
        for rowid, conversation, length, when in rows:
            return ConversationRow(table, rowid, directory, conversation, length, None, when, None)
    return None


def _mark(row: ConversationRow) -> tuple[Any, ...]:
    return (row.table, row.rowid, row.length, row.updated_at)


def _opened(value: bytes) -> tuple[str, list[Any]] | None:
    try:
        fields = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
        history = msgspec.json.decode(fields.get("history", b"[]"), type=list[msgspec.Raw])
        return load(bytes(fields["conversation_id"])), [load(bytes(e)) for e in history[-LAST:]]
    except (msgspec.MsgspecError, UnicodeError, KeyError):
        return _opened_patiently(value)


def _opened_patiently(value: bytes) -> tuple[str, list[Any]] | None:
    try:
        whole = load(value)
        conversation = conversation_of(whole)
    except (NotReadable, SourceTrouble):
        return None
    history = whole.get("history")
    return conversation, history[-LAST:] if isinstance(history, list) else []
