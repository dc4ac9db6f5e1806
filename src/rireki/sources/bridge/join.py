"""One conversation from an agent's transcript and the journal of who drove it, nothing doubled.

What both have is told as the transcript has it. What only the journal has is put where it stood
between what both have. The transcript loses nothing, and its order stands. Knows messages only.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import msgspec

from rireki.model.message import Message
from rireki.model.parts import Attachment
from rireki.sources.bridge.matching import MessageMatcher, is_given, rule_of

__all__ = ["ONLY_HERE", "Joined", "join"]

ONLY_HERE = "only here"
#: What a prompt is called that no person was seen to type.
HEADLESS = "headless"


class Joined(msgspec.Struct):
    messages: list[Message]
    #: Those of the messages that only the journal has, and what they are called there.
    kept: list[Message]
    names: dict[str, str]


def join(
    transcript: Sequence[Message], journal: Sequence[Message], running: Container[str] = ()
) -> Joined:
    """`running` are the prompt and the stretches of a turn that goes on: they may still come."""
    twins = MessageMatcher(transcript, journal, running).find()
    places = _places(transcript, journal, twins)
    told = list(transcript)
    for mine, theirs in twins.items():
        if theirs is not None and rule_of(journal[mine]) == "prompt":
            told[theirs] = _as_sent(told[theirs], journal[mine])
    taken = {message.id for message in transcript}
    pieces: dict[int, list[Message]] = {}
    names: dict[str, str] = {}
    for at, place in places.items():
        message = _kept(journal[at], taken, running)
        names[message.id] = journal[at].id
        pieces.setdefault(place, []).append(message)
    return _merged(told, pieces, names)


def _merged(
    transcript: Sequence[Message], pieces: dict[int, list[Message]], names: dict[str, str]
) -> Joined:
    """Everything in order, the turns counted anew where prompts were put in."""
    joined = Joined([], [], names)
    added, turn = 0, None
    for place in range(len(transcript) + 1):
        for message in pieces.get(place, ()):
            if is_given(message):
                added += 1
                turn = (turn or 0) + 1
            message.turn = None if message.label == "queued" else turn
            joined.messages.append(message)
            joined.kept.append(message)
        if place < len(transcript):
            message = transcript[place]
            if message.turn is not None:
                turn = message.turn + added
                message = msgspec.structs.replace(message, turn=turn) if added else message
            joined.messages.append(message)
    return joined


def _kept(message: Message, taken: set[str], running: Container[str]) -> Message:
    """A message of the journal's under a name that no other has."""
    name = message.id
    while name in taken:
        name += "~"
    taken.add(name)
    only_here = rule_of(message) in ("text", "thought") and message.id not in running
    return msgspec.structs.replace(
        message, id=name, label=ONLY_HERE if only_here else message.label
    )


def _as_sent(message: Message, prompt: Message) -> Message:
    """A prompt with what the journal knows better: that somebody typed it, and the pictures that
    came with it, if the transcript did not keep them."""
    if message.label == HEADLESS:
        message = msgspec.structs.replace(message, label=None)
    # A name alone is no picture: what it named may be gone.
    known = [part for part in _pictures(message) if part.digest]
    sent = _pictures(prompt)
    digests = {part.digest for part in known}
    missing = [part for part in sent if part.digest not in digests]
    lacking = missing[: max(0, len(sent) - len(known))]
    return (
        msgspec.structs.replace(message, parts=[*message.parts, *lacking]) if lacking else message
    )


def _places(
    transcript: Sequence[Message], journal: Sequence[Message], twins: dict[int, int | None]
) -> dict[int, int]:
    """Before which message of the transcript each one that only the journal has is to stand."""
    found: dict[int, int] = {}
    ends = _next_twins(len(transcript), len(journal), twins)
    start = 0
    for at, message in enumerate(journal):
        twin = twins.get(at)
        if twin is not None:
            start = max(start, twin + 1)
        elif at not in twins:
            found[at] = start = _place(transcript, start, max(start, ends[at]), message.at)
    return found


def _next_twins(end: int, count: int, twins: dict[int, int | None]) -> list[int]:
    """For each message of the journal, where the next one that both have stands in the transcript."""
    found = [end] * count
    for at in range(count - 1, -1, -1):
        twin = twins.get(at)
        end = end if twin is None else min(end, twin)
        found[at] = end
    return found


def _place(transcript: Sequence[Message], start: int, end: int, at: str | None) -> int:
    """As late as can be, but before a turn that began after it (somebody typed elsewhere)."""
    for place in range(start, end):
        message = transcript[place]
        if message.author == "person" and message.at and at and message.at > at:
            return place
    return end


def _pictures(message: Message) -> list[Attachment]:
    return [part for part in message.parts if isinstance(part, Attachment)]
