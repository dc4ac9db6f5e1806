"""From messages in order to a conversation: what all readers do alike once they know what was said.

A reader makes `PendingMessage`s; here they get names of their own and the numbers of their turns, are
counted, and become a `Conversation`. Two readers put the message itself off and hold lines instead:
Claude Code's (`TranscriptMessage`), because a first import must not decode what only a page shows, and
the bridge's (`JournalMessage`), because later lines say what an earlier one becomes. Both count with the
same `Tally` while they read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rireki.model.clusters import beginning
from rireki.model.conversation import Conversation, ConversationUpstream
from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import Part, Text, Unknown
from rireki.model.strand import Ref
from rireki.model.tally import Tally

__all__ = [
    "PendingMessage",
    "conversation_of",
    "count",
    "first_words",
    "make_unique",
    "pending",
    "unknown",
    "upstream_of",
]

TITLE = 200


@dataclass(slots=True)
class PendingMessage:
    """A message and what counting still needs to know."""

    message: Message
    #: A person typed it (or chose it by a key): it starts a turn.
    typed: bool = False
    #: True: the agent had its say. False: something is still to come. None: does not matter.
    ends: bool | None = None
    #: The records it was made of, where they are known.
    refs: list[Ref] = field(default_factory=list)

    @property
    def announces(self) -> bool:
        """Whether it belongs to the turn of the prompt that follows."""
        return False

    @property
    def has_turn(self) -> bool:
        """Whether it stands in a turn, not between two."""
        return True


def pending(
    name: str,
    author: Author,
    display: Display,
    parts: Sequence[Part],
    rule: str,
    *,
    label: str | None = None,
    flags: tuple[str, ...] = (),
    ends: bool | None = None,
) -> PendingMessage:
    """A message that the rule of this name decided. Its place and type are noted later."""
    message = Message(
        id=name,
        author=author,
        display=display,
        label=label,
        parts=list(parts),
        entry=Entry(0, "", flags, rule),
    )
    return PendingMessage(message, ends=ends)


def unknown(name: str, what: str, raw: Any) -> PendingMessage:
    """Something we do not understand: kept, shown folded."""
    return pending(name, "harness", "fold", [Unknown(what, raw)], "not understood", label=what)


def make_unique(flow: Sequence[PendingMessage]) -> set[str]:
    """Give every message an id of its own; returns the ids."""
    seen: set[str] = set()
    for one in flow:
        name, number = one.message.id, 1
        while one.message.id in seen:
            number += 1
            one.message.id = f"{name}.{number}"
        seen.add(one.message.id)
    return seen


def count(flow: Sequence[PendingMessage], entries: int) -> Tally:
    """Count, and give every message the number of its turn."""
    tally = Tally()
    tally.entries = entries
    turn: int | None = None
    waiting: list[Message] = []
    for one in flow:
        message = one.message
        if one.typed:
            turn = tally.typed()
            for early in waiting:
                early.turn = turn
        message.turn = turn if one.has_turn else None
        waiting = [*waiting, message] if one.announces else []
        tally.messages += message.display != "hidden" and message.replaced_by is None
        tally.note(message.parts)
    tally.finished = _finished(flow)
    return tally


def _finished(flow: Sequence[PendingMessage]) -> bool:
    """Whether the agent had its say, in what the source holds now, or in what it held last."""
    said = [one for one in flow if one.ends is not None]
    said = [one for one in said if one.message.upstream == "present"] or said
    if said:
        return said[-1].ends is True
    # Nothing but what was shown: a command to the client, which it answers itself, asks for nothing.
    messages = [one.message for one in flow]
    spoken = [m.author for m in messages if m.display == "bubble" and m.replaced_by is None]
    return not spoken or spoken[-1] != "person"


def upstream_of(present: bool, messages: Iterable[Message]) -> ConversationUpstream:
    """What the source still has of it; `present` says that it has the conversation at all."""
    if not present:
        return "gone"
    return "changed" if any(message.upstream == "gone" for message in messages) else "present"


def conversation_of(
    source: str, native_id: str, tally: Tally, times: Iterable[str | None], **facts: Any
) -> Conversation:
    """A conversation with its counts; `times` are all that are known of it, in any order."""
    known = [time for time in times if time]
    conversation = Conversation(
        id=f"{source}/{native_id}",
        source=source,
        native_id=native_id,
        started_at=min(known, default=None),
        updated_at=max(known, default=None),
        **facts,
    )
    tally.fill(conversation)
    return conversation


def first_words(messages: Iterable[Message]) -> str:
    """A title made of the first of these messages that says something."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and part.text.strip():
                return beginning(" ".join(part.text.split()), TITLE)
    return ""
