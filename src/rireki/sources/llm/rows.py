"""The rows of llm's log, gathered by conversation: a record per row, JSON of the columns that were named.

Up to about 0.35 a conversation is rows of `conversations` and `responses`; since then it is a thread with
turns, whose messages are named by their content and shared between threads: each thread gets the chain
that its turns lead to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rireki.errors import SourceTrouble
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.kit.fields import get, items
from rireki.sources.kit.rows import encoded, frame
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["read_log"]

#: What a strand is: the rows of a thread or conversation.
LOG = "log"
_TABLES = {
    "threads": ("id", "name", "tip_message_hash", "forked_from", "datetime_utc"),
    "turns": (
        *("id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "resolved_model"),
        *("options_json", "input_tokens", "output_tokens", "token_details", "duration_ms"),
        *("datetime_utc", "response_json"),
    ),
    "messages": ("hash", "parent_hash", "role", "provider_metadata"),
    "parts": ("id", "message_hash", "position", "type", "tool_name", "text", "payload"),
    "conversations": ("id", "name", "model"),
    "responses": (
        *("id", "model", "prompt", "system", "prompt_json", "options_json", "response"),
        *("response_json", "conversation_id", "duration_ms", "datetime_utc", "input_tokens"),
        *("output_tokens", "token_details", "reasoning", "resolved_model"),
    ),
    "tool_calls": ("id", "response_id", "name", "arguments", "tool_call_id"),
    "tool_results": ("id", "response_id", "name", "output", "tool_call_id", "exception"),
    "attachments": ("id", "type", "path", "url"),
    "fragments": ("id", "content", "source"),
}
#: How many rows, or values of a condition, one statement has.
_BATCH = 200
#: An attachment that lies in the database itself is kept up to this size.
_LARGEST = 64 << 20


def read_log(origin: Origin, known: Known) -> Iterator[Update | Roll]:
    """An update per conversation that changed, then the roll of all there are."""
    with open_database(origin.place) as database:
        log = _Log(database)
        if not log.has("threads") and not log.has("conversations"):
            names = ["threads", "conversations"]
            raise SourceTrouble("no-such-tables", place=origin.place, names=names)
        keys: list[str] = []
        for heads in (log.threads(), log.conversations()):
            for head in heads:
                keys.append(head.id)
                cursor = {"digest": head.digest}
                if known.thorough or known.cursors.get(head.id) != cursor:
                    gathered = log.thread(head) if head.is_thread else log.conversation(head)
                    yield _update(head.id, gathered, cursor)
        yield Roll(keys)


class _Head(NamedTuple):
    """A conversation as lists show it."""

    id: str
    digest: str
    row: dict[str, Any]
    #: Its turns, or its responses.
    rows: list[dict[str, Any]]
    is_thread: bool


def _update(id: str, gathered: Mapping[str, Sequence[Mapping[str, Any]]], cursor: Any) -> Update:
    contents: list[Content] = []
    for table, rows in gathered.items():
        opening = f"{'],' if contents else '{'}{json.dumps(table)}:[".encode()
        pieces = [encoded(row) for row in rows]
        contents += [
            frame(opening),
            Content(table, [Piece(one, digest_of_json(one)) for one in pieces], ","),
        ]
    contents.append(frame(b"]}"))
    return Update(key=id, role=LOG, conversation=id, contents=contents, cursor=cursor)


class _Log:
    """The tables of one log, whichever of them and of their columns there are."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._columns = {
            table: [name for name in wanted if name in there]
            for table, wanted in _TABLES.items()
            if (there := database.columns(table))
        }

    def has(self, table: str) -> bool:
        return "id" in self._columns.get(table, ())

    # ── lists ──

    def threads(self) -> Iterator[_Head]:
        turns = self._by(self._all("turns"), "thread_id")
        for row in self._all("threads"):
            yield _head(row, turns.get(_id(row), []), True)

    def conversations(self) -> Iterator[_Head]:
        """Those of the earlier schema; a response without a conversation is one by itself."""
        # Long columns are left for when a conversation is known to have changed.
        short = [
            name
            for name in self._columns.get("responses", ())
            if name in ("id", "conversation_id", "datetime_utc")
        ]
        responses = list(self._all("responses", short))
        by_id = self._by(responses, "conversation_id")
        known = {_id(row): row for row in self._all("conversations")}
        alone = {_id(row): [row] for row in responses if not row.get("conversation_id")}
        for id in dict.fromkeys((*known, *by_id, *alone)):
            if id:
                yield _head(known.get(id, {"id": id}), by_id.get(id) or alone.get(id, []), False)

    def _all(self, table: str, columns: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Every row, some per statement, so that llm can write at any time."""
        columns = columns or self._columns.get(table, ())
        if not self.has(table):
            return
        last = ""
        while True:
            found = self._select(table, columns, f"id > ? ORDER BY id LIMIT {_BATCH}", [last])
            yield from found
            if len(found) < _BATCH:
                return
            last = found[-1]["id"]

    # ── what belongs to one ──

    def thread(self, head: _Head) -> dict[str, list[dict[str, Any]]]:
        messages: dict[str, dict[str, Any]] = {}
        for tip in [
            head.row.get("tip_message_hash"),
            *(r.get("tip_message_hash") for r in head.rows),
        ]:
            chain: list[dict[str, Any]] = []
            while isinstance(tip, str) and tip not in messages:
                found = self._where("messages", "hash", [tip])
                if not found:
                    break
                messages[tip] = found[0]
                chain.append(found[0])
                tip = found[0].get("parent_hash")
        parts = self._where("parts", "message_hash", list(messages))
        payloads = [_payload(part) for part in parts]
        fragments = {get(p, "fragment") for one in payloads for p in items(one, "text_ref")}
        attached = [get(one, "attachment", "id") for one in payloads]
        attached += [get(a, "id") for one in payloads for a in items(one, "attachments")]
        return {
            "threads": [head.row],
            "turns": head.rows,
            "messages": list(messages.values()),
            "parts": parts,
            "fragments": self._where("fragments", "id", [one for one in fragments if one]),
            "attachments": self._attachments(attached),
        }

    def conversation(self, head: _Head) -> dict[str, list[dict[str, Any]]]:
        ids = [_id(row) for row in head.rows]
        fragments = [
            found
            for table in ("prompt_fragments", "system_fragments")
            for found in self._joined(table, "fragment_id", ids)
        ]
        return {
            "conversations": [head.row],
            "responses": self._where("responses", "id", ids),
            "tool_calls": self._where("tool_calls", "response_id", ids),
            "tool_results": self._where("tool_results", "response_id", ids),
            "prompt_attachments": self._joined("prompt_attachments", "attachment_id", ids),
            "prompt_fragments": fragments,
            "fragments": self._where("fragments", "id", [one["fragment_id"] for one in fragments]),
            "attachments": self._attachments(
                [
                    one["attachment_id"]
                    for one in self._joined("prompt_attachments", "attachment_id", ids)
                ]
            ),
        }

    def _joined(self, table: str, column: str, ids: Sequence[str]) -> list[dict[str, Any]]:
        """What a table between two others says of these responses."""
        if not {"response_id", column} <= self._database.columns(table):
            return []
        found = []
        for some in _batches(ids):
            condition = f'response_id IN ({_marks(some)}) ORDER BY "order"'
            found += self._select(table, ("response_id", column), condition, some)
        return [{**row, "table": table} for row in found]

    def _where(self, table: str, column: str, values: Iterable[Any]) -> list[dict[str, Any]]:
        if column not in self._columns.get(table, ()):
            return []
        found: list[dict[str, Any]] = []
        for some in _batches(list(dict.fromkeys(values))):
            condition = f"{column} IN ({_marks(some)}) ORDER BY rowid"
            found += self._select(table, self._columns[table], condition, some)
        return found

    def _attachments(self, ids: Iterable[Any]) -> list[dict[str, Any]]:
        """With their bytes, where they were piped in; else llm has only their path."""
        found = self._where("attachments", "id", [one for one in ids if isinstance(one, str)])
        for row in found:
            statement = "SELECT content FROM attachments WHERE id = ? AND length(content) <= ?"
            content = self._database.rows(statement, (row["id"], _LARGEST))
            if content and isinstance(content[0][0], bytes):
                row["content"] = content[0][0]
        return found

    def _select(
        self, table: str, columns: Sequence[str], condition: str, values: Sequence[Any]
    ) -> list[dict[str, Any]]:
        named = ", ".join(f'"{name}"' for name in columns)
        rows = self._database.rows(f"SELECT {named} FROM {table} WHERE {condition}", values)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    @staticmethod
    def _by(rows: Iterable[dict[str, Any]], column: str) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if isinstance(row.get(column), str):
                found.setdefault(row[column], []).append(row)
        return found


def _head(row: dict[str, Any], rows: list[dict[str, Any]], is_thread: bool) -> _Head:
    digest = digest_of_bytes(b"".join(map(encoded, (row, *rows)))).hex()
    return _Head(_id(row), digest, row, rows, is_thread)


def _id(row: Mapping[str, Any]) -> str:
    return str(row.get("id") or "")


def _payload(part: Mapping[str, Any]) -> Any:
    try:
        return json.loads(part.get("payload") or "{}")
    except (ValueError, TypeError, RecursionError):
        return {}


def _batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
