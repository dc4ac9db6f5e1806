"""Where VS Code keeps chats: files of three generations, titles and old chats in its databases, transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rireki.sources.copilot.rules import REASONS
from rireki.sources.kit.decode import NotReadable, elements, load
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.fields import string
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.pieces import Cuts, split, whole
from rireki.sources.kit.places import Places
from rireki.sources.kit.sqlite import open_database
from rireki.sources.kit.tables import fetch, tables_of
from rireki.sources.kit.vscode import project_of, row_number, user_folders
from rireki.sources.reader import Discovery, Known, Origin, Roll, Update

__all__ = ["READER"]

NAME = "vscode-copilot-chat"
#: Editors that have this chat. What other extensions store there is not looked at.
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Positron")
_TABLE = "ItemTable"
#: Rows that are read: chats of the first generation, and the list of titles. All others are left alone.
_SESSIONS, _INDEX = "interactive.sessions", "chat.ChatSessionStore.index"
_CUTS = Cuts({"requests": "requests"})


class CopilotChat(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.copilot.chats"
    reasons = REASONS
    cuts = {"session": _CUTS}  # noqa: RUF012

    def below(self, places: Places) -> list[FilesBelow]:
        stores = ("globalStorage", "profiles/*/globalStorage")
        folders = [
            "workspaceStorage/*/chatSessions",
            *(f"{store}/emptyWindowChatSessions" for store in stores),
            *(f"{store}/transferredChatSessions" for store in stores),
        ]
        kinds = [
            *(FileKind(f"{folder}/*.json", "document", "session") for folder in folders),
            *(FileKind(f"{folder}/*.jsonl", "lines", "log") for folder in folders),
            FileKind("workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl", role="events"),
            *(
                FileKind(f"{folder}/state.vscdb", "database", "items", no_conversation)
                for folder in ("workspaceStorage/*", *stores)
            ),
        ]
        return [FilesBelow(root, kinds, "{n} files") for root in user_folders(places, EDITORS)]

    def discover(self, places: Places) -> Discovery:
        """Of the many places that may be there, only those of VS Code itself are told when they are not."""
        found = super().discover(places)
        usual = {str(root) for root in user_folders(places, EDITORS[:1])}
        found.looked = [one for one in found.looked if one.found or one.place in usual]
        return found

    def recognise(self, path: Path) -> list[Origin]:
        """Also the folder of an editor, whose user folder is one of several in it."""
        return super().recognise(path) or super().recognise(path / "User")

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        project = project_of(_workspace(origin))
        for update in super().read(origin, known):
            if isinstance(update, Update):
                update.project = project
            yield update

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        """A strand per chat in the list of old ones, and per entry of the list of titles."""
        found: dict[str, Update] = {}
        with open_database(origin.place) as database:
            for table in tables_of(database, {_TABLE: ("key", "value")}).values():
                for name in (_SESSIONS, _INDEX):
                    numbers = row_number(database, table, name)
                    for row in fetch(database, table, numbers, known.largest):
                        for update in _updates(name, row.values.get("value")):
                            found[update.key] = update
        for key, update in found.items():
            if known.thorough or known.cursors.get(key) != update.cursor:
                yield update
        yield Roll(list(found))


def _workspace(origin: Origin) -> Path:
    """The folder that the editor keeps for one project, or for all windows without one."""
    parts = Path(origin.place).relative_to(origin.root).parts
    return Path(origin.root, *parts[:2])


def _updates(name: str, value: Any) -> Iterator[Update]:
    """The parts of a row that belong to one chat each."""
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return
    try:
        parts = _entries(data) if name == _INDEX else _sessions(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # No list of chats: kept as it is, for nobody.
        yield _update(name, "", None, data)
        return
    for id, part in parts.items():
        yield _update(name, id, id, part)


def _sessions(data: bytes) -> Mapping[str, bytes]:
    parts = enumerate(elements(data))
    return {_session_id(part) or f"{number}": part for number, part in parts}


def _session_id(part: bytes) -> str:
    try:
        return string(load(part), "sessionId")
    except NotReadable:
        return ""


def _entries(data: bytes) -> Mapping[str, bytes]:
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    raw = fields.get("entries")
    entries = msgspec.json.decode(raw, type=dict[str, msgspec.Raw]) if raw else {}
    return {id: bytes(entry) for id, entry in entries.items()}


def _update(name: str, id: str, conversation: str | None, data: bytes) -> Update:
    return Update(
        key=json.dumps([_TABLE, name, id], ensure_ascii=False),
        role="index" if name == _INDEX else "session",
        conversation=conversation,
        contents=whole(data) if name == _INDEX else split(data, _CUTS),
        cursor={"digest": digest_of_bytes(data).hex()},
    )


READER = CopilotChat()
