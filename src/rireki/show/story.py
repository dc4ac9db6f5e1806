"""Which messages of a conversation are told, and which tool results belong under which call.

The same choice for text, Markdown and JSON. Knows nothing about how they look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall, ToolResult

__all__ = ["Placed", "Results", "Story", "choose", "plain_text", "results_by_call"]


class Story(NamedTuple):
    """A conversation with its messages, and the sub-agents it started."""

    conversation: Conversation
    messages: Sequence[Message]
    children: Sequence[Story] = ()


def choose(
    messages: Iterable[Message], everything: bool = False, upstream: bool = False
) -> list[Message]:
    """The whole story; with `everything` also what is hidden and earlier versions of rewritten
    messages, with `upstream` only what the source holds now."""
    return [
        message
        for message in messages
        if (everything or (message.display != "hidden" and message.replaced_by is None))
        and (not upstream or message.upstream == "present")
    ]


class Placed(NamedTuple):
    """A result and the message it came in."""

    result: ToolResult
    message: Message


class Results(NamedTuple):
    """Results by the message and the id of the call they belong to, and those that found none."""

    under: dict[tuple[str, str], list[Placed]]
    #: (message id, call id) of results that are told where they stand.
    alone: set[tuple[str, str]]


def results_by_call(messages: Sequence[Message]) -> Results:
    """Match by call id over the whole story; where an id was used twice, the last call before."""
    calls: dict[str, list[tuple[int, str]]] = {}
    for position, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls.setdefault(part.call_id, []).append((position, message.id))
    results = Results({}, set())
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


def plain_text(message: Message) -> str:
    """What was said in words."""
    return "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
