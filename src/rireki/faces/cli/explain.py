"""`rireki explain`: why each user-role entry is shown as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from rireki.faces.cli.options import (
    archive_option,
    conversation_argument,
    json_option,
    no_pager_option,
    opened,
)

if TYPE_CHECKING:
    from rireki.faces.cli.output import Screen
    from rireki.show.decisions import Decision

__all__ = ["command"]


@click.command("explain", short_help="Why each user-role entry is shown as it is.")
@conversation_argument
@no_pager_option
@json_option
@archive_option
def command(name: str, no_pager: bool, as_json: bool) -> None:
    """Tell for every user-role entry which rule decided who wrote it and how it is shown.

    Agents write much in the user's name that nobody typed. Position is the line
    of the file or the place in the history; flags are what the source marked it
    with; rule is the row of the table in docs that hit first.

    \b
    Example:
      rireki explain 5471a680
    """
    from rireki.faces.cli.output import Screen
    from rireki.intake.understand import read_conversation
    from rireki.show.decisions import decisions

    screen = Screen()
    with opened() as archive:
        messages = read_conversation(archive, archive.find(name)).messages()
    found = list(decisions(messages))
    if as_json:
        screen.json(found)
    else:
        screen.page(_told(found, screen), pager=not no_pager)


def _told(decisions: Sequence[Decision], screen: Screen) -> Iterator[str]:
    from rireki.show.safe import one_line
    from rireki.show.width import truncate
    from rireki.show.words import count

    style = screen.style
    paint = {"person": style.person, "agent": style.cyan}
    for decision in decisions:
        who = f"{decision.author:<7} {decision.display:<7}"
        rule = f"rule {decision.rule}" if decision.rule else "no rule"
        why = one_line(" · ".join(filter(None, [decision.role, rule, " ".join(decision.flags)])))
        room = max(screen.columns - 24, 10)
        painted = paint.get(decision.author, style.dim)(who)
        yield f"{decision.position:>6}  {painted} {truncate(why, room)}"
        label = decision.label if decision.label != decision.words else None
        words = one_line(": ".join(filter(None, [label, decision.words])))
        yield style.dim(truncate(f"        {words}", screen.columns))
    authors = dict.fromkeys(decision.author for decision in decisions)
    shares = [f"{sum(d.author == name for d in decisions)} by {name}" for name in authors]
    yield ", ".join([count(len(decisions), "entry", "entries"), *shares])
