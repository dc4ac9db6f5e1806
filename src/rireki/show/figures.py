"""Conversations counted, by pattern, tools, flags and tokens: what every face tells as statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rireki.archive.base import Filter

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.model.conversation import Answer, Conversation, Pattern
    from rireki.model.message import Usage

__all__ = ["answers_once", "count_all", "figures", "percent", "tokens_by_model"]

PATTERNS: tuple[Pattern, ...] = ("simple", "single tool", "several tools")


def figures(archive: Archive, source: str | None = None) -> dict[str, Any]:
    """Everything `rireki stats --json` tells, of all sources or of one."""
    found = list(archive.conversations(Filter(source=source, subagents=True)))
    tokens = tokens_by_model(answers_once(archive.answers(source)))
    return {**count_all(found), "tokens": tokens}


def count_all(found: Sequence[Conversation]) -> dict[str, Any]:
    """Everything but the tokens, as programs read it."""
    own = [c for c in found if c.nature == "conversation"]
    patterns = Counter(c.pattern for c in own)
    entries = [c.entries for c in own]
    uses = [sum(c.tools.values()) for c in found]
    flags: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for conversation in found:
        flags.update(conversation.flags)
        tools.update(conversation.tools)
    return {
        "conversations": len(own),
        "subagents": sum(c.nature == "subagent" for c in found),
        "prompts_only": sum(c.nature == "prompts" for c in found),
        "sources": dict(Counter(c.source for c in own).most_common()),
        "upstream": dict(Counter(c.upstream for c in own)),
        "patterns": {
            name: {"count": patterns[name], "percent": percent(patterns[name], len(own))}
            for name in PATTERNS
        },
        # Beside the patterns: what is unfinished has one of them, too.
        "unfinished": {
            "count": (unfinished := sum(c.unfinished for c in own)),
            "percent": percent(unfinished, len(own)),
        },
        "turns": sum(c.turns for c in own),
        "entries": {
            "min": min(entries, default=0),
            "mean": round(sum(entries) / len(entries), 1) if entries else 0,
            "max": max(entries, default=0),
        },
        "tool_uses": {"total": sum(uses), "max": max(uses, default=0)},
        "tools": dict(tools.most_common()),
        "flags": dict(flags.most_common()),
    }


def percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def answers_once(found: Iterable[tuple[str, Sequence[Answer]]]) -> Iterable[tuple[str, Answer]]:
    """Each answer once, however many conversations repeat it, with the one that counts most of it."""
    best: dict[str, tuple[str, Answer]] = {}
    for conversation, answers in found:
        for answer in answers:
            known = best.get(answer.key)
            if known is None or answer.usage.output_tokens > known[1].usage.output_tokens:
                best[answer.key] = (conversation, answer)
    return best.values()


def tokens_by_model(answers: Iterable[tuple[str, Answer]]) -> dict[str, dict[str, int | bool]]:
    models: dict[str, dict[str, int | bool]] = {}
    for _, answer in answers:
        if answer.has_tokens:
            _add(models.setdefault(answer.model, {"answers": 0}), answer.usage)
    return dict(sorted(models.items()))


def _add(total: dict[str, int | bool], usage: Usage) -> None:
    total["answers"] += 1
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        total[name] = total.get(name, 0) + getattr(usage, name)
    total["lower_bound"] = bool(total.get("lower_bound")) or usage.lower_bound
