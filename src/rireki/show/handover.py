"""What was said so far, for another agent: how it began, and the newest of it, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from rireki.model.calls import PairedResults, results_by_call
from rireki.model.message import Message
from rireki.model.parts import Text, Thinking
from rireki.show.markdown import message_lines
from rireki.show.transcript import choose

__all__ = ["SoFar", "so_far"]

#: Characters: what every model can take and still have room to work in.
BUDGET = 40_000


class SoFar(NamedTuple):
    """Markdown; the opening is empty where the newest reaches back to it."""

    opening: str
    #: Messages between the two that found no room.
    left_out: int
    newest: str


def so_far(messages: Sequence[Message], budget: int = BUDGET) -> SoFar:
    """The way that was taken, without what the agent only thought and without what was hidden."""
    told = [_spoken(message) for message in choose(messages) if not message.abandoned]
    results = results_by_call(told)
    first = next((place for place, message in enumerate(told) if _is_prompt(message)), 0)
    opening = _markdown(told[first], results, budget // 4) if told else ""
    room = budget - len(opening)
    newest: list[str] = []
    place = len(told)
    while place > 0:
        # The last message is there in any case, as much of it as there is room for.
        text = _markdown(told[place - 1], results, room if not newest else budget)
        if len(text) > room:
            break
        newest.append(text)
        room -= len(text) + 2
        place -= 1
    found = "\n\n".join(text for text in reversed(newest) if text)
    return SoFar(opening, place - first - 1, found) if place > first else SoFar("", 0, found)


def _spoken(message: Message) -> Message:
    parts = [part for part in message.parts if not isinstance(part, Thinking)]
    return msgspec.structs.replace(message, parts=parts)


def _is_prompt(message: Message) -> bool:
    return message.author == "person" and any(isinstance(part, Text) for part in message.parts)


def _markdown(message: Message, results: PairedResults, most: int) -> str:
    if not message.parts:
        return ""
    text = "\n".join(message_lines(message, results)).strip("\n")
    if len(text) > most:
        half = max(most // 2 - 10, 0)
        text = f"{text[:half]}\n\n[…]\n\n{text[len(text) - half :]}"
    # A fence that nothing closes would swallow all that follows.
    return text.replace("```", "'''") if text.count("```") % 2 else text
