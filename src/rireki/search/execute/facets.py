"""What the messages that answer a query have in common: how many are of each source, project, tool …

Counted by the index, and by reading what it does not have yet. Where only the texts can decide what
answers, nothing is counted: a number that may be too high would be worse than none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from rireki.archive.base import Heading
from rireki.model.when import when
from rireki.search.execute.run import Hunt
from rireki.search.language.match import Doc, Matcher
from rireki.search.language.query import And, FilterName, FilterNode, Query

__all__ = ["FACETS", "PERIODS", "Facet", "FacetValue", "added_up", "facets_of"]

#: What results can be narrowed down by, as the query language calls it.
FACETS = ("source", "project", "author", "tool", "model", "since")
AUTHORS = ("person", "agent", "tool", "harness")
#: Since when, as the query language says it.
PERIODS = ("1d", "7d", "30d", "365d")
#: Values of a facet that are told, and conversations that are looked at for the names of tools and models.
MOST, LOOKED = 12, 400


class FacetValue(NamedTuple):
    value: str
    messages: int


class Facet(NamedTuple):
    name: str
    #: Those with the most messages first; periods in their order.
    values: list[FacetValue]


def facets_of(hunt: Hunt, now: datetime) -> list[Facet]:
    """Every facet that could leave something out; none where the index cannot decide."""
    planner, reader = hunt.planner, hunt.view.reader
    if planner is None or reader is None or not hunt.plan.exact:
        return []
    totals = reader.per_conversation(planner.messages(hunt.plan, hunt.query.root))
    headings = hunt.view.headings_of(totals)
    counted = [(headings[each], count) for each, count in totals.items() if each in headings]
    direct = list(_answering(hunt))
    made = {
        "source": _by_heading(counted, direct, "source"),
        "project": _by_heading(counted, direct, "project"),
        **_by_fact(hunt, counted, direct),
        "since": _by_time(hunt, direct, now),
    }
    whole = sum(count for _, count in counted) + len(direct)
    return [Facet(name, values) for name in FACETS if _narrows(values := made[name], whole)]


def added_up(told: Sequence[Sequence[Facet]]) -> list[Facet]:
    """The facets of several indexes as those of one."""
    sums: dict[str, Counter[str]] = {}
    for facet in chain.from_iterable(told):
        values = sums.setdefault(facet.name, Counter())
        for value, messages in facet.values:
            values[value] += messages
    found = []
    for name, counted in sums.items():
        in_order = [(each, counted[each]) for each in PERIODS if each in counted]
        chosen = in_order if name == "since" else counted.most_common(MOST)
        found.append(Facet(name, [FacetValue(*each) for each in chosen]))
    return sorted(found, key=lambda facet: FACETS.index(facet.name))


def _narrows(values: list[FacetValue], whole: int) -> bool:
    return any(0 < one.messages < whole for one in values)


def _answering(hunt: Hunt) -> Iterator[tuple[Heading, Doc]]:
    """Messages that the index does not have."""
    for heading, docs in hunt.direct_docs():
        for doc in docs:
            if hunt.matcher.matches(heading, doc):
                yield heading, doc


def _by_heading(
    counted: Iterable[tuple[Heading, int]], direct: Iterable[tuple[Heading, Doc]], name: str
) -> list[FacetValue]:
    sums: Counter[str] = Counter()
    for heading, count in counted:
        sums[getattr(heading, name) or ""] += count
    for heading, _ in direct:
        sums[getattr(heading, name) or ""] += 1
    del sums[""]
    return [FacetValue(*one) for one in sums.most_common(MOST)]


def _by_fact(
    hunt: Hunt, counted: list[tuple[Heading, int]], direct: list[tuple[Heading, Doc]]
) -> dict[str, list[FacetValue]]:
    """What is asked of single messages: who speaks, with which tool, which model."""
    headings = sorted(counted, key=lambda one: -one[1])[:LOOKED]
    ids = {heading.id for heading, _ in [*headings, *direct]}
    known = hunt.library.archive.pick(list(ids))
    tools = Counter(tool for about in known.values() for tool in about.tools)
    models = Counter(model for about in known.values() for model in about.models)
    names: dict[FilterName, list[str]] = {
        "author": list(AUTHORS),
        "tool": [name for name, _ in tools.most_common(MOST)],
        "model": [name for name, _ in models.most_common(MOST)],
    }
    return {
        kind: sorted(
            (
                FacetValue(value, number)
                for value in values
                if (number := _count(hunt, direct, FilterNode(kind, value)))
            ),
            key=lambda one: -one.messages,
        )
        for kind, values in names.items()
    }


def _by_time(hunt: Hunt, direct: list[tuple[Heading, Doc]], now: datetime) -> list[FacetValue]:
    found: list[FacetValue] = []
    for name in PERIODS:
        number = _count(hunt, direct, FilterNode("since", when(name, now)))
        # A longer time with no more in it says nothing.
        if number and (not found or number > found[-1].messages):
            found.append(FacetValue(name, number))
    return found


def _count(hunt: Hunt, direct: list[tuple[Heading, Doc]], node: FilterNode) -> int:
    """How many messages answer that also pass a filter."""
    assert hunt.planner is not None and hunt.view.reader is not None
    plan = hunt.planner.both(hunt.plan, hunt.planner.plan(node))
    root = node if hunt.query.root is None else And((hunt.query.root, node))
    query = hunt.planner.messages(plan, root)
    found: Any = hunt.view.reader.searcher.search(query, limit=1, count=True)
    matcher = Matcher(Query("", node))
    return int(found.count or 0) + sum(matcher.matches(heading, doc) for heading, doc in direct)
