"""`rireki tag`: words of one's own that conversations are found by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rireki.cli.archive import complete_ids, opened
from rireki.cli.curating import change_each, ensure_named, told_of
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.intake.curate import set_tags, tag_name, tags_of_all
from rireki.show.catalogue import say
from rireki.show.safe import one_line

if TYPE_CHECKING:
    from rireki.archive.base import Archive, Found
    from rireki.model.conversation import Conversation

__all__ = ["command"]


@click.command("tag")
@click.argument("name", metavar="[ID]", required=False, shell_complete=complete_ids)
@click.argument("tags", metavar="[TAG]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Take these tags away; without TAG all of them.")
@click.option("--list", "listing", is_flag=True, help="Every tag there is, the commonest first.")
@json_option
@archive_option
def command(
    name: str | None, tags: tuple[str, ...], remove: bool, listing: bool, as_json: bool
) -> None:
    """Tag a conversation, to find it again: `rireki list --tag TAG`, `tag:TAG` in a search.

    Without TAG its tags are printed.

    \b
    Examples:
      rireki tag 5471a680 work database
      rireki tag 5471a680 database --remove
      rireki tag --list
    """
    if listing:
        _list(as_json)
        return
    ensure_named([name] if name else [])
    wanted = [tag_name(tag) for tag in tags]

    def change(archive: Archive, found: Found) -> bool:
        gone = (wanted or found.conversation.added.tags) if remove else ()
        return set_tags(archive, found, () if remove else wanted, gone)

    change_each([name] if name else [], change, _words, as_json)


def _words(talk: Conversation) -> str:
    tags = "  ".join(f"#{one_line(tag)}" for tag in talk.added.tags)
    return f"{told_of(talk)}\n{tags or say('(no tags)')}"


def _list(as_json: bool) -> None:
    with opened() as archive:
        known = tags_of_all(archive)
    lines = [f"{number:>5,}  #{one_line(tag)}" for tag, number in known.items()]
    values = ({"tag": tag, "conversations": number} for tag, number in known.items())
    StandardOutput().give(as_json, values, lines or [say("There are no tags yet.")])
