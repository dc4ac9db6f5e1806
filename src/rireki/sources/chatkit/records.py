"""Rows as records: JSON that holds every column, the value of `data` byte for byte.

A record says the same as its row, and is recognised by that when the app writes it again; how a
row becomes JSON is `kit/rows.py`'s. Records stand in the order of their times. ChatKit writes the local
time of its server without an offset; other stores write offsets, or numbers. A time without offset is
taken as local here, once, when the row is first read: `read_as` says which moment was meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple

import msgspec

from rireki.errors import Wording
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.kit.rows import encoded
from rireki.sources.kit.tables import TableRow, Value
from rireki.sources.reader import Piece

__all__ = [
    "DecodedRecord",
    "identity_of",
    "in_order",
    "is_deleted",
    "open_record",
    "opened_data",
    "piece_of",
]

#: From here on a number counts milliseconds, not seconds.
_MILLISECONDS = 100_000_000_000


class Dated(NamedTuple):
    row: TableRow
    moment: datetime | None
    #: The row says a time of day, but not where.
    is_local: bool


def in_order(rows: Sequence[TableRow], times: Sequence[Value]) -> list[Dated]:
    """The rows by their moments, then as they arrived; one without a moment follows its elder."""
    dated: list[Dated] = []
    keys: list[datetime] = []
    last = datetime.min.replace(tzinfo=timezone.utc)
    for row, time in zip(rows, times, strict=True):
        read = _read(time)
        is_local = read is not None and read.tzinfo is None
        moment = _settled(read, last) if read else None
        last = moment or last
        dated.append(Dated(row, moment, is_local))
        keys.append(last)
    return [dated[place] for place in sorted(range(len(dated)), key=keys.__getitem__)]


def spelled(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _read(time: Value) -> datetime | None:
    try:
        if isinstance(time, str):
            return datetime.fromisoformat(time)
        if isinstance(time, int | float):
            seconds = time / 1000 if abs(time) >= _MILLISECONDS else time
            return datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _settled(time: datetime, last: datetime) -> datetime | None:
    """The moment meant. In the hour that clocks go through twice, arrival decides which one."""
    try:
        moment = time.astimezone(timezone.utc)
        if time.tzinfo is None and moment < last:
            return max(moment, time.replace(fold=1).astimezone(timezone.utc))
    except (ValueError, OverflowError, OSError):
        return None
    return moment


DATA = "data"
#: What does not belong to what a row says: that it was deleted, and the moment it was taken for.
_OURS = re.compile(rb'(?:,"deleted_at":(null|"[^"]*"))?(?:,"read_as":"[^"]*")?\}$')
_KINDS = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


class DecodedRecord(NamedTuple):
    """A record as interpreters want it."""

    columns: dict[str, Any]
    #: The object inside `data`; empty when there is none, and then `wrong` says why.
    value: dict[str, Any]
    wrong: Wording | None = None
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
        return DecodedRecord({}, {}, error, record.decode("utf-8", "replace"))
    if not isinstance(columns, dict):
        kind = _KINDS.get(type(columns), "a number")
        return DecodedRecord({}, {}, Wording("not-a-row", what=kind), columns)
    if "data:large" in columns:
        return DecodedRecord(columns, {}, Wording("row-too-large"))
    if "data:base64" in columns:
        return DecodedRecord(columns, {}, Wording("row-of-bytes"))
    text = columns.get("data:text")
    try:
        value = load(text.encode()) if isinstance(text, str) else columns.get(DATA)
    except NotReadable as error:
        return DecodedRecord(columns, {}, error, text)
    opened = opened_data(value, inner)
    if not isinstance(opened, dict):
        kind = _KINDS.get(type(opened), "a number")
        return DecodedRecord(columns, {}, Wording("not-an-object", what=kind), opened)
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
