"""Where Copilot CLI keeps its sessions: a folder each, with events, facts, a plan and checkpoints."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shlex import quote
from typing import Any

from rireki.errors import SourceTrouble
from rireki.model.activity import Activity, ActivityState
from rireki.model.conversation import Conversation
from rireki.model.times import from_iso
from rireki.sources.copilot.rules import REASONS
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, parent_of, stem_of
from rireki.sources.kit.pieces import Cuts
from rireki.sources.kit.places import Places
from rireki.sources.kit.processes import is_alive
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Origin

__all__ = ["READER"]

NAME = "copilot-cli"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_IN_USE = re.compile(r"inuse\.(\d+)\.(?:lock|hold)")
#: How much of a first line is looked at, and of the end of a file.
_PEEK, _TAIL = 1 << 16, 1 << 18


class CopilotCli(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.copilot.sessions"
    reasons = REASONS
    cuts = {"legacy": Cuts({"chatMessages": "chat", "timeline": "timeline"})}  # noqa: RUF012

    def below(self, places: Places) -> list[FilesBelow]:
        folder = "session-state/*"
        kinds = [
            FileKind(f"{folder}/events.jsonl", "lines", "events", parent_of),
            FileKind(f"{folder}/workspace.yaml", "document", "workspace", parent_of),
            FileKind(f"{folder}/plan.md", "document", "plan", parent_of),
            FileKind(f"{folder}/checkpoints/*.md", "document", "checkpoint", _grandparent),
            # Versions before 0.0.37x had no folders, and those before no events.
            FileKind("session-state/*.jsonl", "lines", "events", stem_of),
            FileKind("history-session-state/*.json", "document", "legacy", _id_in_name),
        ]
        root = places.variable("COPILOT_HOME") or places.home / ".copilot"
        return [FilesBelow(root, kinds, "{n} files")]

    def owns(self, origin: Origin) -> bool:
        if origin.role != "events":
            return True
        first = _first(origin.place)
        return string(first, "type") != "" and isinstance(get(first, "data"), dict)

    def resume(self, conversation: Conversation) -> str | None:
        if conversation.nature != "conversation":
            return None
        command = f"copilot --resume {quote(conversation.native_id)}"
        where = conversation.trail[-1] if conversation.trail else conversation.project
        return f"cd {quote(where)} && {command}" if where else command

    def revive(self, conversation: Conversation) -> str | None:
        command = self.resume(conversation)
        return f"{command} (with ~/.copilot for DIR)" if command else None

    def activity(self, places: Places) -> list[Activity]:
        """What the clients that run now are doing: each marks the folder of its session with its number."""
        found = []
        (files,) = self.below(places)
        for mark in files.root.glob("session-state/*/inuse.*"):
            number = _IN_USE.fullmatch(mark.name)
            if number and is_alive(int(number[1])):
                state, detail, at = _doing(mark.parent / "events.jsonl")
                session = f"{NAME}/{mark.parent.name}"
                found.append(Activity(NAME, session, state, detail, at))
        return found


def _grandparent(path: str) -> str:
    return os.path.basename(os.path.dirname(os.path.dirname(path)))  # noqa: PTH119, PTH120


def _id_in_name(path: str) -> str:
    """`session_<id>_<time>.json`."""
    found = _UUID.search(stem_of(path))
    return found[0] if found else stem_of(path)


def _first(path: str) -> Any:
    try:
        with open_plain(path) as file:
            return load(file.read(_PEEK).split(b"\n")[0])
    except (SourceTrouble, OSError, NotReadable):
        return None


def _doing(events: Path) -> tuple[ActivityState, str, str | None]:
    """What the last events say: nothing is asked, or a tool runs, or a permission is waited for."""
    state: ActivityState = "idle"
    detail, at = "", None
    for event in _last_events(events):
        data = get(event, "data")
        match string(event, "type"):
            case "user.message" | "assistant.turn_start" | "tool.execution_complete":
                state, detail = "working", ""
            case "permission.completed" | "user_input.completed":
                state, detail = "working", ""
            case "tool.execution_start":
                state, detail = "working", string(data, "toolName")
            case "permission.requested":
                request = get(data, "permissionRequest")
                state, detail = "permission", string(request, "fullCommandText")
            case "user_input.requested":
                state, detail = "answer", string(data, "question")
            case "assistant.turn_end" | "abort" | "session.resume" | "session.shutdown":
                state, detail = "idle", ""
            case _:
                continue
        at = from_iso(string(event, "timestamp"))
    return state, detail, at


def _last_events(path: Path) -> list[Any]:
    found = []
    try:
        with open_plain(str(path)) as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            lines = file.read(_TAIL).split(b"\n")
    except (SourceTrouble, OSError):
        return []
    for line in lines:
        try:
            found.append(load(line))
        except NotReadable:
            # The first of them is a piece of a line, the last may be.
            continue
    return found


READER = CopilotCli()
