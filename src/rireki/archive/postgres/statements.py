"""The statements about rows of one table: each begins with its owner."""

from __future__ import annotations

from functools import cache

__all__ = ["KEYS", "NUMBERED", "TABLES", "delete", "insert", "select", "tables_of", "update"]

import re

#: What tells a row from all others of its owner.
KEYS = {
    "answers": ("conversation",),
    "change": ("number", "conversation"),
    "chunk": ("strand", "lane", "first"),
    "conversation": ("number",),
    "curation": ("conversation",),
    "dirty": ("family", "conversation"),
    "fact": ("family", "conversation", "message", "kind", "name"),
    "forgotten": ("family", "conversation"),
    "link": ("child", "parent", "kind"),
    "meta": ("key",),
    "naming": ("family", "grouping", "token"),
    "origin": ("id",),
    "removed": ("stream", "strand"),
    "state": ("strand", "number"),
    "strand": ("id",),
    "stream": ("id",),
    "succession": ("family", "child", "parent"),
    "tie": ("conversation", "place"),
    "trouble": ("origin", "key", "place"),
}
TABLES = frozenset(KEYS)
#: The column that a new row gets a number of its own in.
NUMBERED = {"conversation": "number", "origin": "id", "strand": "id", "stream": "id"}
_NAMES = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+({'|'.join(sorted(TABLES))})\b")


@cache
def tables_of(query: str) -> frozenset[str]:
    """The tables that a question reads."""
    return frozenset(_NAMES.findall(query))


@cache
def select(table: str, columns: str, where: tuple[str, ...], order: str, limited: bool) -> str:
    # By its key where nothing else is asked for: the same everywhere, and every time.
    by = order or ", ".join(name for name in KEYS[table] if name not in where)
    by = f" ORDER BY {by}" if by else ""
    limit = " LIMIT %s" if limited else ""
    return f"SELECT {columns} FROM {table} {_where(where)}{by}{limit}"


@cache
def insert(table: str, columns: str, replacing: bool) -> str:
    """Of the owner's own, then these columns; in place of a row with the same key, or as a new one."""
    names = columns.split(", ")
    marks = ", ".join(["%s"] * (len(names) + 1))
    statement = f"INSERT INTO {table} (owner, {columns}) VALUES ({marks})"
    if not replacing:
        return statement
    key = KEYS[table]
    values = ", ".join(f"{name} = EXCLUDED.{name}" for name in names if name not in key)
    return f"{statement} ON CONFLICT (owner, {', '.join(key)}) DO UPDATE SET {values}"


@cache
def update(table: str, values: tuple[str, ...], where: tuple[str, ...]) -> str:
    changes = ", ".join(f"{column} = %s" for column in values)
    return f"UPDATE {table} SET {changes} {_where(where)}"


@cache
def delete(table: str, where: tuple[str, ...]) -> str:
    return f"DELETE FROM {table} {_where(where)}"


def _where(columns: tuple[str, ...]) -> str:
    return "WHERE " + " AND ".join(f"{column} = %s" for column in ("owner", *columns))
