"""Rows as records: JSON that holds every column, the value of `data` byte for byte.

A record says the same as its row, and is recognised by that when the app writes it again; how a
row becomes JSON is `kit/rows.py`'s. `read_as` is ours: the moment that a time without offset was taken for.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from rireki.sources.chatkit.moments import Dated, spelled
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.kit.rows import encoded
from rireki.sources.reader import Piece

__all__ = ["DecodedRecord", "identity_of", "is_deleted", "open_record", "opened_data", "piece_of"]

DATA = "data"
#: What does not belong to what a row says: that it was deleted, and the moment it was taken for.
_OURS = re.compile(rb'(?:,"deleted_at":(null|"[^"]*"))?(?:,"read_as":"[^"]*")?\}$')
_KINDS = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


class DecodedRecord(NamedTuple):
    """A record as interpreters want it."""

    columns: dict[str, Any]
    #: The object inside `data`; empty when there is none, and then `wrong` says why.
    value: dict[str, Any]
    wrong: str = ""
    #: What stands in `data` in place of an object.
    raw: Any = None

    def text(self, column: str) -> str:
        found = self.columns.get(column)
        return found if isinstance(found, str) else ""


def piece_of(dated: Dated) -> Piece:
    """The record of a row."""
    base = encoded(dated.row.values, (DATA,))
    return Piece(_with_moment(base, dated.moment if dated.is_local else None), digest_of_json(base))


def identity_of(record: bytes) -> bytes:
    """Equal for the same row in two databases."""
    return digest_of_bytes(_OURS.sub(b"}", record, count=1))


def is_deleted(record: bytes) -> bool:
    """Whether the app deleted a row whose store keeps it, with `deleted_at` as its last column."""
    found = _OURS.search(record)
    return found is not None and found[1] not in (None, b"null")


def open_record(record: bytes, inner: str) -> DecodedRecord:
    """A record and the object in it, with or without the wrapper `{"item": …}`."""
    try:
        columns = load(record)
    except NotReadable as error:
        return DecodedRecord({}, {}, str(error), record.decode("utf-8", "replace"))
    if not isinstance(columns, dict):
        return DecodedRecord({}, {}, f"{_KINDS.get(type(columns), 'a number')}, not a row", columns)
    if "data:large" in columns:
        return DecodedRecord(columns, {}, "too large to be read: kept whole, in a file of its own")
    if "data:base64" in columns:
        return DecodedRecord(columns, {}, "neither text nor JSON")
    text = columns.get("data:text")
    try:
        value = load(text.encode()) if isinstance(text, str) else columns.get(DATA)
    except NotReadable as error:
        return DecodedRecord(columns, {}, str(error), text)
    opened = opened_data(value, inner)
    if not isinstance(opened, dict):
        kind = _KINDS.get(type(opened), "a number")
        return DecodedRecord(columns, {}, f"{kind}, not an object", opened)
    return DecodedRecord(columns, opened)


def opened_data(value: Any, inner: str) -> Any:
    """What is inside the wrapper, if there is one."""
    if isinstance(value, dict) and isinstance(value.get(inner), dict) and "id" not in value:
        return value[inner]
    return value


def _with_moment(base: bytes, moment: datetime | None) -> bytes:
    if moment is None:
        return base
    return base[:-1] + b',"read_as":' + msgspec.json.encode(spelled(moment)) + b"}"
