"""Links between conversations, found by the tokens they share.

A sub-agent wants the call that started it, its parent offers it; two copies of
one history share the lines they begin with. Nothing here knows a source.
"""

from __future__ import annotations

from collections.abc import Sequence

from rireki.archive.rows import Rows

__all__ = ["note_change", "resolve_links"]


def resolve_links(rows: Rows, conversations: Sequence[int], change: int) -> None:
    """Find the links of these conversations anew, and of those they may concern.

    `change` is the number of this change, noted with conversations that get another title, or
    a sub-agent or a plan that nobody knew of.
    """
    for number in rows.related(conversations) if conversations else ():
        _find_parents(rows, number, change)


def _find_parents(rows: Rows, child: int, change: int) -> None:
    """One parent of each kind: what the source says itself outranks what is only shared."""
    before = rows.get("link", "parent, kind", child=child)
    rows.remove("link", child=child)
    parents: dict[str, tuple[int, str, str | None]] = {}
    for kind, other, detail, token in rows.offered(child):
        parents.setdefault(_place(kind), (other, kind, detail or _call_id(token)))
    title = rows.title_elsewhere(child)
    if title is not None:
        _hand_over_title(rows, child, title, change)
    if _place("fork") not in parents and (elder := rows.elder(child)):
        kind, other = elder
        parents[_place(kind)] = (other, kind, None)
    rows.put("link", "child, parent, kind, call_id", *((child, *p) for p in parents.values()))
    starter = parents.get("subagent") or parents.get("plan")
    if starter is not None and starter[:2] not in before:
        # Whoever shows the parent shows its sub-agents and its plan with it.
        rows.change("conversation", {"number": starter[0]}, changed=change)
        note_change(rows, starter[0], change)


def _place(kind: str) -> str:
    """A fork and a continuation are two words for one thing: where a conversation came from."""
    return "ancestor" if kind in ("fork", "continuation") else kind


def _hand_over_title(rows: Rows, number: int, title: str, change: int) -> None:
    """Where an older file's only title stands in a newer one, or in one that has nothing but titles."""
    given = any(named for (named,) in rows.get("curation", "title", conversation=number))
    if not given and rows.get("conversation", "title", number=number) != [(title,)]:
        rows.change("conversation", {"number": number}, title=title, changed=change)
        note_change(rows, number, change)


def note_change(rows: Rows, number: int, change: int) -> None:
    """Tell the feed of a conversation whose records did not change."""
    for (id,) in rows.get("conversation", "id", number=number):
        if reached := rows.reached(id, None):
            rows.put("change", "number, conversation, reached", (change, id, reached))


def _call_id(token: str) -> str | None:
    """A call is offered as `call:ID`, or as `call:SESSION/ID` where ids are not unique by themselves."""
    return token.removeprefix("call:").rpartition("/")[2] if token.startswith("call:") else None
