"""`rireki path`: every conversation a directory ever had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os.path import realpath
from typing import TYPE_CHECKING

import click
import msgspec

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import NotFound
from rireki.model.names import directory_of
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.times import span
from rireki.show.width import truncate
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.archive.base import Archive, Sighting

__all__ = ["command", "sightings_of"]


@click.command("path")
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False))
@click.option("--below", is_flag=True, help="Also the directories below it.")
@json_option
@archive_option
def command(directory: str, below: bool, as_json: bool) -> None:
    """List all conversations ever held for exactly this directory (the current one unless named).

    A star marks what the source would continue there now. The others were
    overwritten, deleted or left; they are all here, with their first and last sight.

    \b
    Examples:
      rireki path
      rireki path ~/dev/api --below
    """
    screen = StandardOutput()
    with opened() as archive:
        seen = sightings_of(archive, directory, below)
        names = archive.short_ids([each.conversation.id for each in seen])
    screen.give(as_json, map(_as_json, seen), _table(seen, names, screen, below))


def sightings_of(archive: Archive, given: str, below: bool) -> list[Sighting]:
    """By the directory's name as typed, and by the one its symbolic links lead to."""
    typed = directory_of(given)
    seen: dict[tuple[str, str], Sighting] = {}
    for name in dict.fromkeys([typed, realpath(typed)]):
        for sighting in archive.sightings(name, below):
            seen.setdefault((sighting.conversation.id, sighting.directory), sighting)
    if not seen:
        raise NotFound("no-conversation-there", path=typed)
    return list(seen.values())


def _as_json(sighting: Sighting) -> dict[str, object]:
    """The conversation with the names of the contract, and when it was seen here."""
    return {
        **msgspec.to_builtins(sighting.conversation),
        "directory": sighting.directory,
        "first_seen": sighting.first_seen,
        "last_seen": sighting.last_seen,
        "current": sighting.current,
    }


def _table(
    seen: Sequence[Sighting], names: dict[str, str], screen: StandardOutput, below: bool
) -> Iterator[str]:
    style = screen.style
    for sighting in seen:
        about = sighting.conversation
        star = style.green("*") if sighting.current else " "
        facts = f"{about.source} · {say(count(about.turns, 'turn'))} · {say(_fate(sighting))}"
        yield f"{star} {style.cyan(names[about.id])}  {facts}"
        yield "    " + truncate(one_line(about.title) or say("(no title)"), screen.columns - 4)
        is_dated = about.started_at and about.times_from == "source"
        when = say(f"talked {span(about.started_at, about.updated_at)}") if is_dated else ""
        sight = say(f"seen {span(sighting.first_seen, sighting.last_seen)}")
        yield style.dim("    " + ", ".join(filter(None, [when, sight])))
        if below:
            yield style.dim(f"    {one_line(sighting.directory)}")


def _fate(sighting: Sighting) -> str:
    if sighting.current:
        return "current"
    return {
        "present": "earlier",
        "changed": say("earlier, rewritten"),
        "gone": say("gone there, kept here"),
    }[sighting.conversation.upstream]
