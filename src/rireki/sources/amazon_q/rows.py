"""Reads the conversations of an Amazon Q or Kiro database: an update per row that changed.

Only the two conversation tables are read: the same file holds live tokens. The agent rewrites the
whole value on every answer, so it is cut into one piece per history entry and transcript line, with
everything between them as the head: a re-saved value costs what is new in it. The pieces joined are
the value, byte for byte. What a conversation says is not known here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from rireki.errors import Wording
from rireki.model.conversation import Trouble
from rireki.sources.amazon_q.files import BROKEN, ROW, is_history_alone
from rireki.sources.amazon_q.tables import (
    ATTEMPTS,
    NEW,
    OLD,
    ConversationRow,
    conversation_of,
    count_rows,
    fetch,
    fetch_start,
    find,
    list_rows,
    tables_of,
    too_fast,
)
from rireki.sources.kit import pieces
from rireki.sources.kit.decode import TOO_DEEP, NotReadable, is_too_deep, load
from rireki.sources.kit.jsonl import too_large
from rireki.sources.kit.pieces import HEAD, WHOLE, Cuts, whole
from rireki.sources.kit.rows import Changed, is_unfinished, pieces_of, updates
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.reader import Content, Known, Origin, Roll, Update

__all__ = [
    "HEAD",
    "HISTORY",
    "SUMMARY",
    "TRANSCRIPT",
    "WHOLE",
    "directory_of",
    "has_new_table",
    "is_left_behind",
    "is_ours",
    "read_database",
    "split",
]


HISTORY = "history"
TRANSCRIPT = "transcript"
SUMMARY = "summary"

#: Lists that are cut into one piece per element, wherever they stand, and their lanes.
LISTS = {
    "history": HISTORY,
    "main_history": HISTORY,
    "history_snapshot": HISTORY,
    "transcript": TRANSCRIPT,
    "main_transcript": TRANSCRIPT,
}
_CUTS = Cuts(
    LISTS,
    {"latest_summary": SUMMARY, "main_latest_summary": SUMMARY},
    ("tangent_state", "checkpoint_manager", "checkpoints"),
)


def split(value: bytes) -> list[Content]:
    """The value in pieces, or as one piece where it is not the JSON we know how to cut."""
    return pieces.split(value, _CUTS)


_HINT = Wording("kept-row")
#: Raised when more values can be read than before: those that could not be are then looked at again.
_LOOKED = 2
#: How the agent begins a value: with the id of its conversation.
_ID_FIRST = re.compile(rb'\s*\{\s*"conversation_id"\s*:\s*("(?:[^"\\]|\\.)*")')


def is_ours(database: Database) -> bool:
    """Whether it has a conversation table of the shape we know."""
    return bool(tables_of(database))


def has_new_table(database: Database) -> bool:
    return NEW in tables_of(database)


def read_database(origin: Origin, known: Known) -> Iterator[Update | Roll]:
    """An update per changed row, then the roll of all rows there are."""
    memory = _Memory(known)
    keys: list[str] = []
    with open_database(origin.place) as database:
        for table in tables_of(database):
            count = count_rows(database, table)
            for number, row in enumerate(list_rows(database, table), 1):
                memory.later = max(count - number, 0)
                key = memory.unchanged(row) if not known.thorough else None
                if key is None:
                    for update in _read_row(database, row, memory):
                        key = update.key
                        yield update
                if key is not None:
                    keys.append(key)
    yield Roll(keys)


def _read_row(database: Database, row: ConversationRow, memory: _Memory) -> Iterator[Update]:
    """A row that changed; nothing when it is gone by now."""
    if (row.length or 0) > memory.largest:
        yield from _read_large(database, row, memory)
        return
    found = fetch(database, row)
    if found is not None:
        yield _update(database.place, *found, memory)


def _read_large(database: Database, row: ConversationRow, memory: _Memory) -> Iterator[Update]:
    """A row whose value is too large to be looked into: in pieces."""
    begun = False
    for _ in range(ATTEMPTS):
        found = find(database, row)
        if found is None:
            return
        if (found.length or 0) <= memory.largest:
            yield from _read_row(database, found, memory)
            return
        update = _large(database, found, memory)
        begun = begun or is_unfinished(memory.cursors.get(update.key))
        value = pieces_of(database, found.table, "value", found.rowid, found.length or 0)
        try:
            for part in updates(update, value, begun=begun):
                begun = True
                if not is_unfinished(part.cursor) and find(database, found) != found:
                    raise Changed
                yield part
        except Changed:
            continue
        return
    raise too_fast(database.place, row)


def _large(database: Database, row: ConversationRow, memory: _Memory) -> Update:
    """What is known of a large row without its value."""
    named = _ID_FIRST.match(fetch_start(database, row))
    said = row.conversation or (load(named[1]) if named else None)
    conversation = said if isinstance(said, str) and said else row.directory
    key = json.dumps([row.table, row.directory, conversation], ensure_ascii=False)
    place = f"{database.place}: {row.table} row {row.directory}"
    return Update(
        key=key,
        role=ROW,
        conversation=conversation,
        contents=[],
        cursor={**memory.cursor(row, key), "large": True},
        project=row.directory,
        replaces=memory.replaced(row, key),
        troubles=[too_large(place, "a value", row.length or 0, memory.largest)],
    )


def directory_of(key: str) -> str | None:
    """The directory that a strand's key names."""
    return _named_by(key, 1)


def is_left_behind(key: str, others: Iterable[str]) -> bool:
    """Whether a row is the copy that a migration left: the newer table has, or had, the same."""
    return _named_by(key, 0) == OLD and NEW in {_named_by(other, 0) for other in others}


def _named_by(key: str, place: int) -> str | None:
    try:
        return str(json.loads(key)[place])
    except (ValueError, LookupError, TypeError):
        return None


class _Memory:
    """What the archive knows of the rows, found by table and directory."""

    def __init__(self, known: Known) -> None:
        self._keys: dict[tuple[str, str], list[tuple[str, dict[str, Any]]]] = {}
        for key, cursor in known.cursors.items():
            table, directory, *_ = json.loads(key)
            self._keys.setdefault((table, directory), []).append((key, cursor))
        self._fresh = not known.cursors
        self.cursors = known.cursors
        self.largest = known.largest
        #: How many rows were saved after the one that is being read.
        self.later = 0

    def unchanged(self, row: ConversationRow) -> str | None:
        """The key of the strand that this row was when last read, if it has not changed."""
        siblings = self._siblings(row)
        newest = max((_turn(cursor) for _, cursor in siblings), default=0)
        for key, cursor in siblings:
            same = all(cursor.get(name) == mark for name, mark in row.signs.items())
            # What an earlier version could not read may be readable by now.
            same = same and (_is_chat(key) or cursor.get("looked") == _LOOKED)
            # What was too large, or only begun to be read.
            same = same and not (cursor.get("large") and (row.length or 0) <= self.largest)
            same = same and not is_unfinished(cursor)
            # An earlier chat that is back as it was has its turn again, and that is news.
            if same and (row.table == NEW or _turn(cursor) == newest):
                return key
        return None

    def replaced(self, row: ConversationRow, key: str) -> str | None:
        """The key of the chat whose place another took; the old table holds one per directory."""
        siblings = [(name, cursor) for name, cursor in self._siblings(row) if _is_chat(name)]
        last = max(siblings, key=lambda item: _turn(item[1]), default=(None, {}))[0]
        return last if row.table == OLD and last != key else None

    def cursor(self, row: ConversationRow, key: str) -> dict[str, Any]:
        """What to remember of a row. Its turn says who came last: rowids begin anew in a new file."""
        siblings = dict(self._siblings(row))
        turn = 1 + max(map(_turn, siblings.values()), default=0)
        # What appeared while we looked on was written then.
        appeared = siblings[key].get("appeared") if key in siblings else not self._fresh
        later = siblings[key].get("later", self.later) if key in siblings else self.later
        return {**row.marks, "turn": turn, "appeared": appeared, "later": later}

    def _siblings(self, row: ConversationRow) -> list[tuple[str, dict[str, Any]]]:
        return self._keys.get((row.table, row.directory), [])


def _turn(cursor: dict[str, Any]) -> int:
    turn: int = cursor.get("turn", 0)
    return turn


def _update(place: str, row: ConversationRow, value: bytes | None, memory: _Memory) -> Update:
    try:
        conversation = _conversation(row, value)
    except NotReadable as error:
        return _broken(place, row, value, error, memory)
    key = json.dumps([row.table, row.directory, conversation], ensure_ascii=False)
    contents = split(value or b"")
    update = Update(
        key=key,
        role=ROW,
        conversation=conversation,
        contents=contents,
        cursor=memory.cursor(row, key),
        project=row.directory,
        replaces=memory.replaced(row, key),
    )
    if contents[0].lane == WHOLE and is_too_deep(value or b""):
        update.troubles = [_trouble(place, row, TOO_DEEP)]
    return update


def _conversation(row: ConversationRow, value: bytes | None) -> str:
    """The id by which the agent files the row. Raises NotReadable when the value is no conversation."""
    opened = _opened(value)
    if isinstance(opened, dict) and row.conversation:
        return row.conversation
    if isinstance(opened, dict) and row.directory and is_history_alone(opened):
        # It has no name of its own: the key of its row is the only one there is.
        return row.directory
    return conversation_of(opened)


def _broken(
    place: str, row: ConversationRow, value: bytes | None, reason: Wording, memory: _Memory
) -> Update:
    # Not the key of the conversation: what the row held before it broke stays what it was.
    key = json.dumps([row.table, row.directory, None, row.conversation], ensure_ascii=False)
    return Update(
        key=key,
        role=BROKEN,
        conversation=None,
        contents=whole(value) if value is not None else [],
        cursor={**memory.cursor(row, key), "looked": _LOOKED},
        project=row.directory,
        troubles=[_trouble(place, row, reason)],
    )


def _is_chat(key: str) -> bool:
    return json.loads(key)[2] is not None


def _trouble(place: str, row: ConversationRow, reason: Wording) -> Trouble:
    return Trouble.of(f"{place}: {row.table} row {row.directory}", reason, _HINT)


def _opened(value: bytes | None) -> Any:
    """The value, its fields left unread: only their names and the id are wanted."""
    if value is None:
        raise NotReadable("no-value")
    try:
        fields = msgspec.json.decode(value, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return load(value)
    return {**fields, "conversation_id": load(bytes(fields.get("conversation_id", b"null")))}
