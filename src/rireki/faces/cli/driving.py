"""What the user allowed agents to do: the options, and `[drive]` in the settings file.

    [drive]
    on = true
    roots = ["~/src"]

The agents themselves stand in the same file; `drive/agents.py` reads those.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rireki.errors import RirekiError

if TYPE_CHECKING:
    from rireki.drive.bridge import Settings
    from rireki.sources.kit.places import Places

__all__ = ["config_file", "drive_settings", "is_on"]

FILE = "config.toml"
_HINT = 'Write there: [drive] and, below it, on = true and roots = ["~/src"].'


def config_file(archive: Path, places: Places) -> Path:
    """The settings file: beside the archive, or in the data directory; where it would be, if none is."""
    folders = [archive.parent, *places.data_directories("rireki")]
    return next((f / FILE for f in folders if (f / FILE).is_file()), folders[0] / FILE)


def is_on(archive: Path, places: Places) -> bool:
    """Whether the settings file says that agents may be driven."""
    file = config_file(archive, places)
    said = _section(file).get("on", False)
    if not isinstance(said, bool):
        raise RirekiError(f"{file}: 'on' below [drive] is neither true nor false", _HINT)
    return said


def drive_settings(archive: Path, places: Places, roots: tuple[Path, ...] = ()) -> Settings:
    """Which agents there are, and where they may work: as the command says, else as the file does."""
    from os import environ

    from rireki.drive.agents import agents
    from rireki.drive.bridge import Settings

    file = config_file(archive, places)
    allowed = roots or _roots(file, places) or (places.home,)
    for root in allowed:
        if not root.is_dir():
            raise RirekiError(
                f"{root} is not a directory that agents could work in",
                "Name directories that are there with --root, or below [drive] in the settings.",
            )
    # A home that was named by hand comes without an environment; programs are found on ours.
    known = tuple(agents(file, environ))
    return Settings(archive, places, tuple(root.resolve() for root in allowed), known)


def _roots(file: Path, places: Places) -> tuple[Path, ...]:
    said = _section(file).get("roots", [])
    if not isinstance(said, list) or not all(isinstance(root, str) for root in said):
        raise RirekiError(f"{file}: 'roots' below [drive] is not a list of directories", _HINT)
    home = ("~/", "~\\")
    return tuple(
        places.home / root[2:] if root.startswith(home) else file.parent / Path(root).expanduser()
        for root in said
    )


def _section(file: Path) -> dict[str, Any]:
    # Imported late: hardly anyone has such a file.
    import tomllib

    try:
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise RirekiError(
            f"{file} cannot be read ({error.strerror})", "Check that you may read it."
        ) from error
    except ValueError as error:
        raise RirekiError(f"{file} is not TOML ({error})", _HINT) from error
    section = settings.get("drive", {})
    if not isinstance(section, dict):
        raise RirekiError(f"{file}: 'drive' is not a table", _HINT)
    return section
