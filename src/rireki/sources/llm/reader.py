"""Where llm keeps its log: one database, with two schemas in it that do not share rows."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from rireki.late import LateModule
from rireki.model.conversation import Conversation
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.places import Places
from rireki.sources.reader import Known, Origin, Roll, Update

if TYPE_CHECKING:
    from rireki.sources.llm import rows
else:
    rows = LateModule("rireki.sources.llm.rows")

__all__ = ["NAME", "READER"]

NAME = "llm"
_FOLDER = "io.datasette.llm"
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "tool results": "result of a tool",
    "system prompt": "system prompt that the person gave",
    "fragment": "text of a fragment that the person named",
}


class LogReader(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.llm.messages"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        home = places.home
        folders = [
            (places.variable("XDG_CONFIG_HOME") or home / ".config") / _FOLDER,
            home / "Library" / "Application Support" / _FOLDER,
            (places.variable("APPDATA") or home / "AppData" / "Roaming") / _FOLDER,
        ]
        named = places.variable("LLM_USER_PATH")
        kinds = [FileKind("logs.db", "database", "log", no_conversation)]
        return [FilesBelow(root, kinds, "there") for root in ([named] if named else folders)]

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return rows.read_log(origin, known)

    def resume(self, conversation: Conversation) -> str | None:
        return f"llm chat --cid {quote(conversation.native_id)}"


READER = LogReader()
