"""The tables of a store: every statement, each bound to one user.

An item has its place from its first coming on, whatever its clock says and however often it is
saved. Knows connections and texts; what a text means is known in `values.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple

from chatkit.store import NotFoundError

from rireki.chatkit.sql import StoreSql
from rireki.chatkit.values import ItemValue, is_typed, moment_of, renamed, same_type, with_unknown

__all__ = [
    "Slice",
    "check_order",
    "delete_item",
    "delete_thread",
    "find_item",
    "find_thread",
    "list_deleted",
    "list_items",
    "list_threads",
    "moment_now",
    "purge",
    "purge_thread",
    "put_item",
    "put_thread",
    "unused",
]

_ORDERS = {"asc": (">", "ASC"), "desc": ("<", "DESC")}
#: A thread of which no row is left.
_EMPTY = """NOT EXISTS (SELECT 1 FROM threads t
                         WHERE t.user_id = touched.user_id AND t.id = touched.thread_id)
            AND NOT EXISTS (SELECT 1 FROM items i
                             WHERE i.user_id = touched.user_id AND i.thread_id = touched.thread_id)"""
#: Along the index without what was deleted, of which there may be much.
_IN_ORDER = "items INDEXED BY items_in_order"
_ITEM = "user_id = ? AND thread_id = ? AND deleted_at IS NULL"
_THREAD = "user_id = ? AND deleted_at IS NULL"


class Slice(NamedTuple):
    """Some rows in order."""

    data: list[str]
    has_more: bool
    #: The id of the last row, readable or not.
    last: str | None


def moment_now() -> str:
    return moment_of(datetime.now(timezone.utc))


def check_order(order: str) -> None:
    if order not in _ORDERS:
        raise ValueError(f"order must be 'asc' or 'desc', not {order!r}")


# ── threads ──


def put_thread(sql: StoreSql, user: str, id: str, data: str, created: datetime) -> None:
    row = _thread(sql, user, id)
    if row is None:
        sql.execute(
            "INSERT INTO threads (id, user_id, created_at, data) VALUES (?, ?, ?, ?)",
            (id, user, min(moment_of(created), moment_now()), data),
        )
    else:
        _replace(sql, "threads", row, data)


def find_thread(sql: StoreSql, user: str, id: str) -> str:
    row = _thread(sql, user, id)
    if row is None:
        raise NotFoundError(f"there is no thread {id}")
    return str(row[1])


def _thread(sql: StoreSql, user: str, id: str) -> Any:
    query = f"SELECT ordinal, data FROM threads WHERE {_THREAD} AND id = ?"
    return _first(sql, query, (user, id))


def list_threads(sql: StoreSql, user: str, after: str | None, limit: int, order: str) -> Slice:
    row = _thread(sql, user, after) if after else None
    if after and row is None:
        raise NotFoundError(f"there is no thread {after} to go on after")
    return _slice(sql, f"threads WHERE {_THREAD}", (user,), row, limit, order)


def delete_thread(sql: StoreSql, user: str, id: str, erase: bool) -> list[str]:
    """Also its items and files; the digests of bytes that nothing refers to any more."""
    whose = (user, id)
    if not erase:
        now = moment_now()
        for table, column in (
            ("threads", "id"),
            ("items", "thread_id"),
            ("attachments", "thread_id"),
        ):
            sql.execute(
                f"""UPDATE {table} SET deleted_at = ?
                     WHERE user_id = ? AND {column} = ? AND deleted_at IS NULL""",
                (now, *whose),
            )
        return []
    return _erase(sql, user, id)


# ── items ──


def put_item(
    sql: StoreSql,
    user: str,
    thread: str,
    item: ItemValue,
    placeholders: Sequence[str],
    is_new: bool,
) -> None:
    """Insert it at the end, or update it where it stands."""
    find_thread(sql, user, thread)
    if item.id in placeholders:
        row, item, placeholder = _placed(sql, user, thread, item, is_new)
    else:
        row, placeholder = _row(sql, user, thread, item.id), None
    if row is None:
        sql.execute(
            """INSERT INTO items (id, thread_id, user_id, created_at, data, given_id)
               VALUES (?, ?, ?, ?, ?, ?)""",
            (item.id, thread, user, _moment(sql, user, thread, item), item.data, placeholder),
        )
    else:
        _replace(sql, "items", row, item.data)
    for file in item.files:
        sql.execute(
            """UPDATE attachments SET thread_id = ?
                WHERE user_id = ? AND id = ? AND deleted_at IS NULL AND thread_id IS DISTINCT FROM ?""",
            (thread, user, file, thread),
        )


def find_item(sql: StoreSql, user: str, thread: str, id: str) -> str:
    row = _row(sql, user, thread, id) or _latest(sql, user, thread, id)
    if row is None:
        raise NotFoundError(f"there is no item {id} in thread {thread}")
    return str(row[1])


def list_items(
    sql: StoreSql, user: str, thread: str, after: str | None, limit: int, order: str
) -> Slice:
    row = None
    if after:
        row = _row(sql, user, thread, after) or _latest(sql, user, thread, after)
        if row is None:
            raise NotFoundError(f"there is no item {after} in thread {thread} to go on after")
    return _slice(sql, f"{_IN_ORDER} WHERE {_ITEM}", (user, thread), row, limit, order)


def delete_item(sql: StoreSql, user: str, thread: str, id: str, erase: bool) -> None:
    row = _row(sql, user, thread, id) or _current(sql, user, thread, id)
    if row is None:
        return
    if erase:
        sql.execute("DELETE FROM items WHERE ordinal = ?", (row[0],))
    else:
        sql.execute("UPDATE items SET deleted_at = ? WHERE ordinal = ?", (moment_now(), row[0]))


def _placed(
    sql: StoreSql, user: str, thread: str, item: ItemValue, is_new: bool
) -> tuple[tuple[Any, ...] | None, ItemValue, str]:
    """Where a reply under a placeholder belongs: the one of this turn, or a new row of its own.

    Every reply of some agents has the same id, and so has every call of a tool; each gets one of
    its own. Only what came in the same turn, and is of the same type, can be meant when it is saved
    once more.
    """
    row = _current(sql, user, thread, item.id)
    if row is not None and same_type(item.data, row[1]):
        again = renamed(item, row[2])
        if not is_new or again.data == row[1]:
            return row, again, item.id
    return None, renamed(item, f"msg_{os.urandom(16).hex()}"), item.id


def _current(sql: StoreSql, user: str, thread: str, placeholder: str) -> Any:
    """The last reply under a placeholder, unless a person wrote after it."""
    row = _latest(sql, user, thread, placeholder)
    if row is None:
        return None
    later = sql.execute(
        f"SELECT data FROM {_IN_ORDER} WHERE {_ITEM} AND ordinal > ?", (user, thread, row[0])
    ).fetchall()
    return None if any(is_typed(data) for (data,) in later) else row


def _latest(sql: StoreSql, user: str, thread: str, placeholder: str) -> Any:
    return _first(
        sql,
        f"""SELECT ordinal, data, id FROM items WHERE {_ITEM} AND given_id = ?
             ORDER BY ordinal DESC LIMIT 1""",
        (user, thread, placeholder),
    )


def _row(sql: StoreSql, user: str, thread: str, id: str) -> Any:
    return _first(
        sql, f"SELECT ordinal, data, id FROM items WHERE {_ITEM} AND id = ?", (user, thread, id)
    )


def _moment(sql: StoreSql, user: str, thread: str, item: ItemValue) -> str:
    """When it was made, but not before what stands above it, nor in the future."""
    last = _first(
        sql,
        f"SELECT created_at FROM {_IN_ORDER} WHERE {_ITEM} ORDER BY ordinal DESC LIMIT 1",
        (user, thread),
    )
    moment = min(moment_of(item.created_at), moment_now())
    return max(moment, str(last[0])) if last else moment


# ── deleted ──


def purge(sql: StoreSql, before: str) -> list[str]:
    """Erase what was deleted before a moment; the digests of bytes that nothing refers to now."""
    digests = _digests(sql, "deleted_at < ?", (before,))
    gone = 0
    for table in ("threads", "items", "attachments"):
        erased = f"DELETE FROM {table} WHERE deleted_at < ? RETURNING ordinal"
        gone += len(sql.execute(erased, (before,)).fetchall())
    if gone:
        sql.execute(f"DELETE FROM touched WHERE {_EMPTY}")
    return unused(sql, digests)


def list_deleted(sql: StoreSql) -> list[tuple[str, str]]:
    """User and id of the threads of which something was deleted."""
    rows = sql.execute(
        """SELECT user_id, id FROM threads WHERE deleted_at IS NOT NULL
           UNION SELECT user_id, thread_id FROM items WHERE deleted_at IS NOT NULL"""
    ).fetchall()
    return [(str(user), str(id)) for user, id in rows]


def purge_thread(sql: StoreSql, user: str, id: str) -> list[str]:
    """Erase what was deleted of a thread, at whatever moment; the digests as above."""
    return _erase(sql, user, id, "AND deleted_at IS NOT NULL")


def _erase(sql: StoreSql, user: str, thread: str, which: str = "") -> list[str]:
    """All rows of a thread, or some; those that were deleted before go with the others."""
    whose = (user, thread)
    digests = _digests(sql, f"user_id = ? AND thread_id = ? {which}", whose)
    sql.execute(f"DELETE FROM threads WHERE user_id = ? AND id = ? {which}", whose)
    for table in ("items", "attachments"):
        sql.execute(f"DELETE FROM {table} WHERE user_id = ? AND thread_id = ? {which}", whose)
    sql.execute(f"DELETE FROM touched WHERE user_id = ? AND thread_id = ? AND {_EMPTY}", whose)
    return unused(sql, digests)


def unused(sql: StoreSql, digests: Sequence[str]) -> list[str]:
    query = "SELECT 1 FROM uploads WHERE digest = ? LIMIT 1"
    return [digest for digest in dict.fromkeys(digests) if _first(sql, query, (digest,)) is None]


def _digests(sql: StoreSql, which: str, values: Sequence[Any]) -> list[str]:
    """Of the bytes of some attachments."""
    rows = sql.execute(
        f"""SELECT digest FROM uploads JOIN attachments ON ordinal = attachment
             WHERE digest IS NOT NULL AND {which}""",
        tuple(values),
    ).fetchall()
    return [str(digest) for (digest,) in rows]


# ── shared ──


def _replace(sql: StoreSql, table: str, row: Sequence[Any], data: str) -> None:
    """A row's value, in its place; written only if it says something else."""
    merged = data if data == row[1] else with_unknown(row[1], data)
    if merged != row[1]:
        sql.execute(f"UPDATE {table} SET data = ? WHERE ordinal = ?", (merged, row[0]))


def _slice(
    sql: StoreSql, which: str, values: Sequence[Any], last: Any, limit: int, order: str
) -> Slice:
    """Some of these rows, from the first on or behind the `last` that is known."""
    compared, direction = _ORDERS[order]
    beyond, place = (f"AND ordinal {compared} ?", last[:1]) if last is not None else ("", ())
    rows = sql.execute(
        f"SELECT id, data FROM {which} {beyond} ORDER BY ordinal {direction} LIMIT ?",
        # One more than asked for tells whether there is more.
        (*values, *place, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    return Slice(
        [str(data) for _, data in shown], len(rows) > limit, str(shown[-1][0]) if shown else None
    )


def _first(sql: StoreSql, query: str, values: Sequence[Any]) -> Any:
    return next(iter(sql.execute(query, tuple(values)).fetchall()), None)
