"""Conversations that hold all words of a query, though no single message does.

Looked for only when nothing else was found: half an answer is better than a "no"
that is not quite true.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from rireki.search.execute.run import LOOKS, Candidate, Group, Hunt
from rireki.search.execute.view import SearchView
from rireki.search.language.query import And, FilterNode, Node, Not, Or, Query, all_of
from rireki.search.results import SearchOptions
from rireki.search.text.text_store import TextStore

__all__ = ["hunt_apart"]

#: Among more conversations than this, those that have none of the best hits are not told apart.
FEW = 30


def hunt_apart(
    library: TextStore, view: SearchView, query: Query, wish: SearchOptions
) -> tuple[Hunt, list[Group]] | None:
    """The hunt for any of the words in the conversations that have them all; None if there are none."""
    if not isinstance(query.root, And):
        return None
    conditions = [node for node in query.root.children if isinstance(node, FilterNode | Not)]
    words = [node for node in query.root.children if not isinstance(node, FilterNode | Not)]
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
    ranked = _ranked(common, hunts)[: wish.offset + wish.limit + 1]
    either = _hunt(library, view, query, wish, [Or(tuple(words)), *conditions])
    groups = {group.heading.id: group for group in either.gather(set(ranked))}
    either.exhausted = len(ranked) == len(common)
    found = [groups[id] for id in ranked if id in groups]
    _lead(found[wish.offset : wish.offset + wish.limit], either, hunts)
    return either, found


def _ranked(talks: set[str], hunts: list[Hunt]) -> list[str]:
    """The conversations with the best hits for all of the words first; or with the newest hit."""
    orders: dict[str, list[float]] = {id: [] for id in talks}
    for hunt in hunts:
        for id, hit in hunt.bests(talks, LOOKS if len(talks) <= FEW else 1).items():
            if id in orders:
                orders[id].append(hit.order)
    together: Callable[[list[float]], float] = partial(max, default=0) if hunts[0].by_time else sum
    return sorted(talks, key=lambda id: (-together(orders[id]), id))


def _lead(groups: list[Group], either: Hunt, hunts: list[Hunt]) -> None:
    """Let the best hit of each conversation be followed by one for every word that is not shown so far."""
    talks = {group.heading.id for group in groups}
    for hunt in hunts:
        hunt.bests(talks)
    for group in groups:
        id = group.heading.id
        found = [(_own(group, hunt.best[id]), hunt) for hunt in hunts if id in hunt.best]
        found.sort(key=lambda each: -each[0].order)
        group.leading = sorted(group.messages, key=lambda hit: -hit.order)[:1]
        either.bring_texts([*group.leading, *(hit for hit, _ in found)])
        for hit, hunt in found:
            docs = [shown.doc for shown in group.leading if shown.doc is not None]
            if not any(hunt.matcher.matches(group.heading, doc) for doc in docs):
                group.leading.append(hit)


def _own(group: Group, hit: Candidate) -> Candidate:
    """The same hit as the conversation has it: what is known of it need not be fetched again."""
    return next((own for own in group.hits if own.is_same(hit)), hit)


def _hunt(
    library: TextStore, view: SearchView, query: Query, wish: SearchOptions, nodes: list[Node]
) -> Hunt:
    return Hunt(library, view, msgspec.structs.replace(query, root=all_of(nodes)), wish)
