"""Where opencode keeps its sessions: JSON files up to 1.1, a database since 1.2, often both at once.

Kilo's terminal and its extension of 2026 are made from opencode, and keep the same database.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from rireki.model.conversation import Conversation
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import string
from rireki.sources.kit.files import (
    FileKind,
    FileReader,
    FilesBelow,
    no_conversation,
    parent_of,
    stem_of,
)
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.rows import RowKind, read_rows
from rireki.sources.reader import Known, Origin, Roll, Update

__all__ = ["KILO", "READER", "OpenCode"]

_TIMES = ("time_created", "time_updated")
#: The tables with what was said, and nothing of the others: accounts and shares hold tokens.
TABLES = (
    RowKind(
        "session",
        ("id", "project_id", "parent_id", "directory", "title", *_TIMES),
        "id",
        json=("summary_diffs", "metadata", "revert", "permission", "model"),
        optional=(
            *("workspace_id", "slug", "path", "version", "share_url", "revert", "permission"),
            *("summary_additions", "summary_deletions", "summary_files", "summary_diffs"),
            *("metadata", "cost", "tokens_input", "tokens_output", "tokens_reasoning", "agent"),
            *("tokens_cache_read", "tokens_cache_write", "model"),
            *("time_compacting", "time_archived"),
        ),
    ),
    RowKind(
        *("message", ("id", "session_id", *_TIMES, "data"), "session_id"),
        json=("data",),
        bulky=("data",),
    ),
    RowKind(
        *("part", ("id", "message_id", "session_id", *_TIMES, "data"), "session_id"),
        json=("data",),
        bulky=("data",),
    ),
    RowKind(
        *("event", ("id", "aggregate_id", "seq", "type", "data"), "aggregate_id"),
        json=("data",),
        bulky=("data",),
    ),
    RowKind(
        *("session_message", ("id", "session_id", "type", "seq", *_TIMES, "data"), "session_id"),
        json=("data",),
        bulky=("data",),
    ),
    RowKind(
        *("session_input", ("id", "session_id", "prompt"), "session_id"),
        json=("prompt",),
        optional=("delivery", "admitted_seq", "promoted_seq", "time_created"),
    ),
    RowKind("todo", ("session_id", "content", "status", "priority", "position"), "session_id"),
)
#: Below the data directory, since 0.6; and before, below the folder of a project.
_FILES = (
    ("storage/session/*/*.json", "session", stem_of),
    ("storage/message/*/*.json", "message", parent_of),
    ("storage/part/*/*.json", "part", no_conversation),
    ("storage/session_diff/*.json", "diff", stem_of),
    ("storage/todo/*.json", "todo", stem_of),
    ("project/*/storage/session/info/*.json", "session", stem_of),
    ("project/*/storage/session/message/*/*.json", "message", parent_of),
    ("project/*/storage/session/part/*/*/*.json", "part", no_conversation),
)
#: From the rows of a session, as they come back, what `opencode import` takes.
_EXPORT = (
    "{info: (.session[0] | {id, slug, projectID: .project_id, directory, title, version,"
    " time: {created: .time_created, updated: .time_updated}}),"
    " messages: [.part as $p | .message[] | . as $m | {info: (.data + {id, sessionID: .session_id}),"
    " parts: [$p[] | select(.message_id == $m.id) | .data + {id, sessionID: .session_id,"
    " messageID: .message_id}]}]}"
)
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "shell command": "command the person ran with !",
    "synthetic": "in the user's name, but not typed",
    "reminder": "reminder for the model",
    "file for the model": "file or folder that a prompt mentions",
    "ignored": "shown to the person, not sent to the model",
    "summary": "summary of a compacted context",
    "system prompt": "instructions for the model",
    "earlier version": "what stood here before it was changed",
    "queued prompt": "typed while the agent worked",
}


class OpenCode(FileReader):
    meaning = "rireki.sources.opencode.messages"
    reasons = REASONS

    def __init__(self, name: str) -> None:
        self.name = self.family = name

    def below(self, places: Places) -> list[FilesBelow]:
        database = FileKind(f"{self.name}*.db", "database", "database", no_conversation)
        files = [FileKind(pattern, "document", role, whose) for pattern, role, whose in _FILES]
        roots = [places.home / ".local" / "share" / self.name]
        if data := places.variable("XDG_DATA_HOME"):
            roots.insert(0, data / self.name)
        found = [FilesBelow(root, [database, *files], "{n} files") for root in dict.fromkeys(roots)]
        if named := places.variable(f"{self.name.upper()}_DB"):
            elsewhere = roots[0] / named
            kind = database._replace(pattern=elsewhere.name)
            found.append(FilesBelow(elsewhere.parent, [kind], "{n} files"))
        return found

    def owns(self, origin: Origin) -> bool:
        """Other programs keep JSON in such folders as well: ids tell."""
        return origin.form == "database" or stem_of(origin.place)[:4] in ("ses_", "msg_", "prt_")

    def recognise(self, path: Path) -> list[Origin]:
        if found := super().recognise(path):
            return found
        below = [FilesBelow(path, one.kinds) for one in self.below(Places.at(path))[:1]]
        found = [one for files in below for one in self._around(files, path)]
        return [origin for origin in found if self.owns(origin)]

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        for update in super().read(origin, known):
            # The path of a part names its message alone.
            if origin.role == "part" and isinstance(update, Update):
                update.conversation = _session_in(update)
            yield update

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return read_rows(origin, known, TABLES)

    def resume(self, conversation: Conversation) -> str | None:
        return in_project(conversation, f"{self.name} --session", with_id=True)

    def revive(self, conversation: Conversation) -> str | None:
        """Rows come back as JSON, which its own import takes in another order."""
        row, id = quote(f"{conversation.native_id}.json"), quote(conversation.native_id)
        steps = (
            f"jq '{_EXPORT}' DIR/{row} > DIR/import.json",
            f"{self.name} import DIR/import.json",
            f"{self.name} --session {id} (files of DIR/storage belong to"
            f" ~/.local/share/{self.name}/storage)",
        )
        return in_project(conversation, " && ".join(steps))


def _session_in(update: Update) -> str | None:
    data = b"".join(piece.data for content in update.contents for piece in content.pieces)
    try:
        return string(load(data), "sessionID") or None
    except NotReadable:
        return None


READER = OpenCode("opencode")
KILO = OpenCode("kilo")
