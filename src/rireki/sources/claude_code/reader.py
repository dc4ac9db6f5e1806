"""The reader of Claude Code: where its files are, how they are read, what its clients do right now."""

# Strings instead of pathlib: every change of a file comes by here.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rireki.model.activity import Activity, ActivityState
from rireki.model.conversation import Conversation
from rireki.model.times import from_ms
from rireki.sources.claude_code.files import (
    BELOW,
    NAME,
    Walk,
    locate,
    project_of,
    recognise,
)
from rireki.sources.kit.files import FileReader, belonging
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.processes import is_alive
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update, Watched

__all__ = ["READER", "REASONS", "ClaudeCode"]


#: The rows of the table in `classify.py`, in words: why an entry is shown as it is.
REASONS = {
    "1": "result of a tool",
    "1a": "a person refused, in their words",
    "1b": "a person answered a question",
    "1c": "a person decided about a plan",
    "2": "written by the agent that started this one",
    "3": "summary of a compacted context",
    "4": "skill that the model loaded",
    "5": "text of a command that was typed",
    "6": "caveat before the output of commands",
    "7": "path of a pasted picture",
    "8": "hook that sent the agent on",
    "9": "put in by the program",
    "10": "sent by something else than a person",
    "11": "a background task ended",
    "12": "sent by another agent",
    "13": "command that was typed",
    "14": "output of a command",
    "15": "shell command that was typed, or its output",
    "16": "a person interrupted",
    "17": "context that an editor or a loop put in",
    "18": "note that was typed for the memory",
    "19": "typed prompt with a picture",
    "20": "typed prompt",
    "A1": "typed while the agent worked",
    "A2": "queued by something else than a person",
    "A3": "typed, and never sent",
    "A4": "output of a hook",
    "A5": "file or folder that a prompt mentions",
    "A6": "context for the model",
    "S1": "unknown command that was typed",
    "S2": "notice of the program",
    "todo": "to-do list that the agent kept",
    "task": "task that the agent noted",
    "plan": "plan that the agent wrote",
    "memory": "what agents noted about the project",
    "answer": "answer of the model",
    "api error": "error in place of an answer",
    "filler": "put in where no answer was wanted",
    "unknown": "not understood",
}


class ClaudeCode(FileReader):
    name = NAME
    reasons = REASONS
    family = NAME
    meaning = "rireki.sources.claude_code.readings"

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for root in _roots(places):
            walk = Walk(root)
            walk.config_root()
            found.origins += walk.origins
            found.troubles += walk.troubles
            found.looked.append(_looked(root, walk))
        return found

    def recognise(self, path: Path) -> list[Origin]:
        return recognise(path)

    def watched(self, places: Places) -> list[Watched]:
        """Not the whole root: it also holds logs, snapshots and other people's plug-ins."""
        roots = list(map(str, _roots(places)))
        below = [Watched(os.path.join(root, name), True) for root in roots for name in BELOW]
        return [*map(Watched, roots), *below]

    def locate(self, places: Places, path: str) -> list[Origin]:
        for root in _roots(places):
            if path.startswith(os.path.join(root, "")):
                return locate(root, path)
        return []

    def activity(self, places: Places) -> list[Activity]:
        return [found for root in _roots(places) for found in read_status(root)]

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.role == "memory":
            origin = belonging(origin, project_of(origin.place))
        return super().read(origin, known)

    def resume(self, conversation: Conversation) -> str | None:
        """Sessions are resumed in their project's directory; sub-agents and bare prompts are not."""
        if conversation.nature != "conversation":
            return None
        return in_project(conversation, "claude --resume", with_id=True)

    def revive(self, conversation: Conversation) -> str | None:
        """Files go back to where they lay: restored to the config folder, they are found again."""
        command = self.resume(conversation)
        return f"{command} (with ~/.claude for DIR)" if command else None


def _roots(places: Places) -> list[Path]:
    """`$CLAUDE_CONFIG_DIR`, else `~/.claude`; the XDG place of some versions where it exists."""
    if (chosen := places.variable("CLAUDE_CONFIG_DIR")) is not None:
        return [chosen]
    roots = [places.home / ".claude"]
    config = places.home / ".config" / "claude"
    if (config / "projects").is_dir():
        roots.append(config)
    return roots


def _looked(root: Path, walk: Walk) -> Scanned:
    sessions = sum(1 for origin in walk.origins if origin.role == "main")
    if walk.origins:
        told = f"{sessions} session{'' if sessions == 1 else 's'}"
        files = f"{len(walk.origins)} file{'' if len(walk.origins) == 1 else 's'}"
        return Scanned(NAME, str(root), True, f"{told}, {files}")
    if walk.troubles:
        return Scanned(NAME, str(root), False, "it cannot be read")
    if not root.is_dir():
        return Scanned(NAME, str(root), False, "no such folder: Claude Code was never used here")
    return Scanned(NAME, str(root), False, "no transcripts: they may have been cleaned up")


#: A status is a few hundred bytes; whatever is longer is something else.
MOST = 64 << 10
_STATES: dict[str, ActivityState] = {"busy": "working", "waiting": "answer", "idle": "idle"}
#: All that it says when it waits for a permission; more than that would name what for.
_PERMISSION = "permission prompt"


class _Status(msgspec.Struct, rename="camel"):
    pid: int
    session_id: str
    status: str = ""
    waiting_for: str = ""
    status_updated_at: float | None = None
    updated_at: float | None = None


def read_status(root: Path) -> list[Activity]:
    """What the clients that run now are doing, from a small file per process, `sessions/<pid>.json`.

    The client rewrites it in place and removes it when it ends; one that was killed leaves it
    behind, so the file of a process that is gone says nothing. A headless client does not say
    what it does: it is left out.
    """
    found = []
    for path in _files(root / "sessions"):
        status = _read(path)
        if status is not None and status.status in _STATES and is_alive(status.pid):
            found.append(_activity(status))
    return found


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(".json"))
    except OSError:
        return []


def _read(path: Path) -> _Status | None:
    """None for what is not there any more, half written, or no status."""
    try:
        if not path.is_file() or path.stat().st_size > MOST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=_Status, strict=False)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _activity(status: _Status) -> Activity:
    at = status.status_updated_at or status.updated_at
    state, detail = _state(status)
    return Activity(
        NAME,
        f"{NAME}/{status.session_id}",
        state,
        detail,
        from_ms(at) if at is not None else None,
    )


def _state(status: _Status) -> tuple[ActivityState, str]:
    """Permissions are its own word for itself; whatever else it waits for is the person's answer."""
    if status.status == "waiting" and status.waiting_for.startswith("permission"):
        return "permission", status.waiting_for.removeprefix(_PERMISSION)
    return _STATES[status.status], status.waiting_for if status.status == "waiting" else ""


READER = ClaudeCode()
