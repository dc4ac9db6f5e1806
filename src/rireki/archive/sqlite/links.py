"""Links between conversations, found by the tokens they share.

A sub-agent wants the call that started it, its parent offers it; two copies of
one history share the lines they begin with. Nothing here knows a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from rireki.archive.sqlite.values import select

__all__ = ["resolve_links"]

#: Whoever may have another parent now: what changed, its relatives, and its children so far.
_AFFECTED = """
    SELECT number FROM touched
     UNION
    SELECT other.conversation
      FROM touched CROSS JOIN tie mine ON mine.conversation = touched.number
     CROSS JOIN tie other ON other.token = mine.token AND other.family = mine.family
     UNION
    SELECT child FROM link WHERE parent IN (SELECT number FROM touched)
"""
#: Of these, whoever has something in common with another, or had: most conversations have not.
_RELATED = f"""
      WITH affected (number) AS MATERIALIZED ({_AFFECTED})
    SELECT number FROM affected
     WHERE EXISTS (SELECT 1 FROM link WHERE child = number)
        OR EXISTS (SELECT 1 FROM tie mine CROSS JOIN tie other
                    WHERE mine.conversation = number
                      AND other.token = mine.token AND other.family = mine.family
                      AND other.conversation <> number)
        OR EXISTS (SELECT 1 FROM tie mine CROSS JOIN naming named
                    WHERE mine.conversation = number AND mine.kind = 'title'
                      AND named.token = mine.token AND named.family = mine.family)
     ORDER BY number
"""
#: What a conversation wants and another one offers, the likeliest parent first.
_OFFERED = """
    SELECT mine.kind, other.conversation, coalesce(mine.detail, other.detail), mine.token
      FROM tie mine JOIN tie other
        ON other.token = mine.token AND other.family = mine.family AND other.role = 'offer'
       AND other.conversation <> mine.conversation
      JOIN conversation c ON c.number = other.conversation
     WHERE mine.conversation = ? AND mine.role = 'want' AND mine.kind <> 'title'
     ORDER BY coalesce(c.started_at, '') DESC, coalesce(c.updated_at, '') DESC, c.id DESC
"""
#: The title that other files have for a conversation: the first of those it wants, from the eldest file.
_TITLE = """
    SELECT coalesce(other.detail, named.title)
      FROM tie mine
      LEFT JOIN tie other
        ON other.token = mine.token AND other.family = mine.family AND other.role = 'offer'
       AND other.conversation <> mine.conversation
      LEFT JOIN conversation c ON c.number = other.conversation
      LEFT JOIN naming named ON named.token = mine.token AND named.family = mine.family
     WHERE mine.conversation = ? AND mine.role = 'want' AND mine.kind = 'title'
       AND coalesce(other.detail, named.title) IS NOT NULL
     ORDER BY mine.rowid, c.started_at, c.id, named.grouping LIMIT 1
"""
#: The nearest of those that share a token with a conversation and are older than it.
_ELDER = """
    SELECT iif('continuation' IN (mine.kind, other.kind), 'continuation', 'fork'), c.number
      FROM tie mine JOIN conversation me ON me.number = mine.conversation
      JOIN tie other
        ON other.token = mine.token AND other.family = mine.family AND other.role = 'share'
      JOIN conversation c ON c.number = other.conversation
     WHERE mine.conversation = ? AND mine.role = 'share'
       AND (coalesce(c.started_at, ''), coalesce(c.updated_at, ''), c.id)
         < (coalesce(me.started_at, ''), coalesce(me.updated_at, ''), me.id)
     ORDER BY coalesce(c.started_at, '') DESC, coalesce(c.updated_at, '') DESC, c.id DESC LIMIT 1
"""


def resolve_links(sql: apsw.Connection, conversations: Sequence[int], change: int) -> None:
    """Find the links of these conversations anew, and of those they may concern.

    `change` is the number of this change, noted with conversations that get another title, or
    a sub-agent that nobody knew of.
    """
    if not conversations:
        return
    sql.execute("CREATE TEMP TABLE IF NOT EXISTS touched (number INTEGER PRIMARY KEY)")
    sql.execute("DELETE FROM touched")
    sql.executemany("INSERT OR IGNORE INTO touched VALUES (?)", [(n,) for n in conversations])
    for (number,) in select(sql, _RELATED):
        _find_parents(sql, number, change)


def _find_parents(sql: apsw.Connection, child: int, change: int) -> None:
    """One parent of each kind: what the source says itself outranks what is only shared."""
    before = select(sql, "DELETE FROM link WHERE child = ? RETURNING parent, kind", (child,))
    parents: dict[str, tuple[int, str, str | None]] = {}
    for kind, other, detail, token in select(sql, _OFFERED, (child,)):
        parents.setdefault(_place(kind), (other, kind, detail or _call_id(token)))
    for (title,) in select(sql, _TITLE, (child,)):
        _hand_over_title(sql, child, title, change)
    if _place("fork") not in parents:
        for kind, other in select(sql, _ELDER, (child,)):
            parents[_place(kind)] = (other, kind, None)
    sql.executemany(
        "INSERT OR IGNORE INTO link (child, parent, kind, call_id) VALUES (?, ?, ?, ?)",
        [(child, *parent) for parent in parents.values()],
    )
    starter = parents.get("subagent")
    if starter is not None and starter[:2] not in before:
        # Whoever shows the parent shows its sub-agents with it.
        sql.execute("UPDATE conversation SET changed = ? WHERE number = ?", (change, starter[0]))
        _note_change(sql, starter[0], change)


def _place(kind: str) -> str:
    """A fork and a continuation are two words for one thing: where a conversation came from."""
    return "ancestor" if kind in ("fork", "continuation") else kind


def _hand_over_title(sql: apsw.Connection, number: int, title: Any, change: int) -> None:
    """Where an older file's only title stands in a newer one, or in one that has nothing but titles."""
    sql.execute(
        "UPDATE conversation SET title = ?1, changed = ?2 WHERE number = ?3 AND title <> ?1",
        (title, change, number),
    )
    if sql.changes():
        _note_change(sql, number, change)


def _note_change(sql: apsw.Connection, number: int, change: int) -> None:
    """Tell the feed of a conversation whose records did not change."""
    sql.execute(
        """INSERT OR IGNORE INTO change (number, conversation, reached)
           SELECT ?1, c.id, (SELECT max(reached) FROM change WHERE conversation = c.id)
             FROM conversation c WHERE c.number = ?2""",
        (change, number),
    )


def _call_id(token: str) -> str | None:
    """A call is offered as `call:ID`, or as `call:SESSION/ID` where ids are not unique by themselves."""
    return token.removeprefix("call:").rpartition("/")[2] if token.startswith("call:") else None
