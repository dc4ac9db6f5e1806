"""Chats that are trees: an edited prompt or another answer is a branch, and one branch is current."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["Node", "in_order"]


class Node(NamedTuple):
    """A message of a tree, and whether it lies on the branch that is current."""

    id: str
    value: Any
    abandoned: bool


def in_order(
    parents: Mapping[str, str | None], values: Mapping[str, Any], leaf: str | None
) -> Iterator[Node]:
    """Every node after its parent; branches that were left come before the one that went on."""
    current = _way_to(leaf, parents)
    children: dict[str | None, list[str]] = {}
    for id, parent in parents.items():
        children.setdefault(parent if parent in parents else None, []).append(id)
    seen: set[str] = set()
    # Nodes that stand in a circle are below no root: each of them is begun with once more.
    waiting = [*reversed(list(parents)), *_turned(children.get(None, []), current)]
    while waiting:
        id = waiting.pop()
        if id not in seen:
            seen.add(id)
            yield Node(id, values.get(id), bool(current) and id not in current)
            waiting += _turned(children.get(id, []), current)


def _turned(ids: list[str], current: set[str]) -> list[str]:
    """As a stack takes them: the current branch comes out last."""
    left = [id for id in reversed(ids) if id not in current]
    return [*(id for id in ids if id in current), *left]


def _way_to(leaf: str | None, parents: Mapping[str, str | None]) -> set[str]:
    found: set[str] = set()
    while leaf is not None and leaf in parents and leaf not in found:
        found.add(leaf)
        leaf = parents[leaf]
    return found
