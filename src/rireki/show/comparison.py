"""What a reader would show who goes by the text of user-role entries alone, against what we show.

Such a reader takes everything that is no tool's result for typed, but for the text of a skill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from rireki.show.decisions import Decision

__all__ = ["Combination", "Comparison", "ComparedEntry", "compare"]


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


class Comparison(msgspec.Struct, frozen=True):
    entries: int
    different: int
    #: How many are shown otherwise, by the reason.
    reasons: dict[str, int]
    combinations: list[Combination]
    rows: list[ComparedEntry]


def compare(typed: Sequence[Decision]) -> Comparison:
    rows = [_row(decision) for decision in typed]
    reasons = Counter(row.why for row in rows if row.differs)
    return Comparison(
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
