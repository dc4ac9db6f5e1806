"""`rireki star`: what is worth finding again."""

from __future__ import annotations

import click

from rireki.archive.base import Filter
from rireki.cli.archive import complete_ids
from rireki.cli.curating import change_each, list_those, told_of
from rireki.cli.options import archive_option, json_option
from rireki.intake.curate import set_starred
from rireki.show.catalogue import say

__all__ = ["command"]


@click.command("star")
@click.argument("names", metavar="[ID]...", nargs=-1, shell_complete=complete_ids)
@click.option("--remove", is_flag=True, help="Take the star away.")
@click.option("--list", "listing", is_flag=True, help="What is starred, newest first.")
@json_option
@archive_option
def command(names: tuple[str, ...], remove: bool, listing: bool, as_json: bool) -> None:
    """Star conversations, to find them again: `rireki list --starred`, `is:starred` in a search.

    \b
    Examples:
      rireki star 5471a680
      rireki star 5471a680 --remove
      rireki star --list
    """
    if listing:
        list_those(Filter(starred=True, subagents=True), as_json, say("Nothing is starred."))
        return
    change_each(
        names,
        lambda archive, found: set_starred(archive, found, not remove),
        lambda talk: f"{'☆' if remove else '★'} {told_of(talk)}",
        as_json,
    )
