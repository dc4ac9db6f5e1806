"""The files of Claude Code: which there are, whose they are, and which session each belongs to.

One walk over a config root, the files a changed path concerns, and whether a file or folder that a
user names is Claude Code's at all. No file is opened whose name says what it is; of the others a
few first lines are read. Folder names under `projects` are lossy and never decoded."""

# Strings instead of pathlib: a thousand files are listed at every run.
# ruff: noqa: PTH116, PTH118, PTH119
# Strings instead of pathlib: every change of a file comes by here.
# ruff: noqa: PTH110, PTH112, PTH118, PTH120, PTH206

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from rireki.model.conversation import Trouble
from rireki.sources.claude_code.shapes import loads
from rireki.sources.kit.stamps import file_stamp, is_regular
from rireki.sources.reader import Form, Origin

__all__ = ["HISTORY", "NAME", "UUID", "Walk", "first_value", "locate", "recognise", "session_of"]


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
#: Folders beside `projects` with a folder per session: file versions to rewind to, pasted pictures.
BESIDE = ("file-history", "image-cache")


class Walk:
    """Gathers origins below a root; what cannot be listed becomes a trouble."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.origins: list[Origin] = []
        self.troubles: list[Trouble] = []
        self._entered: set[tuple[int, int]] = set()

    def config_root(self) -> None:
        """`projects`, the terminal's history, and what is kept per session beside them."""
        self.history(os.path.join(self.root, "history.jsonl"))
        for entry in self._list(os.path.join(self.root, "projects")):
            if entry.is_dir():
                self.project(entry.path)
        for name in BESIDE:
            for entry in self._list(os.path.join(self.root, name)):
                if entry.is_dir() and UUID.fullmatch(entry.name):
                    self.session_folder(entry.path, entry.name)

    def history(self, path: str) -> None:
        self._add(path, "lines", "prompts", HISTORY)

    def project(self, folder: str) -> None:
        """Transcripts, flat sub-agents, and a folder of more files per session."""
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

    def transcript(self, path: str, conversation: str) -> None:
        role = "agent" if conversation.startswith("agent-") else "main"
        self._add(path, "lines", role, conversation)

    def agent_meta(self, path: str, conversation: str) -> None:
        self._add(path, "document", "agent-meta", conversation)

    def session_folder(self, folder: str, session: str) -> None:
        """Sub-agents at any depth, spilled tool outputs, and whatever else lies there."""
        for entry in self._list(folder):
            name, path = entry.name, entry.path
            if entry.is_dir():
                self.session_folder(path, session)
            elif name.startswith("agent-") and name.endswith(".jsonl"):
                self.transcript(path, name[:-6])
            elif name.startswith("agent-") and name.endswith(".meta.json"):
                self.agent_meta(path, name[:-10])
            elif os.path.basename(folder) == "tool-results":
                self._add(path, "document", "tool-output", session)
            else:
                self._add(path, "document", "side", session)

    def _add(self, path: str, form: Form, role: str, conversation: str) -> None:
        try:
            status = os.stat(path)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                self._complain(path, error)
            return
        if not is_regular(status):
            return
        self.origins.append(
            Origin(
                source=NAME,
                place=path,
                root=self.root,
                form=form,
                role=role,
                conversation=conversation,
                stamp=file_stamp(status),
                size=status.st_size,
            )
        )

    def _list(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """The entries of a folder in a stable order; nothing for one already entered."""
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in self._entered:
                return
            self._entered.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                found = sorted(entries, key=attrgetter("name"))
        except FileNotFoundError:
            return
        except OSError as error:
            self._complain(folder, error)
            return
        yield from found

    def _complain(self, path: str, error: OSError) -> None:
        self.troubles.append(
            Trouble(
                path,
                f"cannot be read ({error.strerror or error})",
                "Check that you may read it; everything else was read.",
            )
        )


def locate(root: Path, path: str) -> list[Origin]:
    """The origins at a path below the root, or in the folder it is: as a whole walk would find them."""
    walk = Walk(root)
    match os.path.relpath(path, root).split(os.sep):
        case ["history.jsonl"]:
            walk.history(path)
        case ["projects"]:
            walk.config_root()
        case ["projects", _]:
            walk.project(path)
        case ["projects", _, name] if name.endswith(".jsonl"):
            walk.transcript(path, session_of(name[:-6], path))
        case ["projects", project, session, *below]:
            if _is_session(os.path.join(root, "projects", project), session):
                _session(walk, path, session, bool(below))
        case [name, session, *below] if name in BESIDE and UUID.fullmatch(session):
            _session(walk, path, session, bool(below))
    return [o for o in walk.origins if o.place == path or o.place.startswith(path + os.sep)]


def _is_session(project: str, name: str) -> bool:
    """Other folders in a project, such as `memory`, hold no conversations."""
    return bool(UUID.fullmatch(name)) or os.path.exists(os.path.join(project, f"{name}.jsonl"))


def _session(walk: Walk, path: str, session: str, below: bool) -> None:
    if os.path.isdir(path):
        walk.session_folder(path, session)
    elif below:
        walk.session_folder(os.path.dirname(path), session)


#: How many files of a folder are looked at.
SAMPLE = 20
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
