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

from rireki.cli.places import config_file
from rireki.drive.agents import agents
from rireki.drive.bridge import Settings
from rireki.errors import RirekiError, Wording
from rireki.settings import read_settings

if TYPE_CHECKING:
    from rireki.sources.kit.places import Places

__all__ = ["drive_settings", "is_on"]

_HINT = Wording("write-drive")


def is_on() -> bool:
    """Whether the user's settings say that agents may be driven."""
    file = config_file()
    said = _section(file).get("on", False)
    if not isinstance(said, bool):
        raise RirekiError("bad-drive-on", hint=_HINT, file=file)
    return said


def drive_settings(archive: Path, places: Places, roots: tuple[Path, ...] = ()) -> Settings:
    """Which agents there are, and where they may work: as the command says, else as the file does."""
    file = config_file()
    allowed = roots or _roots(file) or (Path.home(),)
    for root in allowed:
        if not root.is_dir():
            raise RirekiError("bad-root", path=root)
    known = tuple(agents(file, environ))
    return Settings(archive, places, tuple(root.resolve() for root in allowed), known)


def _roots(file: Path) -> tuple[Path, ...]:
    said = _section(file).get("roots", [])
    if not isinstance(said, list) or not all(isinstance(root, str) for root in said):
        raise RirekiError("bad-drive-roots", hint=_HINT, file=file)
    home = ("~/", "~\\")
    return tuple(
        Path.home() / root[2:] if root.startswith(home) else file.parent / Path(root).expanduser()
        for root in said
    )


def _section(file: Path) -> dict[str, Any]:
    section = read_settings(file, _HINT).get("drive", {})
    if not isinstance(section, dict):
        raise RirekiError("bad-drive-table", hint=_HINT, file=file)
    return section
