"""`rireki stats`: conversations counted, by pattern, tools, flags and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option, source_option
from rireki.cli.output import StandardOutput
from rireki.library import ensure_source
from rireki.show.catalogue import say
from rireki.show.figures import figures, percent
from rireki.show.safe import one_line
from rireki.show.width import pad, width
from rireki.show.words import count

__all__ = ["command"]


@click.command("stats")
@source_option(False, "Only this source.", archived=True)
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
    screen = StandardOutput()
    with opened() as archive:
        ensure_source(source, archive)
        counted = figures(archive, source)
    screen.give(as_json, [counted], _told(counted, counted["tokens"], screen))


def _told(
    figures: dict[str, Any], usage: dict[str, dict[str, int | bool]], screen: StandardOutput
) -> Iterator[str]:
    heading = screen.style.bold
    beside = {
        "subagents": count(figures["subagents"], "sub-agent"),
        "prompts_only": say(f"{figures['prompts_only']:,} with only the prompts left"),
    }
    yield heading(say(count(figures["conversations"], "conversation")))
    yield from _bars({name: value["count"] for name, value in figures["patterns"].items()}, screen)
    if unfinished := figures["unfinished"]["count"]:
        yield say(f"  … {unfinished:,} of them unfinished ({figures['unfinished']['percent']}%)")
    if said := [say(words) for name, words in beside.items() if figures[name]]:
        yield screen.style.dim(say(f"  besides: {say(', ').join(said)}"))
    yield ""
    yield heading(say("Where from, and what is left there"))
    yield from _bars(figures["sources"], screen)
    yield "  " + say(", ").join(
        f"{number:,} {say(state)}" for state, number in figures["upstream"].items()
    )
    yield ""
    entries, uses = figures["entries"], figures["tool_uses"]
    yield heading(say("Size"))
    yield say(f"  turns      {figures['turns']:,}")
    least, mean, most = entries["min"], entries["mean"], entries["max"]
    yield say(f"  entries    {least:,} least, {mean:,} mean, {most:,} most")
    yield say(f"  tool uses  {uses['total']:,} in all, {uses['max']:,} most")
    if figures["flags"]:
        yield from ["", heading(say("Flags on user-role entries"))]
        for name, number in figures["flags"].items():
            yield f"  {number:>9,}  {one_line(name)}"
    if usage:
        yield from ["", heading(say("Tokens"))]
        yield from _tokens(usage, screen)


def _bars(numbers: dict[str, int], screen: StandardOutput) -> Iterator[str]:
    whole = sum(numbers.values())
    told = {say(name): number for name, number in numbers.items()}
    longest = max(map(width, told), default=0)
    for name, number in told.items():
        bar = screen.style.cyan("━" * round(24 * number / whole)) if whole else ""
        yield f"  {pad(name, longest)}  {number:>6,}  {percent(number, whole):>5}%  {bar}".rstrip()


def _tokens(usage: dict[str, dict[str, int | bool]], screen: StandardOutput) -> Iterator[str]:
    longest = min(max(map(width, usage)), 32)
    columns = {"answers": 8, "in": 12, "out": 13, "from cache": 14, "to cache": 12}
    head = " ".join(pad(say(name), room, right=True) for name, room in columns.items())
    yield screen.style.dim(f"  {'':<{longest}}  {head}")
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
        yield screen.style.dim(
            say("  ≥ some answers were noted only when they began; there were more")
        )
