"""What a directory holds right now in the database of Amazon Q or Kiro, for who works in it.

One short statement says whether it was saved again; its value is fetched when it was. Only the
end of the history is opened: what it means is not known here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from rireki.errors import SourceTrouble
from rireki.sources.amazon_q.rows import conversation_of
from rireki.sources.amazon_q.tables import NEW, ConversationRow, fetch, tables_of
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.reader import LARGEST

__all__ = ["HeldRow", "held", "mark_of"]

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
