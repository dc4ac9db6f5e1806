"""The reader of ChatKit databases: where they lie, how they are read, who interprets them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rireki.errors import SourceTrouble, Wording
from rireki.home import SETTINGS
from rireki.late import LateModule
from rireki.model.conversation import Trouble
from rireki.settings import SettingsError, read_settings
from rireki.sources.chatkit.names import DATABASE, NAME
from rireki.sources.kit.files import (
    FileKind,
    FileReader,
    database_names,
    no_conversation,
    origin_at,
)
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update, Watched

if TYPE_CHECKING:
    from rireki.sources.chatkit import rows
    from rireki.sources.kit import sqlite
else:
    rows = LateModule("rireki.sources.chatkit.rows")
    sqlite = LateModule("rireki.sources.kit.sqlite")

__all__ = ["READER"]

VARIABLE = "RIREKI_CHATKIT"
STORE = "*.sqlite3"
_HINT = Wording("write-chatkit")


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
        return [], Trouble.of(str(file), error.reason, error.hint)
    names = section.get("databases", []) if isinstance(section, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return [], Trouble.of(str(file), "bad-chatkit-databases", _HINT)
    return [name for name in names if name], None


#: What a database may be called, in a folder that was named by hand or in one right below it.
_ENDINGS = (".db", ".sqlite", ".sqlite3")
_DATABASE = FileKind("*", "database", DATABASE, no_conversation)
_BELOW = tuple(f"{folder}*{ending}" for folder in ("", "*/") for ending in _ENDINGS)


class ChatKit(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.chatkit.fold"
    #: An app keeps its database wherever it likes: one that was named once is looked at again.
    anywhere = True

    def discover(self, places: Places) -> Discovery:
        settings = configured(places)
        found = Discovery(troubles=settings.troubles)
        for path in settings.databases:
            origin = _origin(path)
            found.origins += filter(None, [origin])
            note = "" if origin else "configured, but not there"
            found.looked.append(Scanned(NAME, str(path), origin is not None, note))
        if not settings.databases:
            note = f"no databases are named there, nor in {VARIABLE}"
            files = settings.present or settings.files[:1]
            found.looked += [Scanned(NAME, str(file), False, note) for file in files]
        return found

    def recognise(self, path: Path) -> list[Origin]:
        if path.is_dir():
            candidates = sorted({file for pattern in _BELOW for file in path.glob(pattern)})
        else:
            candidates = [path]
        return [o for file in candidates if (o := _origin(file)) and _is_ours(file)]

    def watched(self, places: Places) -> list[Watched]:
        settings = configured(places)
        folders = [*settings.folders, *(path.parent for path in settings.databases)]
        return [Watched(str(folder)) for folder in dict.fromkeys(folders)]

    def locate(self, places: Places, path: str) -> list[Origin]:
        databases = configured(places).databases
        hints = {one: (*database_names(str(one)), str(one.parent)) for one in databases}
        found = [one for one in databases if path in hints[one]]
        return [origin for one in found if (origin := _origin(one))]

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return rows.read_database(origin, known)


def _origin(path: Path) -> Origin | None:
    return origin_at(NAME, str(path), path.parent, _DATABASE)


def _is_ours(path: Path) -> bool:
    try:
        with sqlite.open_database(str(path)) as database:
            return rows.is_chatkit(database)
    except SourceTrouble:
        return False


READER = ChatKit()
