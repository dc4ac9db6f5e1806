"""What a conversation cost, its sub-agents included: for rows of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rireki.archive.base import Archive
from rireki.model.conversation import Answer, Conversation
from rireki.model.prices import Prices

__all__ = ["Cost", "costs_of"]


class Cost(NamedTuple):
    #: US dollars of the answers whose cost is known; None where nobody knows any.
    known: float | None
    #: Whether there was more: answers without a price, or noted only when they began.
    least: bool


def costs_of(
    archive: Archive, rows: Sequence[Conversation], prices: Prices | None
) -> dict[str, Cost]:
    """By id, where money is shown and an answer of a model was noted."""
    if prices is None:
        return {}
    own = {about.id: [about.id, *_subagents(about)] for about in rows}
    answers = archive.answers_of([id for ids in own.values() for id in ids])
    found = {}
    for id, ids in own.items():
        cost = _cost((one for each in ids for one in answers.get(each, ())), prices)
        if cost is not None:
            found[id] = cost
    return found


def _subagents(about: Conversation) -> list[str]:
    return [link.id for link in about.links if link.kind == "subagent" and link.side == "child"]


def _cost(answers: Iterable[Answer], prices: Prices) -> Cost | None:
    # A sub-agent's file may repeat what its spawner has.
    once = {answer.key: answer for answer in answers if answer.has_tokens}
    if not once:
        return None
    known = [prices.cost(answer) for answer in once.values()]
    told = [cost for cost in known if cost is not None]
    bounded = any(answer.usage.lower_bound for answer in once.values())
    return Cost(sum(told) if told else None, bounded or len(told) < len(known))
