"""The databases that the user told us of: a ChatKit app keeps its database wherever it likes.

`RIREKI_CHATKIT` names them, or `config.toml` in rireki's data directory:

    [chatkit]
    databases = ["~/app/chat.db"]

Those that apps keep with `RirekiStore` lie beside the archive, and need not be named.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rireki.home import SETTINGS
from rireki.model.conversation import Trouble
from rireki.settings import SettingsError, read_settings
from rireki.sources.kit.places import Places

__all__ = ["VARIABLE", "Configured", "configured"]

VARIABLE = "RIREKI_CHATKIT"
STORE = "*.sqlite3"
_HINT = 'Write there: [chatkit] and, below it, databases = ["/path/to/chat.db"].'


class Configured(msgspec.Struct):
    databases: list[Path] = msgspec.field(default_factory=list)
    #: Where stores of ours appear.
    folders: list[Path] = msgspec.field(default_factory=list)
    #: The settings files that could be there, and those that are.
    files: list[Path] = msgspec.field(default_factory=list)
    present: list[Path] = msgspec.field(default_factory=list)
    troubles: list[Trouble] = msgspec.field(default_factory=list)


def configured(places: Places) -> Configured:
    found = Configured()
    named = places.environment.get(VARIABLE, "").split(os.pathsep)
    paths = [_expanded(name, places).absolute() for name in named if name]
    for folder in places.data_directories("rireki"):
        file = folder / SETTINGS
        found.files.append(file)
        if not file.is_file():
            continue
        found.present.append(file)
        names, trouble = _named_in(file)
        found.troubles += [trouble] if trouble else []
        paths += [folder / _expanded(name, places) for name in names]
    found.folders = places.store_folders()
    paths += [file for folder in found.folders for file in sorted(folder.glob(STORE))]
    # One file under two names is one database.
    once: dict[str, Path] = {}
    for path in paths:
        once.setdefault(os.path.realpath(path), path)
    found.databases = list(once.values())
    return found


def _expanded(name: str, places: Places) -> Path:
    return places.home / name[2:] if name.startswith(("~/", "~\\")) else Path(name)


def _named_in(file: Path) -> tuple[list[str], Trouble | None]:
    """What a settings file names."""
    try:
        section = read_settings(file, _HINT).get("chatkit", {})
    except SettingsError as error:
        return [], Trouble(str(file), error.reason.message, error.hint)
    names = section.get("databases", []) if isinstance(section, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return [], Trouble(str(file), "[chatkit] databases is not a list of paths", _HINT)
    return [name for name in names if name], None
