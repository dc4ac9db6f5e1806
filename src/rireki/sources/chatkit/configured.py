"""The databases that the user told us of: a ChatKit app keeps its database wherever it likes.

`RIREKI_CHATKIT` names them, or `config.toml` in rireki's data directory:

    [chatkit]
    databases = ["~/app/chat.db"]

Those that apps keep with `RirekiStore` lie beside the archive, and need not be named.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from rireki.model.conversation import Trouble
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp, is_regular

__all__ = ["VARIABLE", "Configured", "configured"]

VARIABLE = "RIREKI_CHATKIT"
FILE = "config.toml"
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
        file = folder / FILE
        found.files.append(file)
        stamp = _stamp(file)
        if stamp is None:
            continue
        found.present.append(file)
        names, trouble = _named_in(str(file), stamp)
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


def _stamp(file: Path) -> str | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return file_stamp(status) if is_regular(status) else None


@lru_cache(maxsize=16)
def _named_in(file: str, stamp: str) -> tuple[tuple[str, ...], Trouble | None]:
    """What a settings file names; read once as long as its stamp stays."""
    # Imported late: hardly anyone has such a file, and every command would pay for it.
    import tomllib

    try:
        settings: dict[str, Any] = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        hint = "Check that you may read it."
        return (), Trouble(file, f"cannot be read ({error.strerror})", hint)
    except ValueError as error:
        return (), Trouble(file, f"is not TOML ({error})", _HINT)
    section = settings.get("chatkit", {})
    names = section.get("databases", []) if isinstance(section, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return (), Trouble(file, "[chatkit] databases is not a list of paths", _HINT)
    return tuple(name for name in names if name), None
