"""Which tool results belong under which call, in the messages of any source.

By call id over the whole conversation, never by position. Three neighbours are no copies of this:
`Tally` only counts distinct ids while a conversation is read; `providers/pairing.py` pairs what goes
to a model, where ids may be missing and every call needs exactly one result; `search/text/documents.py`
sees messages one by one and wants no more than the name of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rireki.model.message import Message
from rireki.model.parts import ToolCall, ToolResult

__all__ = ["PairedResults", "Placed", "results_by_call"]


class Placed(NamedTuple):
    """A result and the message it came in."""

    result: ToolResult
    message: Message


class PairedResults(NamedTuple):
    """Results by the message and the id of the call they belong to, and those that found none."""

    under: dict[tuple[str, str], list[Placed]]
    #: (message id, call id) of results that are told where they stand.
    alone: set[tuple[str, str]]


def results_by_call(messages: Sequence[Message]) -> PairedResults:
    """Match by call id over the whole story; where an id was used twice, the last call before."""
    calls: dict[str, list[tuple[int, str]]] = {}
    for position, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls.setdefault(part.call_id, []).append((position, message.id))
    results = PairedResults({}, set())
    for position, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolResult):
                owner = _owner(calls.get(part.call_id, []), position)
                if owner is None:
                    results.alone.add((message.id, part.call_id))
                else:
                    placed = results.under.setdefault((owner, part.call_id), [])
                    placed.append(Placed(part, message))
    return results


def _owner(calls: Sequence[tuple[int, str]], position: int) -> str | None:
    before = [owner for place, owner in calls if place <= position]
    if before:
        return before[-1]
    return calls[0][1] if calls else None
