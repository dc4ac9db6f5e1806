"""Where everything of a story stands on the page, found out without making any of it.

Which messages are blocks, which are told inside others, what a reader knows when
a block begins, which messages lie on a branch that was left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from rireki.model.calls import PairedResults, results_by_call
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, Thinking, ToolCall, ToolResult
from rireki.show.html.markup import anchor
from rireki.show.spent import Spent, running_turns, spent_by_messages
from rireki.show.transcript import Transcript, unanswered

__all__ = [
    "Before",
    "TranscriptIndex",
    "TranscriptSpot",
    "Unit",
    "goes_on",
    "index",
    "model_of",
    "only_came",
]

#: Sub-agents by the message and the call that started them; None where that is not told.
Children: TypeAlias = dict[tuple[str, str] | None, list[Transcript]]


class Unit(NamedTuple):
    """What stands as one block on the page."""

    id: str
    #: This message and those told inside it.
    messages: tuple[str, ...]


class Before(NamedTuple):
    """What the reader of the page knows already when a block begins."""

    #: The bubble right before, where nothing else stands between.
    speaker: Message | None = None
    model: str | None = None
    #: When the last message was that has a time.
    at: str | None = None


class TranscriptSpot(NamedTuple):
    """A message that is a block of its own."""

    message: Message
    unit: Unit
    before: Before
    #: The how manieth block of this name it is; a source may name two messages alike.
    number: int
    #: The first message of the branch it lies on, where the person left that branch.
    branch: str | None
    #: The turn of which it is the last block.
    ends: int | None = None

    def anchor(self, prefix: str) -> str:
        name = anchor(self.message.id, prefix)
        return name if self.number == 1 else f"{name}~~{self.number}"


class TranscriptIndex(NamedTuple):
    story: Transcript
    spots: list[TranscriptSpot]
    #: The spot that tells a message.
    places: dict[str, int]
    results: PairedResults
    children: Children
    #: Prompts to which nothing was ever said.
    unanswered: set[str]
    #: What each turn took, as far as the messages say so themselves.
    spent: Mapping[int, Spent]


def index(story: Transcript) -> TranscriptIndex:
    results = results_by_call(story.messages)
    within = _within(results)
    branches = _branches(story.messages)
    spots: list[TranscriptSpot] = []
    before = Before()
    used: dict[str, int] = {}
    for message in story.messages:
        if _is_elsewhere(message, results) or _tells_nothing(message):
            continue
        used[message.id] = number = used.get(message.id, 0) + 1
        unit = Unit(message.id, (message.id, *within.get(message.id, ())))
        spots.append(TranscriptSpot(message, unit, before, number, branches.get(message.id)))
        before = _after(message, before)
    return TranscriptIndex(
        story,
        _ended(spots),
        _places(spots),
        results,
        _children(story),
        unanswered(story),
        spent_by_messages(story.messages),
    )


def _ended(spots: Sequence[TranscriptSpot]) -> list[TranscriptSpot]:
    """The last block of each turn knows that it is; a branch that was left has no end of its own."""
    turns = running_turns([spot.message for spot in spots])
    last = {turn: place for place, turn in enumerate(turns) if not spots[place].message.abandoned}
    return [
        spot._replace(ends=turn) if last.get(turn) == place else spot
        for place, (spot, turn) in enumerate(zip(spots, turns, strict=True))
    ]


def _places(spots: Sequence[TranscriptSpot]) -> dict[str, int]:
    """A message's own block goes before one that tells some of it, the first before others."""
    places: dict[str, int] = {}
    for place, spot in enumerate(spots):
        places.setdefault(spot.unit.id, place)
    for place, spot in enumerate(spots):
        for message in spot.unit.messages[1:]:
            places.setdefault(message, place)
    return places


def _within(results: PairedResults) -> dict[str, dict[str, None]]:
    """By message: the other messages whose results are told in it, in order."""
    within: dict[str, dict[str, None]] = {}
    for (owner, _), placed in results.under.items():
        for one in placed:
            if one.message.id != owner:
                within.setdefault(owner, {})[one.message.id] = None
    return within


def only_came(message: Message) -> bool:
    """Whether it holds nothing but results, and pictures that came with them."""
    found = False
    for part in message.parts:
        if isinstance(part, ToolResult):
            found = True
        elif not isinstance(part, Attachment):
            return False
    return found


def _is_elsewhere(message: Message, results: PairedResults) -> bool:
    """Whether all of it is told under the calls that asked for it."""
    return only_came(message) and not any(
        (message.id, part.call_id) in results.alone
        for part in message.parts
        if isinstance(part, ToolResult)
    )


def _tells_nothing(message: Message) -> bool:
    """An agent's empty words; whatever a person sent is told, were it empty."""
    if message.display != "bubble" or message.author == "person":
        return False
    return all(
        isinstance(part, Text | Thinking) and not part.text.strip() for part in message.parts
    )


def goes_on(message: Message, before: Before) -> bool:
    """Whether it is still the same one speaking, so that nothing has to be said about it again."""
    last = before.speaker
    return (
        last is not None
        and message.display == "bubble"
        and message.author == last.author != "person"
        and message.label == last.label
        # Not every message of one answer names its model.
        and model_of(message) in (None, before.model)
        and message.upstream == last.upstream
        and message.abandoned == last.abandoned
        and (message.replaced_by is None) == (last.replaced_by is None)
    )


def model_of(message: Message) -> str | None:
    """The model that wrote it. A name in angle brackets says that the program did: no model."""
    return None if message.model and message.model.startswith("<") else message.model


def _after(message: Message, before: Before) -> Before:
    at = message.at or before.at
    if message.display != "bubble":
        return Before(None, before.model, at)
    return Before(message, model_of(message) or before.model, at)


def _branches(messages: Sequence[Message]) -> dict[str, str]:
    """By message: the first message of its branch, for those on branches that were left.

    What was left stands together; where it begins twice from one message, these are two.
    """
    branches: dict[str, str] = {}
    first: Message | None = None
    for message in messages:
        if not message.abandoned:
            first = None
            continue
        again = first is not None and message.parent is not None and message.parent == first.parent
        if first is None or again:
            first = message
        branches[message.id] = first.id
    return branches


def _children(story: Transcript) -> Children:
    if not story.children:
        return {}
    calls = {
        link.id: link.call_id
        for link in story.conversation.links
        if link.kind == "subagent" and link.side == "child"
    }
    started: dict[str, tuple[str, str]] = {}
    for message in story.messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                started.setdefault(part.call_id, (message.id, part.call_id))
    children: Children = {}
    for child in story.children:
        call = calls.get(child.conversation.id)
        place = started.get(call) if call is not None else None
        children.setdefault(place, []).append(child)
    return children
