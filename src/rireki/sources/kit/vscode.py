"""What VS Code and the editors made of it have in common: where they store, for which project, under which key.

Their databases (`state.vscdb`) also hold tokens: rows are found by their keys, and no other row is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rireki.errors import SourceTrouble
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import items, string
from rireki.sources.kit.places import Places
from rireki.sources.kit.sqlite import Database
from rireki.sources.kit.stamps import open_plain
from rireki.sources.kit.tables import BATCH, Table

__all__ = [
    "path_of_uri",
    "project_of",
    "row_number",
    "row_numbers",
    "user_folders",
]

#: More than any file that names a project is long.
_MOST = 256 << 10
_DRIVE = re.compile(r"/([A-Za-z]):(?:/|$)")


# ── where ──


def user_folders(places: Places, editors: Sequence[str]) -> list[Path]:
    """Where the editors of these names may keep what belongs to the user."""
    bases = [*places.settings_directories(), *_windows_homes(places)]
    found = [base / editor / "User" for editor in editors for base in bases]
    if "Code" in editors:
        servers = (".vscode-server", ".vscode-server-insiders")
        found += [places.home / server / "data" / "User" for server in servers]
        portable = places.variable("VSCODE_PORTABLE") or places.home / "data"
        found.append(portable / "user-data" / "User")
    return found


def _windows_homes(places: Places) -> list[Path]:
    """Inside WSL the editor itself runs on Windows, and stores there."""
    if not places.environment.get("WSL_DISTRO_NAME"):
        return []
    return sorted(Path("/mnt/c/Users").glob("*/AppData/Roaming"))


# ── for which project ──


def project_of(folder: Path) -> str | None:
    """The directory that a folder of `workspaceStorage` is for; None for windows without one."""
    told = _read(folder / "workspace.json")
    if opened := string(told, "folder"):
        return path_of_uri(opened) or None
    several = path_of_uri(string(told, "workspace") or string(told, "configuration"))
    return _first_folder(several) if several else None


def _first_folder(workspace: str) -> str:
    """The first directory that a `.code-workspace` names; where it cannot be read, its own."""
    own = workspace.rstrip("/\\")
    cut = max(own.rfind("/"), own.rfind("\\"))
    own = own[:cut] if cut > 0 else own
    for folder in items(_read(Path(workspace)), "folders"):
        path = string(folder, "path") or path_of_uri(string(folder, "uri"))
        if path:
            return str(Path(own, path)) if path not in (".", "./") else own
    return own


def _read(path: Path) -> object:
    try:
        with open_plain(str(path)) as file:
            return load(file.read(_MOST))
    except (SourceTrouble, OSError, NotReadable, ValueError):
        return None


def path_of_uri(uri: str) -> str:
    """The path in an address of a file, also one on another machine; empty where there is none."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    path = unquote(parts.path)
    if parts.scheme not in ("file", "vscode-remote", "vscode-userdata") or not path:
        return ""
    if drive := _DRIVE.match(path):
        return f"{drive[1]}:\\" + path[4:].replace("/", "\\")
    if parts.scheme == "file" and parts.netloc:
        return f"\\\\{parts.netloc}" + path.replace("/", "\\")
    return path


# ── under which key ──


def row_number(database: Database, table: Table, key: str) -> list[int]:
    """The number of the row with this key, if there is one."""
    statement = f'SELECT rowid FROM "{table.name}" WHERE key = ?'
    return [number for (number,) in database.rows(statement, (key,))]


def row_numbers(
    database: Database, table: Table, prefix: str, after: int | None = None
) -> Iterator[tuple[str, int]]:
    """Keys that begin with a prefix, and the numbers of their rows, by short statements over the key's index.

    With `after`, only those of rows that were written later: a key that is written again gets a new number.
    """
    end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    newer = "" if after is None else f" AND rowid > {after:d}"
    statement = (
        f'SELECT key, rowid FROM "{table.name}" WHERE key > ? AND key < ?{newer}'
        f" ORDER BY key LIMIT {BATCH * 25}"
    )
    last = prefix
    while batch := database.rows(statement, (last, end)):
        yield from ((str(key), number) for key, number in batch)
        last = batch[-1][0]
