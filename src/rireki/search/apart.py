"""Conversations that hold all words of a query, though no single message does.

Looked for only when nothing else was found: half an answer is better than a "no"
that is not quite true.
"""

from __future__ import annotations

import msgspec

from rireki.search.hunt import Group, Hunt
from rireki.search.library import Library
from rireki.search.query import And, Filter, Node, Not, Or, Query, all_of
from rireki.search.results import Wish
from rireki.search.view import View

__all__ = ["hunt_apart"]


def hunt_apart(
    library: Library, view: View, query: Query, wish: Wish
) -> tuple[Hunt, list[Group]] | None:
    """The hunt for any of the words in the conversations that have them all; None if there are none."""
    if not isinstance(query.root, And):
        return None
    conditions = [node for node in query.root.children if isinstance(node, Filter | Not)]
    words = [node for node in query.root.children if not isinstance(node, Filter | Not)]
    if len(words) < 2:
        return None
    hunts = [_hunt(library, view, query, wish, [word, *conditions]) for word in words]
    common: set[str] | None = None
    # Those the index can decide come first: they leave little to check for the others.
    for hunt in sorted(hunts, key=lambda hunt: not hunt.plan.exact):
        common = hunt.talks(common)
        if not common:
            return None
    assert common is not None
    either = _hunt(library, view, query, wish, [Or(tuple(words)), *conditions])
    return either, either.gather(common)


def _hunt(library: Library, view: View, query: Query, wish: Wish, nodes: list[Node]) -> Hunt:
    return Hunt(library, view, msgspec.structs.replace(query, root=all_of(nodes)), wish)
