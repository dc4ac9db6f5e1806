"""Kiro CLI: its database, the event logs of its second engine, the folders of its third.

Where to look, and nothing else: reading and understanding is shared with Amazon
Q, in this package, because the two products share their conversations.
"""

from __future__ import annotations

import os
from pathlib import Path

from rireki.model.conversation import Conversation
from rireki.sources.amazon_q import files, scan
from rireki.sources.amazon_q.scan import Family
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Form, Origin, Scanned, Watched

__all__ = ["READER"]

NAME = "kiro"
#: Files of the second engine by their ending; `.lock` only says that the session is open.
_KINDS: dict[str, tuple[Form, str]] = {
    ".jsonl": ("lines", files.LOG),
    ".json": ("document", files.SESSION),
    ".history": ("lines", files.TYPED),
}
_THIRD: dict[str, tuple[Form, str]] = {
    "messages.jsonl": ("lines", files.V3_LOG),
    "session.json": ("document", files.V3_SESSION),
}
_CLI = "kiro-cli"


class Kiro(Family):
    name = NAME

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for folder in places.data_directories(_CLI):
            scan.look_for_database(found, NAME, folder)
        for home in _homes(places):
            _look_for_sessions(found, home)
        return found

    def recognise(self, path: Path) -> list[Origin]:
        if path.is_file():
            return _recognise_file(path)
        found = self.discover(Places.at(path)) if path.is_dir() else Discovery()
        _look_for_sessions(found, _home_of(path))
        known = {origin.place for origin in found.origins}
        for database in scan.databases_below(path):
            if str(database) not in known and scan.belongs_to_kiro(database):
                found.origins += filter(None, [scan.database_origin(NAME, database)])
        return found.origins + _saved(path, known)

    def watched(self, places: Places) -> list[Watched]:
        databases = [Watched(str(folder)) for folder in places.data_directories(_CLI)]
        return databases + [Watched(str(home / "sessions"), True) for home in _homes(places)]

    def locate(self, places: Places, path: str) -> list[Origin]:
        for home in _homes(places):
            if path.startswith(str(home)):
                return _locate_session(home, Path(path))
        return scan.locate_database(NAME, places.data_directories(_CLI), path)

    def revive(self, conversation: Conversation) -> str | None:
        """Which of Kiro's engines wrote it decides how it goes back: nothing short is true for all."""
        return None


def _homes(places: Places) -> list[Path]:
    homes = [places.variable("KIRO_HOME"), places.home / ".kiro"]
    return list(dict.fromkeys(filter(None, homes)))


def _locate_session(home: Path, path: Path) -> list[Origin]:
    """The files of a session at, or below, a path in `~/.kiro`."""
    parts = path.parts[len(home.parts) :]
    if len(parts) == 3 and parts[:2] == ("sessions", "cli"):
        return _second_engine(path, home)
    if len(parts) >= 3 and parts[0] == "sessions" and parts[2].startswith(files.V3_PREFIX):
        found = _third_engine(home.joinpath(*parts[:3]), home)
    elif len(parts) in (1, 2) and parts[0] == "sessions" and path.is_dir():
        everything = Discovery()
        _look_for_sessions(everything, home)
        found = everything.origins
    else:
        return []
    return [o for o in found if o.place == str(path) or path in Path(o.place).parents]


def _look_for_sessions(found: Discovery, home: Path) -> None:
    """The files of the second engine and the folders of the third, below `~/.kiro`."""
    sessions = home / "sessions"
    before = len(found.origins)
    for entry in scan.listing(sessions, found):
        folder = Path(entry.path)
        if entry.name == "cli":
            for file in scan.listing(folder, found):
                found.origins += _second_engine(Path(file.path), home)
        elif entry.is_dir(follow_symlinks=False):
            for session in scan.listing(folder, found):
                if session.name.startswith(files.V3_PREFIX) and session.is_dir(
                    follow_symlinks=False
                ):
                    found.origins += _third_engine(Path(session.path), home)
    count = len(found.origins) - before
    # The root of the files, so that those which are all gone are missed.
    note = f"{count} files in sessions" if count else scan.QUIET
    found.looked.append(Scanned(NAME, str(home), count > 0, note))


def _second_engine(path: Path, home: Path) -> list[Origin]:
    kind = _KINDS.get(path.suffix)
    if kind is None:
        return []
    return list(filter(None, [scan.file_origin(NAME, path, home, *kind, path.stem)]))


def _third_engine(folder: Path, home: Path) -> list[Origin]:
    conversation = folder.name.removeprefix(files.V3_PREFIX)
    found: list[Origin] = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            kind = _THIRD.get(name) if path.parent == folder else None
            form, role = kind or ("document", files.SIDE)
            origin = scan.file_origin(NAME, path, home, form, role, conversation)
            found += filter(None, [origin])
    return found


def _home_of(path: Path) -> Path:
    """The `.kiro` that a folder named by hand is, or lies in."""
    if path.name == "sessions":
        return path.parent
    return path.parent.parent if path.parent.name == "sessions" else path


def _recognise_file(path: Path) -> list[Origin]:
    if path.parent.name == "cli" and path.parent.parent.name == "sessions":
        home = path.parent.parent.parent
        siblings = [path.with_suffix(ending) for ending in _KINDS]
        return [origin for one in siblings for origin in _second_engine(one, home)]
    if path.parent.name.startswith(files.V3_PREFIX):
        return _third_engine(path.parent, path.parent.parent.parent.parent)
    databases = [one for one in scan.databases_below(path) if scan.belongs_to_kiro(one)]
    origins = [scan.database_origin(NAME, one) for one in databases]
    return [*filter(None, origins), *_saved(path, set())]


def _saved(path: Path, known: set[str]) -> list[Origin]:
    return [
        origin
        for name, saved in scan.saved_in(path)
        if saved.kiro and str(name) not in known
        for origin in [
            scan.file_origin(NAME, name, name.parent, "document", saved.role, saved.conversation)
        ]
        if origin is not None
    ]


READER = Kiro()
