"""Where Goose keeps its sessions: one database since about 1.10, a file of lines per session before."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from rireki.model.conversation import Conversation
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.rows import RowKind, read_rows
from rireki.sources.reader import Known, Origin, Roll, Update

__all__ = ["NAME", "READER"]

NAME = "goose"
#: Of a session what was said and what it cost: not its extensions or recipe, which may hold keys.
TABLES = (
    RowKind(
        *("sessions", ("id",), "id"),
        json=("model_config_json",),
        optional=(
            *("name", "user_set_name", "description", "session_type", "working_dir"),
            *("created_at", "updated_at", "provider_name", "model_config_json", "schedule_id"),
            *("total_tokens", "input_tokens", "output_tokens", "accumulated_total_tokens"),
            *("accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cost"),
            *("parent_session_id", "archived_at"),
        ),
    ),
    RowKind(
        *("messages", ("id", "session_id", "role", "content_json"), "session_id"),
        json=("content_json", "metadata_json"),
        optional=("message_id", "created_timestamp", "timestamp", "tokens", "metadata_json"),
    ),
)
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "task of a sub-agent": "what another agent asked for",
    "scheduled": "scheduled prompt",
    "tool results": "result of a tool",
    "not shown": "for the model, not shown to the person",
    "summary": "summary of a compacted context",
    "notice": "notice of the program",
}


class SessionReader(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.goose.messages"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        kinds = [
            FileKind("sessions.db", "database", "sessions", no_conversation),
            FileKind("*.jsonl", "lines"),
        ]
        roots = [places.variable("XDG_DATA_HOME"), places.home / ".local" / "share"]
        found = [root / NAME / "sessions" for root in roots if root]
        roaming = places.variable("APPDATA") or places.home / "AppData" / "Roaming"
        found.append(roaming / "Block" / NAME / "data" / "sessions")
        if moved := places.variable("GOOSE_PATH_ROOT"):
            found.insert(0, moved / "data" / "sessions")
        return [FilesBelow(root, kinds, "{n} files") for root in dict.fromkeys(found)]

    def owns(self, origin: Origin) -> bool:
        """Lines of other programs lie in folders of that name, too."""
        return origin.form == "database" or NAME in origin.place

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return read_rows(origin, known, TABLES)

    def resume(self, conversation: Conversation) -> str | None:
        id = quote(conversation.native_id)
        return in_project(conversation, f"goose session --resume --session-id {id}")


READER = SessionReader()
