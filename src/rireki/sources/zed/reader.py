"""Where Zed keeps the threads of its own agent: one database, a row per thread.

Other agents that run inside Zed keep files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.places import Places
from rireki.sources.kit.rows import RowKind, read_rows
from rireki.sources.reader import Known, Origin, Roll, Update

__all__ = ["NAME", "READER"]

NAME = "zed"
TABLES = (
    RowKind(
        *("threads", ("id", "summary", "updated_at", "data_type", "data"), "id"),
        json=("data",),
        optional=("parent_id", "folder_paths", "folder_paths_order", "created_at"),
    ),
)
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "context": "context for the model",
    "resumed": "the person sent the agent on",
    "summary": "summary of a compacted context",
}


class ZedReader(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.zed.messages"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        kinds = [FileKind("threads/threads.db", "database", "threads", no_conversation)]
        home = places.home
        roots = [
            (places.variable("XDG_DATA_HOME") or home / ".local" / "share") / "zed",
            home / ".var" / "app" / "dev.zed.Zed" / "data" / "zed",
            home / "Library" / "Application Support" / "Zed",
            (places.variable("LOCALAPPDATA") or home / "AppData" / "Local") / "Zed",
        ]
        return [FilesBelow(root, kinds, "there") for root in roots]

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return read_rows(origin, known, TABLES)


READER = ZedReader()
