"""Reads the conversation tables of an Amazon Q or Kiro database, a changed row at a time.

Only `conversations` and `conversations_v2` are read: the same file holds live
tokens. Rows are listed in small batches and fetched one per statement, because
the agent drops a save that has to wait for a reader. What a value means is not
known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from rireki.model.conversation import Trouble
from rireki.sources.kit.q.decode import NotReadable, load
from rireki.sources.kit.q.roles import BROKEN, ROW
from rireki.sources.kit.q.split import split, whole
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.reader import Known, Origin, Roll, Update

__all__ = [
    "conversation_of",
    "directory_of",
    "has_new_table",
    "is_ours",
    "read_database",
]

OLD, NEW = "conversations", "conversations_v2"
_COLUMNS = {OLD: {"key", "value"}, NEW: {"key", "conversation_id", "value"}}
_BATCH = 200
_HINT = "It is kept as it was found; the other rows are not affected."


class _Row(NamedTuple):
    """A row as the list shows it, without its value."""

    table: str
    rowid: int
    directory: str
    #: The column of that name; None in the old table, which has none.
    conversation: str | None
    length: int | None
    created_at: Any
    updated_at: Any

    @property
    def cursor(self) -> dict[str, Any]:
        return {
            "rowid": self.rowid,
            "length": self.length,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }


def is_ours(database: Database) -> bool:
    """Whether it has a conversation table of the shape we know."""
    return bool(_tables(database))


def has_new_table(database: Database) -> bool:
    return NEW in _tables(database)


def read_database(origin: Origin, known: Known) -> Iterator[Update | Roll]:
    """An update per changed row, then the roll of all rows there are."""
    memory = _Memory(known)
    keys: list[str] = []
    with open_database(origin.place) as database:
        for table in _tables(database):
            for row in _list(database, table):
                key = memory.unchanged(row)
                if key is None:
                    found = _fetch(database, row)
                    if found is None:
                        continue
                    update = _update(origin.place, *found, memory)
                    key = update.key
                    yield update
                keys.append(key)
    yield Roll(keys)


def directory_of(key: str) -> str | None:
    """The directory that a strand's key names."""
    try:
        return str(json.loads(key)[1])
    except (ValueError, LookupError, TypeError):
        return None


def conversation_of(value: Any) -> str:
    """The id inside a saved conversation. Raises NotReadable when it is none."""
    if not isinstance(value, dict):
        names = {list: "a list", str: "a text", type(None): "null"}
        raise NotReadable(f"{names.get(type(value), 'a number')}, not a conversation")
    found = value.get("conversation_id")
    if not isinstance(found, str) or not found:
        raise NotReadable("no conversation_id")
    return found


class _Memory:
    """What the archive knows of the rows, found by table and directory."""

    def __init__(self, known: Known) -> None:
        self._keys: dict[tuple[str, str], list[tuple[str, Any]]] = {}
        for key, cursor in known.cursors.items():
            table, directory, _ = json.loads(key)
            self._keys.setdefault((table, directory), []).append((key, cursor))

    def unchanged(self, row: _Row) -> str | None:
        """The key of the strand that this row was when last read, if it has not changed."""
        for key, cursor in self._keys.get((row.table, row.directory), ()):
            if cursor == row.cursor:
                return key
        return None

    def replaced(self, row: _Row, key: str) -> str | None:
        """The key of the chat whose place a new one took; the old table holds one per directory."""
        siblings = self._keys.get((row.table, row.directory), ())
        if row.table != OLD or any(name == key for name, _ in siblings):
            return None
        # Every save takes a larger rowid, so the largest is the chat that was there last.
        return max(siblings, key=lambda item: item[1]["rowid"], default=(None, None))[0]


def _tables(database: Database) -> list[str]:
    # By shape, not by the migrations table: that one has gaps.
    return [table for table, wanted in _COLUMNS.items() if wanted <= database.columns(table)]


def _list(database: Database, table: str) -> Iterator[_Row]:
    """The rows of a table, in batches that each take one short statement."""
    timed = table == NEW and {"created_at", "updated_at"} <= database.columns(table)
    column = "conversation_id" if table == NEW else "NULL"
    last = -(1 << 63)
    while True:
        batch = database.rows(
            f"SELECT rowid, CAST(key AS BLOB), CAST({column} AS BLOB), octet_length(value)"
            f" FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {_BATCH}",
            (last,),
        )
        for rowid, directory, conversation, length in batch:
            # The times stand behind the value, so SQLite walks through all of it to
            # reach them: a statement of its own per row keeps the lock short.
            times = _times(database, rowid) if timed else (None, None)
            yield _Row(table, rowid, _text(directory), _name(conversation), length, *times)
        if len(batch) < _BATCH:
            return
        last = batch[-1][0]


def _times(database: Database, rowid: int) -> tuple[Any, Any]:
    rows = database.rows(f"SELECT created_at, updated_at FROM {NEW} WHERE rowid = ?", (rowid,))
    created, updated = rows[0] if rows else (None, None)
    return _plain(created), _plain(updated)


def _fetch(database: Database, row: _Row) -> tuple[_Row, bytes | None] | None:
    """The row with its value. It may have been saved again, or deleted, since it was listed."""
    for condition, values in _ways_to(row):
        rows = database.rows(
            "SELECT rowid, CAST(value AS BLOB), octet_length(value)"
            f" FROM {row.table} WHERE {condition}",
            values,
        )
        if rows:
            rowid, value, length = rows[0]
            return row._replace(rowid=rowid, length=length), value
    return None


def _ways_to(row: _Row) -> list[tuple[str, tuple[Any, ...]]]:
    by_rowid = ("rowid = ?", (row.rowid,))
    if row.table == OLD:
        return [by_rowid, ("key = ?", (row.directory,))]
    names = (row.directory, row.conversation)
    return [by_rowid, ("key = ? AND conversation_id = ?", names)]


def _update(place: str, row: _Row, value: bytes | None, memory: _Memory) -> Update:
    try:
        conversation = _conversation(row, value)
    except NotReadable as error:
        return _broken(place, row, value, str(error))
    key = _key(row, conversation)
    return Update(
        key=key,
        role=ROW,
        conversation=conversation,
        contents=split(value or b""),
        cursor=row.cursor,
        project=row.directory,
        replaces=memory.replaced(row, key),
    )


def _conversation(row: _Row, value: bytes | None) -> str:
    """The id by which the agent files the row. Raises NotReadable when the value is no conversation."""
    opened = _opened(value)
    if isinstance(opened, dict) and row.conversation:
        return row.conversation
    return conversation_of(opened)


def _broken(place: str, row: _Row, value: bytes | None, reason: str) -> Update:
    return Update(
        key=_key(row, row.conversation),
        role=BROKEN,
        conversation=None,
        contents=whole(value) if value is not None else [],
        cursor=row.cursor,
        project=row.directory,
        troubles=[Trouble(f"{place}: {row.table} row {row.directory}", reason, _HINT)],
    )


def _opened(value: bytes | None) -> Any:
    """The value, its fields left unread: only their names and the id are wanted."""
    if value is None:
        raise NotReadable("no value")
    try:
        fields = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return load(value)
    return {**fields, "conversation_id": load(bytes(fields.get("conversation_id", b"null")))}


def _key(row: _Row, conversation: str | None) -> str:
    return json.dumps([row.table, row.directory, conversation], ensure_ascii=False)


def _name(value: bytes | None) -> str | None:
    return _text(value) or None


def _text(value: bytes | None) -> str:
    # A name that is no UTF-8 must still be a name that can be stored.
    return (value or b"").decode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else None
