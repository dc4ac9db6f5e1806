"""`rireki stats`: conversations counted, by pattern, tools, flags and tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from rireki.faces.cli.options import archive_option, json_option, opened, source_option

if TYPE_CHECKING:
    from rireki.faces.cli.output import Screen
    from rireki.model.conversation import Answer, Conversation, Pattern
    from rireki.model.message import Usage

__all__ = ["command"]

PATTERNS: tuple[Pattern, ...] = ("simple", "single tool", "several tools", "unfinished")


@click.command("stats", short_help="Conversations counted: patterns, tools, tokens.")
@source_option(False, "Only this source.")
@json_option
@archive_option
def command(source: str | None, as_json: bool) -> None:
    """Count conversations by pattern, their entries and tool uses, the source's flags, and tokens.

    An answer that several files repeat is counted once. A sub-agent's tokens,
    tools and flags count; it is not a conversation of yours.

    \b
    Examples:
      rireki stats
      rireki stats --source amazon-q --json
    """
    from rireki.archive.base import Filter
    from rireki.faces.cli.output import Screen

    screen = Screen()
    with opened() as archive:
        found = list(archive.conversations(Filter(source=source, subagents=True)))
        usage = tokens_by_model(answers for _, answers in archive.answers(source))
    figures = count_all(found)
    if as_json:
        screen.json([{**figures, "tokens": usage}])
    else:
        screen.say(_told(figures, usage, screen))


def count_all(found: Sequence[Conversation]) -> dict[str, Any]:
    """Everything but the tokens, as programs read it."""
    own = [c for c in found if c.nature == "conversation"]
    patterns = Counter(c.pattern for c in own)
    entries = [c.entries for c in own]
    uses = [c.tool_calls for c in found]
    flags: Counter[str] = Counter()
    for conversation in found:
        flags.update(conversation.flags)
    return {
        "conversations": len(own),
        "subagents": sum(c.nature == "subagent" for c in found),
        "prompts_only": sum(c.nature == "prompts" for c in found),
        "sources": dict(Counter(c.source for c in own).most_common()),
        "upstream": dict(Counter(c.upstream for c in own)),
        "patterns": {
            name: {"count": patterns[name], "percent": _percent(patterns[name], len(own))}
            for name in PATTERNS
        },
        "turns": sum(c.turns for c in own),
        "entries": {
            "min": min(entries, default=0),
            "mean": round(sum(entries) / len(entries), 1) if entries else 0,
            "max": max(entries, default=0),
        },
        "tool_uses": {"total": sum(uses), "max": max(uses, default=0)},
        "flags": dict(flags.most_common()),
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def tokens_by_model(conversations: Iterable[Sequence[Answer]]) -> dict[str, dict[str, int | bool]]:
    """Each answer once, however many files repeat it; the fullest count of it is the right one."""
    best: dict[str, Answer] = {}
    for answers in conversations:
        for answer in answers:
            known = best.get(answer.key)
            if known is None or answer.usage.output_tokens > known.usage.output_tokens:
                best[answer.key] = answer
    models: dict[str, dict[str, int | bool]] = {}
    for answer in best.values():
        _add(models.setdefault(answer.model, {"answers": 0}), answer.usage)
    return dict(sorted(models.items()))


def _add(total: dict[str, int | bool], usage: Usage) -> None:
    total["answers"] += 1
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        total[name] = total.get(name, 0) + getattr(usage, name)
    total["lower_bound"] = bool(total.get("lower_bound")) or usage.lower_bound


def _told(
    figures: dict[str, Any], usage: dict[str, dict[str, int | bool]], screen: Screen
) -> Iterator[str]:
    from rireki.show.safe import one_line
    from rireki.show.words import count

    heading = screen.style.bold
    beside = {
        "subagents": count(figures["subagents"], "sub-agent"),
        "prompts_only": f"{figures['prompts_only']:,} with only the prompts left",
    }
    yield heading(count(figures["conversations"], "conversation"))
    yield from _bars({name: value["count"] for name, value in figures["patterns"].items()}, screen)
    if said := [words for name, words in beside.items() if figures[name]]:
        yield screen.style.dim(f"  besides: {', '.join(said)}")
    yield ""
    yield heading("Where from, and what is left there")
    yield from _bars(figures["sources"], screen)
    yield "  " + ", ".join(f"{number:,} {state}" for state, number in figures["upstream"].items())
    yield ""
    entries, uses = figures["entries"], figures["tool_uses"]
    yield heading("Size")
    yield f"  turns      {figures['turns']:,}"
    yield f"  entries    {entries['min']:,} least, {entries['mean']:,} mean, {entries['max']:,} most"
    yield f"  tool uses  {uses['total']:,} in all, {uses['max']:,} most"
    if figures["flags"]:
        yield from ["", heading("Flags on user-role entries")]
        for name, number in figures["flags"].items():
            yield f"  {number:>9,}  {one_line(name)}"
    if usage:
        yield from ["", heading("Tokens")]
        yield from _tokens(usage, screen)


def _bars(numbers: dict[str, int], screen: Screen) -> Iterator[str]:
    whole = sum(numbers.values())
    longest = max(map(len, numbers), default=0)
    for name, number in numbers.items():
        bar = screen.style.cyan("━" * round(24 * number / whole)) if whole else ""
        yield f"  {name:<{longest}}  {number:>6,}  {_percent(number, whole):>5}%  {bar}".rstrip()


def _tokens(usage: dict[str, dict[str, int | bool]], screen: Screen) -> Iterator[str]:
    from rireki.show.safe import one_line
    from rireki.show.width import pad, width

    longest = min(max(map(width, usage)), 32)
    head = f"  {'':<{longest}}  {'answers':>8} {'in':>12} {'out':>13} {'from cache':>14} {'to cache':>12}"
    yield screen.style.dim(head)
    bounded = False
    for model, total in usage.items():
        least = "≥ " if total["lower_bound"] else ""
        bounded = bounded or bool(total["lower_bound"])
        yield (
            f"  {pad(one_line(model), longest)}  {total['answers']:>8,} {total['input_tokens']:>12,} "
            f"{least + format(total['output_tokens'], ','):>13} "
            f"{total['cache_read_tokens']:>14,} {total['cache_write_tokens']:>12,}"
        )
    if bounded:
        yield screen.style.dim("  ≥ some answers were noted only when they began; there were more")
