"""`rireki hide`: what is in the way of lists and searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rireki.archive.base import Filter
from rireki.cli.archive import complete_ids
from rireki.cli.curating import change_each, list_those, told_of
from rireki.cli.options import archive_option, json_option
from rireki.intake.curate import set_hidden
from rireki.show.catalogue import say

if TYPE_CHECKING:
    from rireki.model.conversation import Conversation

__all__ = ["command"]


@click.command("hide")
@click.argument("names", metavar="[ID]...", nargs=-1, shell_complete=complete_ids)
@click.option("--remove", is_flag=True, help="Show them again.")
@click.option("--list", "listing", is_flag=True, help="What is hidden, newest first.")
@json_option
@archive_option
def command(names: tuple[str, ...], remove: bool, listing: bool, as_json: bool) -> None:
    """Leave conversations out of lists and searches; nothing is removed.

    `rireki list --hidden` and `is:hidden` in a search show them all the same; figures count them.

    \b
    Examples:
      rireki hide 5471a680
      rireki hide 5471a680 --remove
      rireki hide --list
    """
    if listing:
        list_those(Filter(hidden=True, subagents=True), as_json, say("Nothing is hidden."))
        return
    change_each(
        names,
        lambda archive, found: set_hidden(archive, found, not remove),
        _shown_again if remove else _hidden,
        as_json,
    )


def _hidden(talk: Conversation) -> str:
    return say(f"hidden: {told_of(talk)}")


def _shown_again(talk: Conversation) -> str:
    return say(f"shown again: {told_of(talk)}")
