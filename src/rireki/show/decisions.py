"""Why each user-role entry of a conversation is shown as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.show.parts import gist
from rireki.show.safe import one_line
from rireki.sources import registry
from rireki.sources.bridge.reader import REASONS as JOURNAL

__all__ = ["Decision", "decisions", "explained", "may_be_typed"]

#: What a skill's text begins with: all that a reader can go by who looks at no flags.
_SKILL = "Base directory for this skill:"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """An entry the source wrote in the user's name, and what became of it."""

    position: int
    role: str
    flags: tuple[str, ...]
    rule: str
    #: The rule in words.
    why: str
    author: str
    display: str
    label: str | None
    message: str
    words: str
    #: How it would be shown by its text alone: as something typed, or as a skill's chip.
    by_text: str


def explained(about: Conversation, messages: Sequence[Message]) -> Iterator[Decision]:
    """Every entry that is not the agent's own, in order, in the words of its reader."""
    return decisions(messages, _reasons(about.source))


def _reasons(source: str) -> Mapping[str, str]:
    """In the words of the source's reader; a driven conversation of any source has a journal's rules, too."""
    own: Mapping[str, str] = getattr(registry.reader(source), "reasons", {})
    return {**JOURNAL, **own}


def decisions(messages: Sequence[Message], reasons: Mapping[str, str]) -> Iterator[Decision]:
    for message in messages:
        entry = message.entry
        if entry is None or entry.role == "assistant":
            continue
        yield Decision(
            position=entry.position,
            role=entry.role,
            flags=entry.flags,
            rule=entry.rule,
            why=reasons.get(entry.rule, entry.rule),
            author=message.author,
            display=message.display,
            label=message.label,
            message=message.id,
            words=one_line(gist(message))[:200],
            by_text="chip" if _is_skill(message) else "bubble",
        )


def may_be_typed(decision: Decision) -> bool:
    """Whether one has to ask if somebody typed it: results of tools and the program's own lines, no."""
    if decision.author == "person":
        return True
    return decision.role == "user" and decision.author != "tool"


def _is_skill(message: Message) -> bool:
    return any(isinstance(part, Text) and part.text.startswith(_SKILL) for part in message.parts)
