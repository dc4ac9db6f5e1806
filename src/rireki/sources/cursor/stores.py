"""The database that Cursor's CLI has for each chat: messages by their hash, and which of them are the chat.

What names a message is its hash, so nothing is ever written over: a root, too, is a blob, and lists the
messages that the chat had at that moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from rireki.sources.cursor.roles import CHAT
from rireki.sources.cursor.scrub import scrubbed
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_json
from rireki.sources.kit.rows import encoded, frame
from rireki.sources.kit.sqlite import open_database
from rireki.sources.kit.tables import Table, fetch, tables_of
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["BLOBS", "META", "read_chat"]

#: Its two tables, and the lanes of their rows.
BLOBS, META = "blobs", "meta"


def read_chat(origin: Origin, known: Known) -> Iterator[Update | Roll]:
    """The chat in a database, if it changed."""
    with open_database(origin.place) as database:
        tables = tables_of(database, {BLOBS: ("id", "data"), META: ("key", "value")})
        if len(tables) < 2:
            return
        numbers = {
            name: [n for (n,) in database.rows(f'SELECT rowid FROM "{name}" ORDER BY rowid')]
            for name in tables
        }
        meta = [_meta(row.values) for row in fetch(database, tables[META], numbers[META])]
        marks = sha256(msgspec.json.encode([meta, _ids(database, tables[BLOBS])]))
        cursor = {"digest": marks.hexdigest()[:32]}
        cursor |= {"project": origin.project} if origin.project else {}
        key = json.dumps([BLOBS, CHAT, origin.conversation], ensure_ascii=False)
        if known.thorough or known.cursors.get(key) != cursor:
            rows = fetch(database, tables[BLOBS], numbers[BLOBS], known.largest)
            blobs = [encoded(row.values, ["data"]) for row in rows]
            yield Update(
                key=key,
                role=CHAT,
                conversation=origin.conversation,
                contents=[
                    frame(b'{"meta":['),
                    _rows(META, meta),
                    frame(b'],"blobs":['),
                    _rows(BLOBS, blobs),
                    frame(b"]}"),
                ],
                cursor=cursor,
                project=origin.project,
            )
        yield Roll([key])


def _ids(database: Any, table: Table) -> list[str]:
    return [str(id) for (id,) in database.rows(f'SELECT id FROM "{table.name}" ORDER BY rowid')]


def _rows(lane: str, rows: list[bytes]) -> Content:
    return Content(lane, [Piece(row, digest_of_json(row)) for row in rows], ",")


def _meta(values: dict[str, Any]) -> bytes:
    """A row of what the chat says of itself: JSON in hexadecimal digits, with the key of a cipher in it."""
    text = values.get("value")
    try:
        data = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        data = str(text).encode("utf-8", "replace")
    try:
        value = scrubbed(load(data))
    except (NotReadable, RecursionError):
        # Nobody can tell the key from the rest.
        value = None
    return msgspec.json.encode({"key": str(values.get("key")), "value": value})
