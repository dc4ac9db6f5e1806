"""Why each user-role entry of a conversation is shown as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.show.parts import gist
from rireki.show.safe import one_line
from rireki.sources import registry
from rireki.sources.bridge.reader import REASONS as JOURNAL

__all__ = [
    "Combination",
    "ComparedEntry",
    "RuleComparison",
    "Decision",
    "compare",
    "decisions",
    "explained",
    "may_be_typed",
]

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


class Combination(msgspec.Struct, frozen=True):
    """Flags that stand together on entries, how often, and an example."""

    flags: tuple[str, ...]
    count: int
    example: str


class ComparedEntry(msgspec.Struct, frozen=True):
    """One entry, judged both ways."""

    position: int
    flags: tuple[str, ...]
    by_text: str
    ours: str
    why: str
    differs: bool
    message: str
    words: str


class RuleComparison(msgspec.Struct, frozen=True):
    entries: int
    different: int
    #: How many are shown otherwise, by the reason.
    reasons: dict[str, int]
    combinations: list[Combination]
    rows: list[ComparedEntry]


def compare(typed: Sequence[Decision]) -> RuleComparison:
    """What a reader would show who goes by the text of user-role entries alone, against what we show.

    Such a reader takes everything that is no tool's result for typed, but for the text of a skill.
    """
    rows = [_row(decision) for decision in typed]
    reasons = Counter(row.why for row in rows if row.differs)
    return RuleComparison(
        len(rows), sum(reasons.values()), dict(reasons.most_common()), _combinations(typed), rows
    )


def _row(decision: Decision) -> ComparedEntry:
    ours = shown_as(decision)
    by_text = "your message" if decision.by_text == "bubble" else "chip"
    return ComparedEntry(
        decision.position,
        decision.flags,
        by_text,
        ours,
        decision.why,
        by_text != ours,
        decision.message,
        decision.words or decision.label or "",
    )


def shown_as(decision: Decision) -> str:
    if decision.display == "bubble":
        return "your message" if decision.author == "person" else "another's message"
    return decision.display


def _combinations(typed: Sequence[Decision]) -> list[Combination]:
    counts = Counter(decision.flags for decision in typed)
    first = {decision.flags: decision.words for decision in reversed(typed)}
    return [Combination(flags, count, first[flags]) for flags, count in counts.most_common()]
