"""Links between conversations, found by the tokens they share.

A sub-agent wants the call that started it, its parent offers it; two copies of
one history share the ids of their first answers. Nothing here knows a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from rireki.archive.sqlite.connect import select

__all__ = ["tie_together"]

_SAME_TOKEN = """
    SELECT mine.kind, mine.role, mine.token, other.conversation, other.kind, other.role,
           coalesce(mine.detail, other.detail)
      FROM tie mine JOIN tie other
        ON other.token = mine.token AND other.family = mine.family
       AND other.conversation <> mine.conversation
     WHERE mine.conversation = ? ORDER BY other.conversation
"""


def tie_together(sql: apsw.Connection, conversations: Sequence[int]) -> None:
    """Find the links of these conversations anew."""
    sql.executemany(
        "DELETE FROM link WHERE child = ?1 OR parent = ?1", [(number,) for number in conversations]
    )
    touched = set(conversations)
    for number in conversations:
        for row in select(sql, _SAME_TOKEN, (number,)):
            touched |= _link(sql, number, row)
    for number in touched:
        _keep_nearest_ancestor(sql, number)


def _link(sql: apsw.Connection, number: int, row: tuple[Any, ...]) -> set[int]:
    kind, role, token, other, other_kind, other_role, detail = row
    met = {role, other_role} == {"offer", "want"}
    if kind == "title":
        if met:
            _hand_over_title(sql, number if role == "want" else other, detail)
        return set()
    if met:
        child, parent = (number, other) if role == "want" else (other, number)
        chosen = kind if role == "want" else other_kind
    elif role == other_role == "share":
        parent, child = sorted((number, other), key=lambda each: _age(sql, each))
        chosen = "continuation" if "continuation" in (kind, other_kind) else "fork"
    else:
        return set()
    sql.execute(
        "INSERT OR IGNORE INTO link (child, parent, kind, call_id) VALUES (?, ?, ?, ?)",
        (child, parent, chosen, detail or _call_id(token)),
    )
    return {child}


def _hand_over_title(sql: apsw.Connection, number: int, title: str) -> None:
    """Where an older file's only title stands in a newer one."""
    sql.execute("UPDATE conversation SET title = ? WHERE number = ?", (title, number))


def _age(sql: apsw.Connection, number: int) -> tuple[Any, ...]:
    """Sorts ancestors first: who started earlier, then who stopped earlier."""
    row: tuple[Any, ...] | None = sql.execute(
        "SELECT coalesce(started_at, ''), coalesce(updated_at, ''), id FROM conversation WHERE number = ?",
        (number,),
    ).fetchone()
    assert row is not None, "ties belong to stored conversations"
    return row


def _call_id(token: str) -> str | None:
    """A call is offered as `call:ID`, or as `call:SESSION/ID` where ids are not unique by themselves."""
    return token.removeprefix("call:").rpartition("/")[2] if token.startswith("call:") else None


def _keep_nearest_ancestor(sql: apsw.Connection, child: int) -> None:
    """A copy of a copy shares its tokens with both: only the nearest is its parent.

    What the source says itself (a wanted session) outranks what shared tokens suggest.
    """
    rows = select(
        sql,
        """SELECT l.parent, l.kind,
                  EXISTS (SELECT 1 FROM tie w JOIN tie o ON o.token = w.token AND o.family = w.family
                           WHERE w.conversation = l.child AND w.role = 'want'
                             AND o.conversation = l.parent AND o.role = 'offer') AS said
             FROM link l WHERE l.child = ? AND l.kind IN ('fork', 'continuation')""",
        (child,),
    )
    if len(rows) < 2:
        return
    best = max(rows, key=lambda row: (row[2], _age(sql, row[0])))
    sql.executemany(
        "DELETE FROM link WHERE child = ? AND parent = ? AND kind = ?",
        [(child, parent, kind) for parent, kind, _ in rows if (parent, kind) != best[:2]],
    )
