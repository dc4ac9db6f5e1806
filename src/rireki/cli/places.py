"""Where history is looked for, as a command line says it."""

from __future__ import annotations

from pathlib import Path

import click

from rireki.cli.archive import archive_path
from rireki.cli.drive_options import config_file, ignored_settings
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.sources.kit.places import Places

__all__ = ["places_of", "tell_ignored"]


def places_of(home: Path | None) -> Places:
    """Where history is looked for: below a home that was named, or on this machine; and beside
    the archive, where programs keep their own."""
    places = Places.at(home.absolute()) if home else Places.here()
    return places.beside(archive_path())


def tell_ignored(archive: Path, places: Places) -> None:
    """Name settings for driving agents that came with somebody's data: they count for nothing."""
    for file in ignored_settings(archive, places):
        yours = one_line(str(config_file()))
        told = f"Ignored: the agents and [drive] of {one_line(str(file))}; yours belong in {yours}."
        click.echo(say(told), err=True)
