"""The files of Claude Code: which there are, whose they are, and which session each belongs to.

One walk over a config root, the files a changed path concerns, and whether a file or folder that a
user names is Claude Code's at all. No file is opened whose name says what it is; of the others a
few first lines are read. Folder names under `projects` are lossy and never decoded."""

# Strings instead of pathlib: a thousand files are listed at every run, and every change comes by here.
# ruff: noqa: PTH110, PTH112, PTH118, PTH119, PTH120, PTH206

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path
from typing import Any

from rireki.errors import SourceTrouble
from rireki.model.conversation import Trouble
from rireki.sources.claude_code.shapes import loads
from rireki.sources.kit.fields import get
from rireki.sources.kit.files import FileKind, listing, origin_at
from rireki.sources.kit.stamps import is_regular, open_plain
from rireki.sources.reader import Form, Origin

__all__ = ["BELOW", "HISTORY", "NAME", "Walk", "locate", "project_of", "recognise"]


#: How much of a file is looked at.
PEEK = 256 << 10
UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def session_of(stem: str, path: str) -> str:
    """The conversation of a transcript. One with a name of its own, such as a backup, belongs to
    the session its lines name."""
    if stem.startswith("agent-") or UUID.fullmatch(stem):
        return stem
    try:
        first = first_value(Path(path))
    except OSError:
        # Whoever reads it says what is wrong with it.
        return stem
    session = first.get("sessionId") if first is not None else None
    return session if isinstance(session, str) and session else stem


def first_value(path: Path) -> dict[str, Any] | None:
    """The first JSON object of a file of lines, or None."""
    if not is_regular(path.stat()):
        return None
    with path.open("rb") as file:
        head = file.read(PEEK)
    for line in head.split(b"\n"):
        value = loads(line.replace(b"\0", b""))
        if isinstance(value, dict):
            return value
    return None


NAME = "claude-code"
#: The group of prompts typed in the terminal, whatever session they belong to.
HISTORY = "@history"
#: The folder of a project with what agents noted about it.
MEMORY = "memory"
#: Folders beside `projects` with a folder per session, and what lies there: file versions to rewind
#: to, pasted pictures, tasks.
BESIDE = {"file-history": "side", "image-cache": "side", "tasks": "task"}
#: Folders of files, one per session and agent, or one per plan.
NOTES = ("todos", "plans")
#: Everything below a root that is looked into.
BELOW = ("projects", *BESIDE, *NOTES)
_TODO = re.compile(rf"({UUID.pattern})(?:-agent-.*)?\.json")


class Walk:
    """Gathers origins below a root; what cannot be listed becomes a trouble."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.origins: list[Origin] = []
        self.troubles: list[Trouble] = []
        self._entered: set[tuple[int, int]] = set()

    def config_root(self) -> None:
        """`projects`, the terminal's history, and what is kept per session beside them."""
        self.history(str(self.root / "history.jsonl"))
        for entry in self._list(str(self.root / "projects")):
            if entry.is_dir():
                self.project(entry.path)
        for name, role in BESIDE.items():
            for entry in self._list(str(self.root / name)):
                if entry.is_dir() and UUID.fullmatch(entry.name):
                    self.session_folder(entry.path, entry.name, role)
        for name in NOTES:
            for entry in self._list(str(self.root / name)):
                self.note(entry.path)

    def history(self, path: str) -> None:
        self._add(path, "lines", "prompts", HISTORY)

    def note(self, path: str) -> None:
        """A to-do list names its session; a plan has a name of its own."""
        folder, name = os.path.split(path)
        if os.path.basename(folder) == "plans" and name.endswith(".md"):
            self._add(path, "document", "plan", f"plan/{name[:-3]}")
        elif os.path.basename(folder) == "todos" and (todo := _TODO.fullmatch(name)):
            self._add(path, "document", "todo", todo[1])

    def memory(self, folder: str, project: str) -> None:
        """What agents noted about a project, by the name of its folder."""
        for entry in self._list(folder):
            if entry.is_dir():
                self.memory(entry.path, project)
            else:
                self._add(entry.path, "document", "memory", f"memory/{project}")

    def project(self, folder: str) -> None:
        """Transcripts, flat sub-agents, a folder of more files per session, and the memory."""
        folders: list[os.DirEntry[str]] = []
        sessions: set[str] = set()
        for entry in self._list(folder):
            name = entry.name
            if name.endswith(".jsonl"):
                self.transcript(entry.path, session_of(name[:-6], entry.path))
                sessions.add(name[:-6])
            elif entry.is_dir():
                folders.append(entry)
        for entry in folders:
            if entry.name in sessions or UUID.fullmatch(entry.name):
                self.session_folder(entry.path, entry.name)
            elif entry.name == MEMORY:
                self.memory(entry.path, os.path.basename(folder))

    def transcript(self, path: str, conversation: str) -> None:
        role = "agent" if conversation.startswith("agent-") else "main"
        self._add(path, "lines", role, conversation)

    def agent_meta(self, path: str, conversation: str) -> None:
        self._add(path, "document", "agent-meta", conversation)

    def session_folder(self, folder: str, session: str, role: str = "side") -> None:
        """Sub-agents at any depth, spilled tool outputs, and whatever else lies there."""
        for entry in self._list(folder):
            name, path = entry.name, entry.path
            if entry.is_dir():
                self.session_folder(path, session, role)
            elif name.startswith("agent-") and name.endswith(".jsonl"):
                self.transcript(path, name[:-6])
            elif name.startswith("agent-") and name.endswith(".meta.json"):
                self.agent_meta(path, name[:-10])
            elif os.path.basename(folder) == "tool-results":
                self._add(path, "document", "tool-output", session)
            else:
                # Beside tasks lie locks and counters.
                is_task = role != "task" or name.endswith(".json")
                self._add(path, "document", role if is_task else "side", session)

    def _add(self, path: str, form: Form, role: str, conversation: str) -> None:
        kind = FileKind("", form, role, lambda _: conversation)
        if (origin := origin_at(NAME, path, self.root, kind, self.troubles)) is not None:
            self.origins.append(origin)

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        return listing(folder, self.troubles, self._entered)


def locate(root: Path, path: str) -> list[Origin]:
    """The origins at a path below the root, or in the folder it is: as a whole walk would find them."""
    walk = Walk(root)
    match os.path.relpath(path, root).split(os.sep):
        case ["history.jsonl"]:
            walk.history(path)
        case [name] if name in BELOW:
            walk.config_root()
        case ["todos" | "plans", _]:
            walk.note(path)
        case ["projects", _]:
            walk.project(path)
        case ["projects", _, name] if name.endswith(".jsonl"):
            walk.transcript(path, session_of(name[:-6], path))
        case ["projects", project, "memory", *_]:
            walk.memory(os.path.join(root, "projects", project, MEMORY), project)
        case ["projects", project, session, *below]:
            if _is_session(os.path.join(root, "projects", project), session):
                _session(walk, path, session, bool(below))
        case [name, session, *below] if name in BESIDE and UUID.fullmatch(session):
            _session(walk, path, session, bool(below), BESIDE[name])
    return [o for o in walk.origins if o.place == path or o.place.startswith(path + os.sep)]


def _is_session(project: str, name: str) -> bool:
    """Other folders in a project hold no conversations."""
    return bool(UUID.fullmatch(name)) or os.path.exists(os.path.join(project, f"{name}.jsonl"))


def _session(walk: Walk, path: str, session: str, below: bool, role: str = "side") -> None:
    if os.path.isdir(path):
        walk.session_folder(path, session, role)
    elif below:
        walk.session_folder(os.path.dirname(path), session, role)


#: How many files of a folder are looked at.
SAMPLE = 20


def project_of(memory: str) -> str | None:
    """The directory that a file of a project's memory is about: folder names are lossy, so the
    transcripts beside it are asked."""
    folder = next((path for path in Path(memory).parents if path.name == MEMORY), None)
    for path in islice(folder.parent.glob("*.jsonl"), SAMPLE) if folder else ():
        for line in _head(path).split(b"\n"):
            found = get(loads(line), "cwd") if b'"cwd"' in line else None
            if isinstance(found, str) and _is_named_after(path.parent.name, found):
                return found
    return None


def _is_named_after(folder: str, directory: str) -> bool:
    """Whether Claude Code files this directory there; long names end in a digest."""
    name = re.sub(r"[^a-zA-Z0-9]", "-", directory)
    return name == folder or (len(name) > 200 and folder.startswith(name[:200]))


def _head(path: Path) -> bytes:
    try:
        with open_plain(str(path)) as file:
            return file.read(PEEK)
    except (OSError, SourceTrouble):
        # Whoever reads it says what is wrong with it.
        return b""


_MARKS = ("sessionId", "uuid", "leafUuid", "messageId")
#: Types that other tools' transcripts use as well: these need our envelope.
_ENVELOPE = ("parentUuid", "isSidechain", "userType", "leafUuid", "messageId", "version")


def recognise(path: Path) -> list[Origin]:
    try:
        path = path.absolute()
        return _folder(path) if path.is_dir() else _file(path)
    except OSError:
        return []


def _folder(path: Path) -> list[Origin]:
    for root in (path, path / ".claude"):
        if _is_root(root):
            walk = Walk(root)
            walk.config_root()
            return walk.origins
    if path.name == "projects" and _is_root(path.parent):
        return _folder(path.parent)
    walk = Walk(_root_of(path))
    if _any_transcript(path.glob("*.jsonl")):
        walk.project(str(path))
    elif _any_transcript(path.glob("subagents/**/*.jsonl")):
        walk.session_folder(str(path), path.name)
    return walk.origins


def _file(path: Path) -> list[Origin]:
    if path.suffix != ".jsonl":
        return []
    first = first_value(path)
    if _is_typed_prompt(first):
        walk = Walk(path.parent)
        walk.history(str(path))
        return walk.origins
    if not _is_line(first):
        return []
    walk = Walk(_root_of(path.parent))
    conversation = session_of(path.stem, str(path))
    walk.transcript(str(path), conversation)
    if path.stem.startswith("agent-"):
        walk.agent_meta(str(path.with_suffix(".meta.json")), conversation)
    elif path.with_suffix("").is_dir():
        walk.session_folder(str(path.with_suffix("")), conversation)
    return walk.origins


def _root_of(folder: Path) -> Path:
    """The config root above a project folder, or the folder itself when it lies alone."""
    for above in folder.parents:
        if above.name == "projects":
            return above.parent
    return folder


def _is_root(path: Path) -> bool:
    if (path / "projects").is_dir() and _any_transcript(path.glob("projects/*/*.jsonl")):
        return True
    history = path / "history.jsonl"
    return history.is_file() and _is_typed_prompt(first_value(history))


def _any_transcript(paths: Any) -> bool:
    return any(_is_line(first_value(path)) for path in islice(paths, SAMPLE))


def _is_line(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] in ("user", "assistant", "system"):
        return any(mark in value for mark in _ENVELOPE)
    return any(mark in value for mark in _MARKS)


def _is_typed_prompt(value: Any) -> bool:
    return isinstance(value, dict) and "display" in value and "pastedContents" in value
