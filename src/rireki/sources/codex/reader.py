"""Where Codex keeps its threads: rollout files, their names, typed prompts, and its index."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.document import LANE
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.places import Places
from rireki.sources.kit.sqlite import open_database
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["READER", "UUID"]

NAME = "codex"
#: In names of files: first the thread, and last what other files call this one.
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: The groups of files that belong to no single thread.
PROMPTS, NAMES = "@history", "@names"
#: How much of a first line is looked at for a name or a directory.
_PEEK = 1 << 20
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "shell command": "command the person ran with !",
    "command of a script": "command that a script of the model ran",
    "error": "error that the program met",
    "step of a script": "what a script of the model did",
    "plan": "plan of the agent",
    "note": "note of the program",
    "not typed": "in the user's name, but not typed",
    "instructions": "instructions for the model",
    "environment": "description of the machine",
}


class Codex(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.codex.readings"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        folders = ("sessions/*/*/*", "archived_sessions")
        kinds = [
            *(FileKind(f"{folder}/*.jsonl", "lines", "rollout", _thread) for folder in folders),
            *(
                FileKind(f"{folder}/*.jsonl.zst", "document", "rollout", _thread)
                for folder in folders
            ),
            FileKind("history.jsonl", "lines", "prompts", lambda path: PROMPTS),
            FileKind("session_index.jsonl", "lines", "names", lambda path: NAMES),
            FileKind("state_*.sqlite", "database", "state", no_conversation),
        ]
        root = places.variable("CODEX_HOME") or places.home / ".codex"
        return [FilesBelow(root, kinds, "{n} files")]

    def owns(self, origin: Origin) -> bool:
        if origin.role != "rollout" or origin.form == "document":
            return origin.role != "rollout" or bool(UUID.search(os.path.basename(origin.place)))  # noqa: PTH119
        return _named_in(origin.place) != ""

    def recognise(self, path: Path) -> list[Origin]:
        if found := super().recognise(path):
            return found
        # A file of any name, or a folder with such files: the first line tells.
        files = sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]
        kinds = (
            FileKind("*.jsonl", "lines", "rollout", _thread),
            FileKind("*.jsonl.zst", "document", "rollout", _thread),
        )
        here = FilesBelow(path if path.is_dir() else path.parent, kinds)
        return [one for file in files for one in self._around(here, file) if self.owns(one)]

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        project = _repository(_directory(origin)) if origin.role == "rollout" else None
        for update in super().read(origin, known):
            if isinstance(update, Update) and project:
                update.project = project
            yield update

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        """The names of threads, a row each; nothing else of the client's index."""
        with open_database(origin.place) as database:
            if not {"id", "name"} <= database.columns("threads"):
                return
            rows = database.rows("SELECT id, name FROM threads WHERE name <> '' ORDER BY id")
        named = [(id, name) for id, name in rows if isinstance(id, str) and isinstance(name, str)]
        yield from (_row(id, name) for id, name in named)
        yield Roll([id for id, _ in named])

    def resume(self, conversation: Conversation) -> str | None:
        if conversation.nature != "conversation":
            return None
        command = f"codex resume {quote(conversation.native_id)}"
        where = conversation.trail[-1] if conversation.trail else conversation.project
        return f"cd {quote(where)} && {command}" if where else command

    def revive(self, conversation: Conversation) -> str | None:
        command = self.resume(conversation)
        return f"{command} (with ~/.codex for DIR)" if command else None


def _thread(path: str) -> str:
    """The thread of a file: its name tells, or else its first line."""
    name = os.path.basename(path)  # noqa: PTH119
    found = UUID.search(name)
    return found[0] if found else _named_in(path) or name.partition(".jsonl")[0]


def _first(path: str) -> Any:
    try:
        with open_plain(path) as file:
            return load(file.read(_PEEK).split(b"\n")[0])
    except (SourceTrouble, OSError, NotReadable):
        return None


def _named_in(path: str) -> str:
    """The thread that the first line names; empty when it is no rollout's."""
    first = _first(path)
    if string(first, "type") == "session_meta":
        return string(get(first, "payload"), "id")
    is_bare = isinstance(first, dict) and "instructions" in first and "timestamp" in first
    return string(first, "id") if is_bare else ""


def _directory(origin: Origin) -> str:
    return string(get(_first(origin.place), "payload"), "cwd")


def _repository(directory: str) -> str | None:
    """The repository that a checkout of Codex's own was made from; None for any other directory."""
    if "worktrees" not in directory.replace("\\", "/").split("/"):
        return None
    try:
        with open_plain(str(Path(directory, ".git"))) as file:
            link = file.read(4096).decode("utf-8", "surrogateescape")
    except SourceTrouble:
        return None
    found = re.fullmatch(r"gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\][^/\\]+\s*", link)
    if found and found[1].startswith("."):
        # Git may write it as seen from the checkout.
        return os.path.normpath(os.path.join(directory, found[1]))  # noqa: PTH118
    return found[1] if found else None


def _row(thread: str, name: str) -> Update:
    data = json.dumps({"id": thread, "name": name}, ensure_ascii=False).encode("utf-8", "replace")
    return Update(
        key=thread,
        role="state",
        conversation=thread,
        contents=[Content(LANE, [Piece(data, digest_of_bytes(data))])],
        cursor={},
    )


READER = Codex()
