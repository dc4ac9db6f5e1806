"""`rireki explain`: why each user-role entry is shown as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import conversation_argument, library
from rireki.cli.options import archive_option, json_option, no_pager_option
from rireki.cli.output import StandardOutput
from rireki.show.catalogue import say, say_label, say_reading
from rireki.show.decisions import compare, explained, may_be_typed
from rireki.show.safe import one_line
from rireki.show.width import pad, truncate, width
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.show.decisions import Decision, RuleComparison

__all__ = ["command"]


@click.command("explain")
@conversation_argument
@click.option(
    "--typed/--all",
    default=True,
    help="Only what somebody may have typed (default); or also results of tools and all else.",
)
@click.option(
    "--compare",
    "comparing",
    is_flag=True,
    help="Flags and how often they stand together; what the text alone would say, against this.",
)
@no_pager_option
@json_option
@archive_option
def command(name: str, typed: bool, comparing: bool, no_pager: bool, as_json: bool) -> None:
    """Tell for every user-role entry which rule decided who wrote it and how it is shown.

    Agents write much in the user's name that nobody typed. Position is the line
    of the file or the place in the history; flags are what the source marked it
    with; then comes the rule of the table in docs that hit first, in words.

    \b
    Examples:
      rireki explain 5471a680
      rireki explain 5471a680 --compare
    """
    screen = StandardOutput()
    with library() as kept:
        read = kept.read(name, everything=True)
    every = list(explained(read.conversation, read.messages))
    found = list(filter(may_be_typed, every)) if typed or comparing else every
    if comparing:
        compared = compare(found)
        if as_json:
            screen.json([compared])
        else:
            screen.page(_compared(compared, screen), pager=not no_pager)
    elif as_json:
        screen.json(found)
    else:
        screen.page(_told(found, len(every) - len(found), screen), pager=not no_pager)


def _told(decisions: Sequence[Decision], left_out: int, screen: StandardOutput) -> Iterator[str]:
    style = screen.style
    paint = {"person": style.person, "agent": style.cyan}
    authors = max(7, _widest(decision.author for decision in decisions))
    displays = max(7, _widest(decision.display for decision in decisions))
    for decision in decisions:
        who = f"{pad(say(decision.author), authors)} {pad(say(decision.display), displays)}"
        why = say_label(decision.why or "no rule")
        why = one_line(" · ".join(filter(None, [decision.role, why, " ".join(decision.flags)])))
        room = max(screen.columns - authors - displays - 10, 10)
        painted = paint.get(decision.author, style.dim)(who)
        yield f"{decision.position:>6}  {painted} {truncate(why, room)}"
        label = decision.label if decision.label != decision.words else None
        said = say_reading(decision.words) if decision.author == "tool" else decision.words
        words = one_line(": ".join(filter(None, [say_label(label or ""), said])))
        yield style.dim(truncate(f"        {words}", screen.columns))
    shares = Counter(decision.author for decision in decisions)
    told = [f"{number:,} by {name}" for name, number in shares.items()]
    others = [f"{left_out:,} more with --all"] if left_out else []
    yield say(", ").join(map(say, [count(len(decisions), "entry", "entries"), *told, *others]))


def _widest(words: Iterable[str]) -> int:
    """The columns that these words take in the language of the terminal."""
    return max(map(width, map(say, words)), default=0)


def _compared(told: RuleComparison, screen: StandardOutput) -> Iterator[str]:
    style = screen.style
    yield style.bold(say("Flags that stand together"))
    for each in told.combinations:
        flags = one_line(" ".join(each.flags)) or say("(none)")
        yield truncate(f"  {each.count:>5,}  {flags}  {one_line(each.example)}", screen.columns)
    yield ""
    yield style.bold(say("By the text alone, and by flags and text"))
    head = (
        f"{pad(say('line'), 6, right=True)}  {pad(say('by text'), 13)}  {pad(say('shown as'), 18)}"
    )
    yield style.dim(f"      {'#':>4}  {head}  {say('why')}")
    for number, row in enumerate(told.rows, 1):
        mark = "≠" if row.differs else " "
        words = one_line(
            " · ".join(filter(None, [say_label(row.why), " ".join(row.flags), row.words]))
        )
        shown = f"{pad(say(row.by_text), 13)}  {pad(say(row.ours), 18)}"
        line = f"    {mark} {number:>4}  {row.position:>6}  {shown}  {words}"
        line = truncate(line, screen.columns)
        yield style.yellow(line) if row.differs else line
    yield ""
    told_of = count(told.entries, "entry", "entries")
    different = f"{told.different:,} of {told_of} would be shown otherwise by the text alone"
    yield style.bold(say(different))
    for why, number in told.reasons.items():
        ours = next(row.ours for row in told.rows if row.differs and row.why == why)
        yield f"  {number:>5,}  {say_label(why)}: {say(ours)}"
