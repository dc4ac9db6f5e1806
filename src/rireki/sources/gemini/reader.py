"""Where Gemini CLI and Qwen Code keep their sessions, and which project each belongs to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, belonging, parent_of, stem_of
from rireki.sources.kit.pieces import HEAD, Cuts
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Content, Discovery, Known, Origin, Piece, Roll, Update

__all__ = ["GEMINI", "MESSAGES", "QWEN", "TYPED"]

#: The lanes of the messages of a whole file, and of prompts.
MESSAGES, TYPED = "messages", "typed"
#: The groups of files that belong to no single session.
LISTS, PROJECTS = "@typed", "@projects"
#: A folder that is called after the SHA-256 of its project's path.
_HASH = re.compile(r"[0-9a-f]{64}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"\\]+)"')
#: How much of a file is looked at to see what it is.
_PEEK = 1 << 16
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "tool results": "result of a tool",
    "task of a sub-agent": "what another agent asked for",
    "shell command": "command the person ran with !",
    "command": "command that was typed",
    "typed, and not in the chat": "typed in the terminal, and in no chat",
    "session context": "description of the machine",
    "editor context": "context that an editor put in",
    "given to the model": "what the program made of a typed prompt",
    "mentioned files": "file that a prompt mentions",
    "nudge": "the program sent the agent on",
    "background task": "a background task ended",
    "scheduled": "scheduled prompt",
    "goal": "goal of the agent",
    "reminder": "reminder of the program",
    "notice": "notice of the program",
    "error": "error in place of an answer",
    "interrupted": "the turn was interrupted",
}


def group_of(session: str) -> str:
    """What names of files have of a session's id."""
    return session[:8]


def _chat(path: str) -> str:
    """`session-2026-11-17T12-12-9ff13080.json`: the time, and how the session's id begins."""
    found = re.fullmatch(r"session-\d{4}-\d\d-\d\dT\d\d-\d\d-(.+)", stem_of(path))
    return group_of(found[1] if found else stem_of(path).removeprefix("session-"))


def _agent(path: str) -> str:
    """A sub-agent's short name is unique only below the session it worked for."""
    name = stem_of(path)
    return name if _UUID.fullmatch(name) else f"{parent_of(path)}/{name}"


def _qwen_agent(path: str) -> str:
    name = re.sub(r"\.(?:jsonl|meta\.json)$", "", os.path.basename(path))  # noqa: PTH119
    return f"{parent_of(path)}/{name.removeprefix('agent-')}"


def _saved(path: str) -> str:
    return f"{parent_of(path)}/{stem_of(path)}"


_KINDS = (
    FileKind("tmp/*/chats/session-*.jsonl", "lines", "chat", _chat),
    FileKind("tmp/*/chats/session-*.json", "document", "chat", _chat),
    FileKind("tmp/*/chats/*/*.jsonl", "lines", "agent", _agent),
    FileKind("tmp/*/chats/*/*.json", "document", "agent", _agent),
    FileKind("tmp/*/logs.json", "document", "logs", lambda path: LISTS),
    FileKind("tmp/*/checkpoint-*.json", "document", "saved", _saved),
    FileKind("tmp/*/checkpoints/*.json", "document", "saved", _saved),
    FileKind("tmp/*/.project_root", "document", "project", lambda path: PROJECTS),
    FileKind("projects.json", "document", "project", lambda path: PROJECTS),
)
_QWEN_KINDS = (
    FileKind(
        "projects/*/chats/**/*.jsonl", "lines", "session", lambda path: group_of(stem_of(path))
    ),
    FileKind("projects/*/subagents/*/agent-*.jsonl", "lines", "session-agent", _qwen_agent),
    FileKind("projects/*/subagents/*/agent-*.meta.json", "document", "meta", _qwen_agent),
)


class _Sessions(FileReader):
    """What both have in common: the layout below `tmp`, one folder per project."""

    meaning = "rireki.sources.gemini.readings"
    reasons = REASONS
    cuts = {"chat": Cuts({"messages": MESSAGES}), "agent": Cuts({"messages": MESSAGES})} | {
        "logs": Cuts({"": TYPED})
    }
    command = ""
    #: What a file may be that lies anywhere.
    loose: tuple[str, ...] = ("chat",)

    def grouping(self, session: str) -> str:
        return group_of(session)

    def discover(self, places: Places) -> Discovery:
        found = super().discover(places)
        found.origins = _with_projects(found.origins, places)
        return found

    def locate(self, places: Places, path: str) -> list[Origin]:
        return _with_projects(super().locate(places, path), places)

    def owns(self, origin: Origin) -> bool:
        """Whether it looks like a file of theirs."""
        start = _start(origin.place)
        match origin.role:
            case "chat" | "agent":
                return b'"sessionId"' in start and b'"projectHash"' in start
            case "session" | "session-agent":
                return b'"sessionId"' in start and b'"parentUuid"' in start and b'"parts"' in start
            case "logs":
                return b'"sessionId"' in start and b'"messageId"' in start
            case "saved":
                return b'"parts"' in start or b'"history"' in start
            case _:
                return origin.role != "project" or b"/" in start or b"\\" in start

    def recognise(self, path: Path) -> list[Origin]:
        if found := super().recognise(path):
            return found
        # A file of any name, or a folder with such files: the content tells.
        files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
        here = path if path.is_dir() else path.parent
        kinds = [FileKind("*.jsonl", "lines", role, _by_content) for role in self.loose]
        if "chat" in self.loose:
            kinds.append(FileKind("*.json", "document", "chat", _by_content))
        found = [one for file in files for one in self._around(FilesBelow(here, kinds), file)]
        alone = {one.place: one for one in found if one.place in map(str, files)}
        return [one for one in alone.values() if self.owns(one)]

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        project = origin.project or _project(origin)
        owner = _owner(origin) if origin.role == "saved" else None
        for update in super().read(origin, known):
            if isinstance(update, Update):
                update.project = update.project or project
                update.conversation = owner or update.conversation
            yield update
            if origin.role == "logs" and isinstance(update, Update):
                yield from _typed(update, known)

    def resume(self, conversation: Conversation) -> str | None:
        # A saved history that no session is known of is loaded by hand: /chat resume TAG.
        if conversation.nature != "conversation" or "/" in conversation.native_id:
            return None
        return in_project(conversation, f"{self.command} --resume", with_id=True)


class GeminiCli(_Sessions):
    name = "gemini-cli"
    family = "gemini-cli"
    command = "gemini"

    def below(self, places: Places) -> list[FilesBelow]:
        root = (places.variable("GEMINI_CLI_HOME") or places.home) / ".gemini"
        return [FilesBelow(root, _KINDS, "{n} files")]

    def revive(self, conversation: Conversation) -> str | None:
        command = self.resume(conversation)
        return f"{command} (with ~/.gemini for DIR)" if command else None


class QwenCode(_Sessions):
    name = "qwen-code"
    family = "qwen-code"
    command = "qwen"
    loose = ("session",)

    def below(self, places: Places) -> list[FilesBelow]:
        chosen = places.variable("QWEN_RUNTIME_DIR") or places.variable("QWEN_HOME")
        root = chosen or places.home / ".qwen"
        return [FilesBelow(root, (*_QWEN_KINDS, *_KINDS[:-1]), "{n} files")]

    def revive(self, conversation: Conversation) -> str | None:
        command = self.resume(conversation)
        return f"{command} (with ~/.qwen for DIR)" if command else None


# ── what a file is, and whose ──


def _start(path: str) -> bytes:
    try:
        with open_plain(path) as file:
            return file.read(_PEEK)
    except (SourceTrouble, OSError):
        return b""


def _value(path: Path) -> Any:
    """The JSON of a small file; None when it is none."""
    try:
        with open_plain(str(path)) as file:
            return load(file.read())
    except (SourceTrouble, OSError, NotReadable):
        return None


def _by_content(path: str) -> str:
    found = _SESSION.search(_start(path))
    return group_of(found[1].decode("utf-8", "replace") if found else stem_of(path))


def _folder(origin: Origin) -> Path | None:
    """The folder of a project below `tmp`."""
    parts = Path(origin.place).parts
    depth = len(Path(origin.root).parts)
    if len(parts) < depth + 3 or parts[depth] != "tmp":
        return None
    return Path(*parts[: depth + 2])


def _with_projects(origins: list[Origin], places: Places) -> list[Origin]:
    """Folders that are called after a hash belong to the project whose path has it."""
    folders = {one.place: folder.name for one in origins if (folder := _folder(one))}
    hashed = {place: name for place, name in folders.items() if _HASH.fullmatch(name)}
    if not hashed:
        return origins
    known = {_hash(directory): directory for directory in places.projects}
    return [belonging(one, known.get(hashed.get(one.place, ""))) for one in origins]


def _hash(directory: str) -> str:
    return sha256(directory.encode("utf-8", "surrogateescape")).hexdigest()


def _project(origin: Origin) -> str | None:
    """The directory of a chat, as the client notes it beside."""
    folder = _folder(origin)
    if folder is None or origin.role in ("logs", "project"):
        return None
    root = Path(origin.root)
    for place in (folder, root / "history" / folder.name):
        if found := _start(str(place / ".project_root")).decode("utf-8", "replace").strip():
            return found
    projects = get(_value(root / "projects.json"), "projects")
    listed = projects if isinstance(projects, dict) else {}
    for directory, slug in listed.items():
        if slug == folder.name or _hash(directory) == folder.name:
            return str(directory)
    if _HASH.fullmatch(folder.name):
        for note in sorted(
            [*root.glob("tmp/*/.project_root"), *root.glob("history/*/.project_root")]
        ):
            directory = _start(str(note)).decode("utf-8", "replace").strip()
            if _hash(directory) == folder.name:
                return directory
    return None


def _owner(origin: Origin) -> str | None:
    """The session that saved a history: it says so itself, or the list of prompts tells who asked for it."""
    path, folder = Path(origin.place), _folder(origin)
    if folder is None:
        return None
    value = _value(path)
    if session := string(value, "messageId").partition("########")[0]:
        return group_of(session)
    typed = _value(folder / "logs.json")
    tag = unquote(path.stem.removeprefix("checkpoint-"))
    asked = [one for one in items(value, "history") if string(one, "type") == "user"]
    wanted = (
        {f"/chat save {tag}", f"/resume save {tag}"}
        if path.parent == folder
        else {" ".join(string(asked[-1], "text").split())}
        if asked
        else set()
    )
    for entry in reversed(typed if isinstance(typed, list) else []):
        if " ".join(string(entry, "message").split()) in wanted and string(entry, "sessionId"):
            return group_of(string(entry, "sessionId"))
    return None


def _typed(update: Update, known: Known) -> Iterator[Update]:
    """What was typed, session by session: each has its part of the list that all share."""
    sessions: dict[str, list[Piece]] = {}
    for piece in (
        one for content in update.contents if content.lane == TYPED for one in content.pieces
    ):
        try:
            session = string(load(piece.data), "sessionId")
        except NotReadable:
            continue
        if session:
            sessions.setdefault(session, []).append(piece)
    for session, pieces in sessions.items():
        cursor = [len(pieces), pieces[-1].digest.hex()]
        if known.cursors.get(session) == cursor and not known.thorough:
            continue
        ends = [Content(HEAD, [Piece(data, digest_of_bytes(data))]) for data in (b"[", b"]")]
        yield Update(
            key=session,
            role="typed",
            conversation=group_of(session),
            contents=[ends[0], Content(TYPED, pieces, ","), ends[1]],
            cursor=cursor,
        )


GEMINI, QWEN = GeminiCli(), QwenCode()
