"""Where history is looked for, as a command line says it, and whose settings count there."""

from __future__ import annotations

from pathlib import Path

import click

from rireki.cli.archive import archive_path
from rireki.errors import Wording
from rireki.home import SETTINGS, is_own, own_directories
from rireki.settings import SettingsError, read_settings
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.sources.kit.places import Places

__all__ = ["config_file", "ignored_settings", "places_of", "tell_ignored"]

#: A settings file that is not the user's is not read beyond this many bytes.
LARGEST = 1_000_000


def places_of(home: Path | None) -> Places:
    """Where history is looked for: below a home that was named, or on this machine; and beside
    the archive, where programs keep their own."""
    places = Places.at(home.absolute()) if home else Places.here()
    return places.beside(archive_path())


def config_file() -> Path:
    """The user's own settings file; where it would be, if there is none."""
    files = [folder / SETTINGS for folder in own_directories()]
    return next((file for file in files if file.is_file()), files[0])


def ignored_settings(archive: Path, places: Places) -> list[Path]:
    """Settings files with agents or `[drive]` in them that are not the user's own."""
    folders = dict.fromkeys([archive.parent, *places.data_directories("rireki")])
    files = [folder / SETTINGS for folder in folders]
    return [file for file in files if not is_own(file) and _names_agents(file)]


def _names_agents(file: Path) -> bool:
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return False
        settings = read_settings(file, Wording("write-drive"))
    except (OSError, SettingsError):
        return False
    return "drive" in settings or "agents" in settings


def tell_ignored(archive: Path, places: Places) -> None:
    """Name settings for driving agents that came with somebody's data: they count for nothing."""
    for file in ignored_settings(archive, places):
        yours = one_line(str(config_file()))
        told = f"Ignored: the agents and [drive] of {one_line(str(file))}; yours belong in {yours}."
        click.echo(say(told), err=True)
