"""Values out of rows: what rireki wrote there, or a row that is damaged. Knows no table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import apsw
import msgspec

from rireki.errors import ArchiveTrouble

__all__ = ["BadValue", "by_pages", "decoded", "first", "select", "value_of"]

T = TypeVar("T")
#: Rows that are read at once.
AT_ONCE = 2000
_KINDS = {"INTEGER": int, "TEXT": str, "BLOB": bytes}


class BadValue(ArchiveTrouble):
    """A row holds something that rireki never writes there."""

    def __init__(self, place: str, why: object) -> None:
        super().__init__("data-damaged", place=place, why=why)


def value_of(kind: type[T], value: object, place: str) -> T:
    """The value, which is of this kind unless its row is damaged; raises BadValue then."""
    if not isinstance(value, kind):
        raise BadValue(place, f"{type(value).__name__} in place of {kind.__name__}")
    return value


def decoded(decoder: msgspec.json.Decoder[T], value: object, place: str) -> T:
    """What a text says; raises BadValue for one that rireki never writes."""
    try:
        return decoder.decode(value_of(str, value, place))
    except msgspec.MsgspecError as error:
        raise BadValue(place, error) from error


def select(sql: apsw.Connection, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows at once: no cursor stays open while they are worked on.

    Raises BadValue for a value that its column cannot hold. SQLite does not look: where a page is
    damaged or lies in another one's place, it gives whatever stands there.
    """
    try:
        cursor = sql.execute(query, values)
        columns = cursor.description_full
        rows = cursor.fetchall()
    except apsw.ExecutionCompleteError:
        # No rows.
        return []
    except UnicodeDecodeError as error:
        raise BadValue("the archive", error) from error
    for (_, declared, database, table, column), found in zip(
        columns, zip(*rows, strict=True), strict=True
    ):
        if declared in _KINDS and table is not None:
            required = any(sql.column_metadata(database, table, column)[2:4])
            _check(found, _KINDS[declared], required, f"table {table}")
    return rows


def _check(found: Sequence[Any], kind: type, required: bool, place: str) -> None:
    """Whether all values of a column are of its kind. There are no numbers below zero."""
    kinds = set(map(type, found))
    if not kinds <= {kind, kind if required else type(None)}:
        for value in found:
            if value is not None or required:
                value_of(kind, value, place)
    if kinds == {int} and min(found) < 0:
        raise BadValue(place, "a number below zero")


def by_pages(
    sql: apsw.Connection, query: str, start: int | str, values: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """Rows in the order of their first column, behind `start`, some at a time.

    The query gets the last of the first column, how many rows, and the values.
    """
    while True:
        rows = select(sql, query, (start, AT_ONCE, *values))
        yield from rows
        if len(rows) < AT_ONCE:
            return
        start = rows[-1][0]


def first(sql: apsw.Connection, query: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
    """The first row, if there is one."""
    return next(iter(select(sql, query, values)), None)
