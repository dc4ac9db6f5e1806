"""Checksums of rows: written by triggers with every change, checked by `rireki verify`.

The triggers belong to the connection, not to the file: who opens the file with another program
can still write it, and is found out by the checksums.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import apsw

__all__ = [
    "ADDED",
    "FIRST",
    "SINCE",
    "SUMMED",
    "WIDER",
    "WrongRow",
    "ensure_triggers",
    "fill",
    "prepare",
    "renew",
    "sum_of",
    "wrong_rows",
]

#: The first format that has checksums, and the one that added columns, which come last.
FIRST, WIDER = 4, 5
#: The format of what is written today.
NEWEST = 6
#: What format 5 added, and what stands there in rows of earlier formats.
ADDED: dict[str, dict[str, int]] = {
    "origin": {"stream": 0, "remote": 0},
    "strand": {"remote": 0, "number": 1},
    "succession": {"number": 1},
    "forgotten": {"number": 1, "remembered": 0},
}
#: The columns that each checksum covers, in order. Those that name the row come first.
SUMMED: dict[str, tuple[str, ...]] = {
    "meta": ("key", "value"),
    "origin": (
        *("id", "source", "place", "root", "form", "role", "stamp", "first_seen"),
        *("vanished_at", "stream", "remote"),
    ),
    "strand": (
        *("id", "origin", "key", "family", "conversation", "role", "project", "cursor"),
        *("first_seen", "last_seen", "vanished_at", "remote", "number"),
    ),
    "chunk": ("id", "strand", "lane", "first", "count", "size", "lengths", "digests"),
    "state": ("strand", "number", "at", "runs", "tail"),
    "succession": ("family", "child", "parent", "at", "number"),
    "forgotten": ("family", "conversation", "together", "at", "number", "remembered"),
    "trouble": ("origin", "key", "place", "message", "hint", "at"),
    "change": ("number", "conversation", "reached"),
    "link": ("child", "parent", "kind", "call_id"),
    "stream": ("id", "archive", "epoch", "machine", "reached"),
    "removed": ("stream", "strand", "number"),
    "fact": (
        *("family", "conversation", "message", "kind", "name"),
        *("value", "author", "at", "machine", "number"),
    ),
}
#: The format that brought a table, where that is not one of the first that had checksums.
SINCE = {"stream": 5, "removed": 5, "fact": 6}
_KEYS = {
    "meta": 1,
    "origin": 1,
    "strand": 1,
    "chunk": 1,
    "state": 2,
    "succession": 3,
    "forgotten": 2,
    "trouble": 3,
    "change": 2,
    "link": 3,
    "stream": 1,
    "removed": 2,
    "fact": 5,
}
_BLOBS = ("digests", "tail")
_TRIGGER = "sum_of_meta_insert"


class WrongRow(NamedTuple):
    """A row whose checksum does not fit, and what it says of itself."""

    table: str
    values: dict[str, Any]


def columns_of(table: str, version: int) -> tuple[str, ...]:
    """What the checksums of a table cover in a format; nothing where it has none."""
    columns = SUMMED[table]
    if version < SINCE.get(table, FIRST):
        return ()
    if version >= WIDER:
        return columns
    return columns[: len(columns) - len(ADDED.get(table, ()))]


def sum_sql(table: str, prefix: str = "", version: int = NEWEST) -> str:
    """The checksum of a row as an expression over its columns."""
    values = [
        f"hex({prefix}{column})" if column in _BLOBS else f"{prefix}{column}"
        for column in columns_of(table, version)
    ]
    return f"crc32(CAST(json_array('{table}', {', '.join(values)}) AS BLOB))"


def prepare(sql: apsw.Connection) -> None:
    # The C function itself: a Python one around it would take three times as long.
    sql.create_scalar_function("crc32", crc32, 1, deterministic=True)  # type: ignore[arg-type]


def ensure_triggers(sql: apsw.Connection) -> None:
    """From now on every row that this connection writes gets its checksum."""
    known = "SELECT EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = ?)"
    if sql.execute(known, (_TRIGGER,)).get:
        return
    prepare(sql)
    # In one go: a transaction for each would take a third longer, whenever a history is closed.
    sql.execute(f"BEGIN; {_triggers()} COMMIT")


@cache
def _triggers() -> str:
    return "".join(
        f"""CREATE TEMP TRIGGER IF NOT EXISTS sum_of_{table}_{event[:6].lower()}
            AFTER {event} ON main.{table} BEGIN {_renew(table)}; END;"""
        for table, columns in SUMMED.items()
        for event in ("INSERT", f"UPDATE OF {', '.join(columns)}")
    )


def _renew(table: str) -> str:
    if table == "chunk":
        return f"INSERT OR REPLACE INTO chunk_sum VALUES (NEW.id, {sum_sql(table, 'NEW.')})"
    keys = SUMMED[table][: _KEYS[table]]
    same = " AND ".join(f"{key} = NEW.{key}" for key in keys)
    return f"UPDATE {table} SET sum = {sum_sql(table, 'NEW.')} WHERE {same}"


def fill(sql: apsw.Connection) -> None:
    """The checksums of an archive that was written before there were any."""
    prepare(sql)
    for table in SUMMED:
        if table == "chunk":
            sql.execute(f"INSERT INTO chunk_sum SELECT id, {sum_sql(table)} FROM chunk")
        elif columns_of(table, FIRST):
            sql.execute(f"UPDATE {table} SET sum = {sum_sql(table, version=FIRST)}")


def renew(sql: apsw.Connection) -> None:
    """The checksums of rows that got columns. One that did not fit before must not fit now."""
    prepare(sql)
    for table in ADDED:
        before, now = sum_sql(table, version=FIRST), sum_sql(table, version=WIDER)
        sql.execute(f"UPDATE {table} SET sum = iif(sum IS {before}, {now}, -1)")


def wrong_rows(sql: apsw.Connection, table: str) -> Iterator[WrongRow]:
    """Rows that are not what was written."""
    prepare(sql)
    # What can only be read may have an earlier format.
    version = sql.pragma("user_version")
    columns = columns_of(table, version)
    if not columns:
        return
    # As bytes: a damaged text need not be one.
    asked = ", ".join(f"CAST({column} AS BLOB)" for column in columns)
    source, noted = table, "sum"
    if table == "chunk":
        source, noted = "chunk LEFT JOIN chunk_sum ON chunk_sum.chunk = chunk.id", "chunk_sum.sum"
    fitting = sum_sql(table, version=version)
    found = sql.execute(f"SELECT {asked} FROM {source} WHERE {noted} IS NOT {fitting}")
    for row in found:
        values = [None if value is None else value.decode(errors="replace") for value in row]
        yield WrongRow(table, dict(zip(columns, values, strict=True)))


def sum_of(table: str, values: dict[str, Any], scratch: apsw.Connection) -> int | None:
    """The checksum of a row that is in no table, over the columns that it has; None for one that
    never was in ours."""
    columns = [column for column in SUMMED[table] if column in values]
    row = [values[column] for column in columns]
    if any(isinstance(values[c], bytes) for c in columns if c not in _BLOBS):
        return None
    marks = ", ".join("hex(?)" if column in _BLOBS else "?" for column in columns)
    found: int = scratch.execute(
        f"SELECT crc32(CAST(json_array('{table}', {marks}) AS BLOB))", row
    ).get
    return found
