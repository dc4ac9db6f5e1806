"""`rireki title`: a name of one's own for a conversation."""

from __future__ import annotations

import click

from rireki.cli.archive import conversation_argument
from rireki.cli.curating import change_each, told_of
from rireki.cli.options import archive_option, json_option
from rireki.errors import RirekiError
from rireki.intake.curate import set_title

__all__ = ["command"]


@click.command("title")
@conversation_argument
@click.argument("words", metavar="[WORDS]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Give it back the title that its agent gave it.")
@json_option
@archive_option
def command(name: str, words: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Give a conversation a title of your own; no title that an agent makes replaces it.

    Without WORDS its title is printed.

    \b
    Examples:
      rireki title 5471a680 How the cache lost its keys
      rireki title 5471a680 --remove
    """
    if remove and words:
        raise RirekiError("words-and-remove")
    wanted = " ".join(words) if words else None
    change_each(
        [name],
        lambda archive, found: bool(remove or words) and set_title(archive, found, wanted),
        told_of,
        as_json,
    )
