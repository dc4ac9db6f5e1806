"""Where Crush keeps its sessions: a database in each project, and a list of these projects."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import items, string
from rireki.sources.kit.files import (
    NOTHING_THERE,
    FileKind,
    FileReader,
    FilesBelow,
    belonging,
    no_conversation,
)
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.rows import RowKind, read_rows
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update, Watched

__all__ = ["NAME", "READER"]

NAME = "crush"
_DATABASE, _PROJECTS = "crush.db", "projects.json"
#: How much of the list of projects is read.
_MOST = 4 << 20
_TIMES = ("created_at", "updated_at")
#: What was said; not `files`, which has the content of what was edited.
TABLES = (
    RowKind(
        *("sessions", ("id", "title", *_TIMES), "id"),
        json=("todos",),
        optional=(
            *("parent_session_id", "message_count", "prompt_tokens", "completion_tokens"),
            *("cost", "summary_message_id", "todos"),
        ),
    ),
    RowKind(
        *("messages", ("id", "session_id", "role", "parts", *_TIMES), "session_id"),
        json=("parts",),
        optional=("model", "provider", "is_summary_message", "finished_at"),
    ),
)
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "summary": "summary of a compacted context",
}


class CrushReader(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.crush.messages"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        kinds = [FileKind(_DATABASE, "database", "sessions", no_conversation)]
        # The home itself is looked at whether it is there or not, so that something was.
        folders = [str(places.home / ".crush"), *_stores(places)]
        return [FilesBelow(Path(folder), kinds, "there") for folder in dict.fromkeys(folders)]

    def discover(self, places: Places) -> Discovery:
        found = super().discover(places)
        found.origins = _placed(found.origins, _stores(places))
        lists = [folder / _PROJECTS for folder in _registries(places)]
        found.looked += [
            Scanned(NAME, str(path), there, "list of projects" if there else NOTHING_THERE)
            for path in lists
            for there in (path.is_file(),)
        ]
        return found

    def recognise(self, path: Path) -> list[Origin]:
        return _placed(super().recognise(path), {})

    def watched(self, places: Places) -> list[Watched]:
        lists = [Watched(str(folder)) for folder in _registries(places)]
        return [*lists, *super().watched(places)]

    def locate(self, places: Places, path: str) -> list[Origin]:
        if path in [str(folder / _PROJECTS) for folder in _registries(places)]:
            # A project that is new in the list may have its database already.
            return self.discover(places).origins
        return _placed(super().locate(places, path), _stores(places))

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        for update in read_rows(origin, known, TABLES):
            if isinstance(update, Update):
                update.project = origin.project
            yield update

    def resume(self, conversation: Conversation) -> str | None:
        return in_project(conversation, "crush --session", with_id=True)


def _registries(places: Places) -> list[Path]:
    """The folders that may have the list of projects."""
    named = places.variable("CRUSH_GLOBAL_DATA")
    data = places.variable("XDG_DATA_HOME") or places.home / ".local" / "share"
    local = places.variable("LOCALAPPDATA") or places.home / "AppData" / "Local"
    return [*([named] if named else []), data / NAME, local / NAME]


def _stores(places: Places) -> dict[str, str]:
    """The folders with a database, and the project of each: by the list, or known to the archive."""
    found: dict[str, str] = {}
    for registry in _registries(places):
        for one in items(_read(registry / _PROJECTS), "projects"):
            project, folder = string(one, "path"), string(one, "data_dir") or ".crush"
            if project:
                found[os.path.join(project, folder)] = project  # noqa: PTH118
    for project in places.projects:
        found.setdefault(os.path.join(project, ".crush"), project)  # noqa: PTH118
    # As strings: an archive may know a thousand projects, of which few have one.
    return {folder: project for folder, project in found.items() if _has_database(folder)}


def _has_database(folder: str) -> bool:
    try:
        return os.path.isfile(os.path.join(folder, _DATABASE))  # noqa: PTH113, PTH118
    except ValueError:
        return False


def _read(path: Path) -> object:
    try:
        with open_plain(str(path)) as file:
            return load(file.read(_MOST))
    except (SourceTrouble, OSError, NotReadable, ValueError):
        return None


def _placed(origins: Sequence[Origin], stores: dict[str, str]) -> list[Origin]:
    """Each with its project: as listed, or the one whose `.crush` it lies in."""
    found = []
    for one in origins:
        folder = Path(one.place).parent
        around = str(folder.parent) if folder.name == ".crush" else None
        found.append(belonging(one, stores.get(str(folder), around)))
    return found


READER = CrushReader()
