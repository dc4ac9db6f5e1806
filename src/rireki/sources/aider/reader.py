"""Where Aider's histories lie: in projects, so they are looked for where conversations of any agent were."""

# Strings instead of pathlib: hundreds of projects are looked at in every run.
# ruff: noqa: PTH110, PTH117, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.errors import SourceTrouble
from rireki.late import LateModule
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, origin_at
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update, Watched

if TYPE_CHECKING:
    from rireki.sources.aider import sessions, zones
else:
    sessions = LateModule("rireki.sources.aider.sessions")
    zones = LateModule("rireki.sources.aider.zones")

__all__ = ["NAME", "READER"]

NAME = "aider"
CHAT, INPUT, MODEL = "chat", "input", "model"
_NAMES = {
    CHAT: ".aider.chat.history.md",
    INPUT: ".aider.input.history",
    MODEL: ".aider.llm.history",
}
_SETTINGS = ".aider.conf.yml"
#: What the settings and the environment call each file.
_OPTIONS = {CHAT: "chat-history-file", INPUT: "input-history-file", MODEL: "llm-history-file"}
#: How far above a project its repository may begin, and how far below a named folder projects may lie.
_DEPTH = 5
#: Folders that are looked into below one that was named.
_MOST = 20_000
#: How much of a file of settings is read.
_PEEK = 1 << 16
#: Projects that are looked into, the latest ones.
_PROJECTS = 1000
#: Folders that are watched, those of the latest projects; the others are looked into by every import.
_WATCHED = 200
#: Which rule decided, in words.
REASONS = {
    "answer": "not marked by Aider: taken for an answer",
    "typed prompt": "marked by Aider as typed (####)",
    "command": "typed command to Aider",
    "start of a session": "what Aider said before the first prompt",
    "status": "said by Aider itself (>)",
    "token count": "tokens of the answer, as Aider counted them",
    "history cleared": "what was said before is not sent to the model any more",
}


class HistoryReader(FileReader):
    name = NAME
    family = NAME
    anywhere = True
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        named = _named(places)
        folders = dict.fromkeys([str(places.home), *_folders(places)])
        usual = [*map(_kind, _NAMES.values(), _NAMES)]
        found = []
        for folder in folders:
            # A project may have settings of its own.
            own = _told_in(folder, places.home) if folder != str(places.home) else []
            kinds = [_kind(name, role) for role, name in (*named, *own) if not os.path.isabs(name)]
            found.append(FilesBelow(Path(folder), [*usual, *kinds], "{n} files"))
            named += [one for one in own if os.path.isabs(one[1])]
        for role, name in named:
            if os.path.isabs(name):
                folder, base = os.path.split(name)
                there = [_kind(base, role), *usual]
                found.append(FilesBelow(Path(folder), there, "{n} files"))
        return found

    def discover(self, places: Places) -> Discovery:
        """Projects without a history are not told of: there may be hundreds."""
        found = super().discover(places)
        home = str(places.home)
        told = {one.place: one for one in found.looked if one.found or one.place == home}
        found.looked = list(told.values())
        found.origins = list({one.place: one for one in reversed(found.origins)}.values())[::-1]
        if not found.origins:
            note = "nothing there, nor in known projects"
            found.looked = [Scanned(NAME, home, False, note)]
        return found

    def recognise(self, path: Path) -> list[Origin]:
        """The files of a folder and of the projects below it; of a file, whatever it is called."""
        if path.is_dir():
            roots = [Path(folder) for folder in _below(str(path))]
            kinds = [*map(_kind, _NAMES.values(), _NAMES)]
            files = [(root, root / kind.pattern, kind) for root in roots for kind in kinds]
        else:
            role = next((role for role, name in _NAMES.items() if name == path.name), None)
            if role is None and not _begins_as_history(path):
                return []
            files = [(path.parent, path, _kind(path.name, role or CHAT))]
            if path.name == _NAMES[CHAT]:
                others = [_kind(_NAMES[role], role) for role in (INPUT, MODEL)]
                files += [(path.parent, path.parent / kind.pattern, kind) for kind in others]
        found = [origin_at(NAME, str(file), root, kind) for root, file, kind in files]
        return [origin for origin in found if origin]

    def watched(self, places: Places) -> list[Watched]:
        return super().watched(places)[:_WATCHED]

    def locate(self, places: Places, path: str) -> list[Origin]:
        named = [*_named(places), *_told_in(os.path.dirname(path), places.home)]
        names = {*_NAMES.values(), *(os.path.basename(name) for _, name in named)}
        return super().locate(places, path) if os.path.basename(path) in names else []

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return zones.with_zones(super().read(origin, known), known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        return sessions.read_sessions(NAME, strands)

    def resume(self, conversation: Conversation) -> str | None:
        return in_project(conversation, "aider --restore-chat-history")

    def revive(self, conversation: Conversation) -> str | None:
        return in_project(conversation, "aider --restore-chat-history")


def _kind(pattern: str, role: str) -> FileKind:
    # Files of one folder belong together: what was typed there is in one of them for all sessions.
    return FileKind(pattern.replace(os.sep, "/"), "lines", role, os.path.dirname)


def _folders(places: Places) -> Iterator[str]:
    """The directories that conversations were in, and the roots of their repositories."""
    for project in places.projects[:_PROJECTS]:
        yield project
        folder = project
        for _ in range(_DEPTH):
            if os.path.exists(os.path.join(folder, ".git")):
                yield folder
                break
            folder = os.path.dirname(folder)


def _named(places: Places) -> list[tuple[str, str]]:
    """Files that the environment or the settings in the home name, each with its role."""
    variables = [
        (role, _path(value, places.home))
        for role, option in _OPTIONS.items()
        if (value := places.environment.get(f"AIDER_{option.upper().replace('-', '_')}"))
    ]
    return [*variables, *_told_in(str(places.home), places.home)]


def _told_in(folder: str, home: Path) -> list[tuple[str, str]]:
    """Files that the settings in a folder name."""
    try:
        with open_plain(os.path.join(folder, _SETTINGS)) as file:
            settings = file.read(_PEEK).decode("utf-8", "replace")
    except (SourceTrouble, OSError, ValueError):
        return []
    found = []
    for role, option in _OPTIONS.items():
        told = re.search(rf"^{option}:[ \t]*(.+?)[ \t]*(?:\s#.*)?$", settings, re.MULTILINE)
        if told and "*" not in told[1]:
            found.append((role, _path(told[1].strip("\"'"), home)))
    return found


def _path(value: str, home: Path) -> str:
    return os.path.normpath(re.sub(r"^~(?=[/\\])", lambda _: str(home), value))


def _below(folder: str) -> Iterator[str]:
    """A folder and those below it in which projects may lie, the nearest first."""
    waiting = [folder]
    seen = 0
    for _ in range(_DEPTH):
        level, waiting = waiting, []
        for one in level:
            seen += 1
            if seen > _MOST:
                return
            yield one
            try:
                with os.scandir(one) as entries:
                    waiting += sorted(
                        entry.path
                        for entry in entries
                        if entry.is_dir(follow_symlinks=False)
                        and not entry.name.startswith(".")
                        and entry.name != "node_modules"
                    )
            except OSError:
                # One that may not be listed has no history that could be read.
                continue


def _begins_as_history(path: Path) -> bool:
    try:
        with open_plain(str(path)) as file:
            return file.read(64).lstrip().startswith(b"# aider chat started at ")
    except (SourceTrouble, OSError):
        return False


READER = HistoryReader()
