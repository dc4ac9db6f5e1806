"""What each turn of a conversation took: its tokens, and what they cost where that is known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rireki.model.conversation import Answer, total_usage
from rireki.model.message import Message, Usage
from rireki.model.prices import Prices

__all__ = ["Spent", "running_turns", "spent_by_answers", "spent_by_messages"]


class Spent(NamedTuple):
    usage: Usage
    #: US dollars; None where nobody knows, or nobody wants to.
    cost: float | None = None
    #: Whether some of it is not in the cost.
    least: bool = False


def running_turns(messages: Sequence[Message]) -> list[int]:
    """The turn each message belongs to; what has none of its own belongs to the one before."""
    turns, turn = [], 0
    for message in messages:
        turn = message.turn or turn
        turns.append(turn)
    return turns


def spent_by_messages(messages: Sequence[Message]) -> dict[int, Spent]:
    """By what the messages themselves carry, which few sources note."""
    found: dict[int, list[Usage]] = {}
    for turn, message in zip(running_turns(messages), messages, strict=True):
        if message.usage is not None:
            found.setdefault(turn, []).append(message.usage)
    return {turn: Spent(_sum(usages)) for turn, usages in found.items()}


def spent_by_answers(
    messages: Sequence[Message], answers: Sequence[Answer], prices: Prices | None
) -> Mapping[int, Spent]:
    """By the answers, each in the turn that had begun when it came; one without a time is in none."""
    begins: dict[int, str] = {}
    for turn, message in zip(running_turns(messages), messages, strict=True):
        if message.at:
            begins[turn] = min(message.at, begins.get(turn, message.at))
    order = sorted((at, turn) for turn, at in begins.items())
    found: dict[int, list[Answer]] = {}
    for answer in answers:
        place = bisect_right(order, answer.at, key=lambda one: one[0]) if answer.at else 0
        if place:
            found.setdefault(order[place - 1][1], []).append(answer)
    return {turn: _spent(some, prices) for turn, some in found.items()}


def _spent(answers: Sequence[Answer], prices: Prices | None) -> Spent:
    costs = [prices.cost(answer) if prices else None for answer in answers]
    known = [cost for cost in costs if cost is not None]
    usage = total_usage(answers) or Usage()
    cost = sum(known) if known else None
    return Spent(usage, cost, usage.lower_bound or len(known) < len(costs))


def _sum(usages: Sequence[Usage]) -> Usage:
    return Usage(
        sum(usage.input_tokens for usage in usages),
        sum(usage.output_tokens for usage in usages),
        sum(usage.cache_read_tokens for usage in usages),
        sum(usage.cache_write_tokens for usage in usages),
        any(usage.lower_bound for usage in usages),
    )
