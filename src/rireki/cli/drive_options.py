"""What the user allowed agents to do: the options, and `[drive]` in the settings file.

    [drive]
    on = true
    roots = ["~/src"]

The agents themselves stand in the same file; `drive/agents.py` reads those. Only the file in the
data directory of the user who runs the command counts: what lies beside an archive, or below a
home that was named, came with somebody else's data and could name any program.
"""

from __future__ import annotations

from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rireki.drive.agents import agents
from rireki.drive.bridge import Settings
from rireki.errors import RirekiError
from rireki.home import SETTINGS, is_own, own_directories
from rireki.settings import SettingsError, read_settings

if TYPE_CHECKING:
    from rireki.sources.kit.places import Places

__all__ = ["config_file", "drive_settings", "ignored_settings", "is_on"]

_HINT = 'Write there: [drive] and, below it, on = true and roots = ["~/src"].'
#: A file that is not the user's is not read beyond this many bytes.
LARGEST = 1_000_000


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
        settings = read_settings(file, _HINT)
    except (OSError, SettingsError):
        return False
    return "drive" in settings or "agents" in settings


def is_on() -> bool:
    """Whether the user's settings say that agents may be driven."""
    file = config_file()
    said = _section(file).get("on", False)
    if not isinstance(said, bool):
        raise RirekiError(f"{file}: 'on' below [drive] is neither true nor false", _HINT)
    return said


def drive_settings(archive: Path, places: Places, roots: tuple[Path, ...] = ()) -> Settings:
    """Which agents there are, and where they may work: as the command says, else as the file does."""
    file = config_file()
    allowed = roots or _roots(file) or (Path.home(),)
    for root in allowed:
        if not root.is_dir():
            raise RirekiError(
                f"{root} is not a directory that agents could work in",
                "Name directories that are there with --root, or below [drive] in the settings.",
            )
    known = tuple(agents(file, environ))
    return Settings(archive, places, tuple(root.resolve() for root in allowed), known)


def _roots(file: Path) -> tuple[Path, ...]:
    said = _section(file).get("roots", [])
    if not isinstance(said, list) or not all(isinstance(root, str) for root in said):
        raise RirekiError(f"{file}: 'roots' below [drive] is not a list of directories", _HINT)
    home = ("~/", "~\\")
    return tuple(
        Path.home() / root[2:] if root.startswith(home) else file.parent / Path(root).expanduser()
        for root in said
    )


def _section(file: Path) -> dict[str, Any]:
    section = read_settings(file, _HINT).get("drive", {})
    if not isinstance(section, dict):
        raise RirekiError(f"{file}: 'drive' is not a table", _HINT)
    return section
