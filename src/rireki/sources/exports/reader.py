"""Exports of chat services: files that a person downloaded and gives to `rireki import`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rireki.late import LateModule
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.kit.files import FileKind, no_conversation, origin_at
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Known, Origin, Roll, Scanned, Update, Watched

if TYPE_CHECKING:
    import re

    from rireki.sources.exports import (
        atif,
        chatgpt,
        claude_ai,
        container,
        open_webui,
        shared,
    )
    from rireki.sources.kit import rows
else:
    atif = LateModule("rireki.sources.exports.atif")
    chatgpt = LateModule("rireki.sources.exports.chatgpt")
    claude_ai = LateModule("rireki.sources.exports.claude_ai")
    container = LateModule("rireki.sources.exports.container")
    open_webui = LateModule("rireki.sources.exports.open_webui")
    re = LateModule("re")
    shared = LateModule("rireki.sources.exports.shared")
    rows = LateModule("rireki.sources.kit.rows")

__all__ = ["ATIF", "CHATGPT", "CLAUDE_AI", "OPEN_WEBUI", "SHARED"]

NAMED = "found where you name them: rireki import FILE"
_EXPORT = FileKind("*", "database", "export", no_conversation)
#: The database of Open WebUI; it holds passwords and keys too, in other tables.
_DATABASE = FileKind("*", "database", "store", no_conversation)
_DATABASE_NAME = "webui.db"
#: Which rule decided, in words.
_REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "tool results": "result of a tool",
    "custom instructions": "custom instructions of the account",
    "not shown by the service": "hidden by the service itself",
    "attached file": "text of a file that was attached",
    "system prompt": "instructions for the model",
    "API error": "error of the service",
    "system step": "step of the system",
    "notes": "notes on the trajectory",
    "shared": "shared by somebody",
}


class ExportReader(NamedTuple):
    """Exports lie wherever they were downloaded to: one that was named once is looked at again."""

    name: str
    #: What stands in every export, and in none of another service: a regular expression.
    mark: str
    #: Fields of which the first that is there names a conversation.
    ids: tuple[str, ...]
    #: What the list of conversations is called in a zip or a folder.
    names: str
    #: Finds, in a conversation, how the names of its files begin.
    files: bytes = b""
    #: How a file of it begins; a list has many conversations, anything else is one.
    opening: bytes = b"["
    #: How the names of its files end.
    endings: tuple[str, ...] = (".json", ".zip")
    anywhere: bool = True
    reasons: dict[str, str] = _REASONS

    @property
    def family(self) -> str:
        return self.name

    def discover(self, places: Places) -> Discovery:
        return Discovery(looked=[Scanned(self.name, str(places.home), False, NAMED)])

    def recognise(self, path: Path) -> list[Origin]:
        kind = self._kind()
        if self.name == OPEN_WEBUI.name and (found := _database(path)):
            return found
        if path.is_dir():
            there = sorted(path.iterdir())
            zipped = ".zip" in self.endings
            paths = [
                one
                for one in there
                if kind.names.fullmatch(one.name) or (zipped and one.suffix == ".zip")
            ]
        else:
            paths = [path] if path.suffix.lower() in self.endings else []
        seen = [origin_at(self.name, str(one), one.parent, _EXPORT) for one in paths]
        return [origin for origin in seen if origin and container.is_export(origin.place, kind)]

    def watched(self, places: Places) -> list[Watched]:
        return []

    def locate(self, places: Places, path: str) -> list[Origin]:
        return []

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        # Imported late, as the interpreters: exports are rare, and every import would pay for it.
        from rireki.sources.exports.container import read_export

        if origin.role == _DATABASE.role:
            columns = ("id", "title", "chat", "created_at", "updated_at")
            return rows.read_rows(
                origin, known, [rows.RowKind("chat", columns, "id", json=("chat",))]
            )
        return read_export(origin, known, self._kind())

    def _kind(self) -> container.ExportKind:
        files = re.compile(self.files) if self.files else None
        mark, lists = re.compile(self.mark.encode()), re.compile(self.names)
        names = {ATIF.name: lambda: atif.id_of, SHARED.name: lambda: shared.id_of}
        name_of = names[self.name]() if self.name in names else None
        return container.ExportKind(mark, self.ids, lists, files, self.opening, name_of)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        readers = {
            CHATGPT.name: chatgpt.read_chatgpt,
            CLAUDE_AI.name: claude_ai.read_claude_ai,
            OPEN_WEBUI.name: open_webui.read_open_webui,
            ATIF.name: atif.read_atif,
            SHARED.name: shared.read_shared,
        }
        return readers[self.name](self.name, conversation, strands)

    def resume(self, conversation: Conversation) -> str | None:
        """A chat goes on in the browser, at an address that the export does not tell."""
        return None

    def revive(self, conversation: Conversation) -> str | None:
        return None


def _database(path: Path) -> list[Origin]:
    """The database of Open WebUI, where its name is that, in a folder or by itself."""
    file = path / _DATABASE_NAME if path.is_dir() else path
    if file.name != _DATABASE_NAME:
        return []
    found = origin_at(OPEN_WEBUI.name, str(file), file.parent, _DATABASE)
    return [found] if found else []


CHATGPT = ExportReader(
    "chatgpt-export",
    '"mapping"',
    ("conversation_id", "id"),
    r"conversations(-\d+)?\.json",
    rb"(?:file-service|sediment)://([\w-]+)|\"id\":\s*\"(file[-_][\w-]+)",
)
CLAUDE_AI = ExportReader(
    "claude-ai-export", '"chat_messages"', ("uuid",), r"conversations(-\d+)?\.json"
)
OPEN_WEBUI = ExportReader("open-webui", '"childrenIds"', ("id",), r".*\.json")
ATIF = ExportReader(
    "atif",
    r'"schema_version"\s*:\s*"ATIF-v1\.',
    (),
    r".*\.json",
    opening=b"{",
    endings=(".json",),
)
SHARED = ExportReader(
    "shared",
    '<meta name="rireki-shared" content="sha256:',
    (),
    r".*\.html",
    opening=b"<!doctype html>",
    endings=(".html", ".zip"),
)
