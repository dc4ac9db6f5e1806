"""`rireki sources`: where each reader looks, what it finds, and why it finds nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import archive_path, opened
from rireki.cli.options import archive_option, home_option, json_option
from rireki.cli.output import StandardOutput, trouble_lines
from rireki.cli.places import places_of
from rireki.intake.survey import survey, survey_unread
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.width import wrap
from rireki.show.words import count, size

if TYPE_CHECKING:
    from rireki.intake.survey import Surveyed
    from rireki.sources.kit.places import Places
    from rireki.sources.reader import Scanned
    from rireki.sources.unread import Unread

__all__ = ["command"]


@click.command("sources")
@home_option
@click.option("--all", "everything", is_flag=True, help="Also sources of which nothing was found.")
@json_option
@archive_option
def command(home: Path | None, everything: bool, as_json: bool) -> None:
    """Tell for each source where rireki looks, what lies there, what the archive has of it,
    and what could not be read. Takes nothing in.

    \b
    Examples:
      rireki sources
      rireki sources --all
      rireki sources --home /mnt/backup/home/ken
    """
    screen = StandardOutput()
    found, unread = _survey(places_of(home))
    if as_json:
        screen.json([*found, *unread])
    else:
        shown = [source for source in found if everything or source.is_seen]
        screen.say(line for source in shown for line in _told(source, screen))
        screen.say(_absent([source for source in found if source not in shown], screen))
        screen.say(_unread(one, screen) for one in unread)


def _absent(sources: Sequence[Surveyed], screen: StandardOutput) -> Iterator[str]:
    if sources:
        names = ", ".join(source.source for source in sources)
        yield from wrap(say(f"Nothing found of: {names}"), screen.columns)
        yield screen.style.dim(say("'rireki sources --all' tells where rireki looked."))


def _survey(places: Places) -> tuple[list[Surveyed], list[Unread]]:
    """Also while there is no archive yet."""
    if not archive_path().exists():
        return survey(None, places), survey_unread(places)
    with opened() as archive:
        return survey(archive, places), survey_unread(places)


def _unread(store: Unread, screen: StandardOutput) -> str:
    files = count(store.files, "file")
    line = f"seen, not readable yet: {store.source} ({one_line(store.place)}, {files})"
    return screen.style.dim(say(line))


def _told(source: Surveyed, screen: StandardOutput) -> Iterator[str]:
    style = screen.style
    yield style.bold(source.source)
    yield from _looked(source.looked, screen)
    if source.found:
        yield say(f"  found     {count(source.found, 'file')}, {size(source.bytes)}")
    else:
        yield say("  found     nothing: none of these is there, or they are empty")
    if source.read or source.gone:
        gone = say(f", {source.gone:,} gone there since") if source.gone else ""
        read = count(source.read, "file")
        talks = say(count(source.conversations, "conversation"))
        if source.subagents:
            talks += say(f" and {count(source.subagents, 'sub-agent')}")
        yield say(f"  archived  {talks} from {read}") + gone
    elif source.found:
        yield say("  archived  nothing yet: run 'rireki import'")
    yield from trouble_lines(source.troubles, screen)
    yield ""


def _looked(looked: Sequence[Scanned], screen: StandardOutput) -> Iterator[str]:
    for place in looked:
        note = one_line(place.note or ("there" if place.found else "not there"))
        line = say(f"  looked at {one_line(place.place)}: {note}")
        yield line if place.found else screen.style.dim(line)
