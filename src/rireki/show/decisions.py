"""Why each user-role entry of a conversation is shown as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from rireki.model.message import Message
from rireki.show.parts import gist
from rireki.show.safe import one_line

__all__ = ["Decision", "decisions"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """An entry the source wrote in the user's name, and what became of it."""

    position: int
    role: str
    flags: tuple[str, ...]
    rule: str
    author: str
    display: str
    label: str | None
    message: str
    words: str


def decisions(messages: Sequence[Message]) -> Iterator[Decision]:
    """Every entry that is not the agent's own, in order."""
    for message in messages:
        entry = message.entry
        if entry is None or entry.role == "assistant":
            continue
        yield Decision(
            position=entry.position,
            role=entry.role,
            flags=entry.flags,
            rule=entry.rule,
            author=message.author,
            display=message.display,
            label=message.label,
            message=message.id,
            words=one_line(gist(message))[:200],
        )
