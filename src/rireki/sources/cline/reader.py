"""Where Cline keeps its sessions and tasks: its terminal, its extension, and the extensions made from it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation
from rireki.sources.kit.decode import NotReadable, load, text_of
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.document import LANE, read_document
from rireki.sources.kit.fields import string
from rireki.sources.kit.files import (
    FileKind,
    FileReader,
    FilesBelow,
    no_conversation,
    parent_of,
    stem_of,
)
from rireki.sources.kit.pieces import Cuts
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.stamps import open_plain
from rireki.sources.kit.vscode import user_folders
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["KILO_CODE", "MESSAGES", "READER", "ROO_CODE", "Cline"]

#: The lane of the messages of a file.
MESSAGES = "messages"
_EDITORS = (
    *("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Positron", "Trae", "Kiro"),
    *("Antigravity", "Code - OSS", "Windsurf - Next", "Void", "PearAI"),
)
_SERVERS = (".vscode-remote", ".vscode-oss-server", ".cursor-server", ".windsurf-server")
#: Editors from Flathub have homes of their own.
_CONTAINED = {
    "com.visualstudio.code": "Code",
    "com.vscodium.codium": "VSCodium",
}
#: More than the settings of an editor are long.
_MOST = 256 << 10
#: The files of a task of an extension, and what each is.
_TASK = {
    "ui_messages.json": "shown",
    "claude_messages.json": "shown",
    "api_conversation_history.json": "sent",
    "history_item.json": "item",
    "task_metadata.json": "metadata",
    "context_history.json": "aside",
    "focus_chain_taskid_*.md": "aside",
}
_REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "chosen answer": "chosen by the person from what the agent offered",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "context": "context for the model",
    "not typed": "in the user's name, but not typed",
    "notice": "notice of the program",
    "context compacted": "summary of a compacted context",
    "file for the model": "file or folder that a prompt mentions",
    "system prompt": "instructions for the model",
}


def _session_of(path: str) -> str:
    """A session lies in a folder of its name; a sub-agent in that of who started it."""
    name = stem_of(path).removesuffix(".messages")
    return name if name == parent_of(path) else f"{parent_of(path)}__{name}"


def _task_kinds(below: str) -> list[FileKind]:
    kinds = [
        FileKind(f"{below}tasks/*/{name}", "document", role, parent_of)
        for name, role in _TASK.items()
    ]
    history = f"{below}state/taskHistory.json"
    return [*kinds, FileKind(history, "document", "items", no_conversation)]


class Cline(FileReader):
    meaning = "rireki.sources.cline.readings"
    reasons = _REASONS
    cuts = {  # noqa: RUF012
        "messages": Cuts({MESSAGES: MESSAGES}),
        "shown": Cuts({"": MESSAGES}),
        "sent": Cuts({"": MESSAGES}),
    }

    def __init__(self, name: str, extension: str, command: str = "") -> None:
        self.name = self.family = name
        self.extension = extension
        #: Where its tasks were moved to; Cline has no such setting.
        self.setting = f"{extension.partition('.')[2]}.customStoragePath"
        self.command = command

    def below(self, places: Places) -> list[FilesBelow]:
        usual = _user_folders(places)
        users = [one for one in usual if one.is_dir()]
        bases = [one for user in users for one in (user, *_profiles(user))]
        folders = [one / "globalStorage" / self.extension for one in [*bases, places.home]]
        if not self.command:
            folders += [one for user in users if (one := _moved(user, self.setting))]
        there = [folder for folder in folders if folder.is_dir()]
        there = there or [usual[0] / "globalStorage" / self.extension]
        found = [FilesBelow(folder, _task_kinds(""), "{n} files") for folder in there]
        if self.command:
            kinds = [
                FileKind("data/sessions/*/*.messages.json", "document", "messages", _session_of),
                FileKind("data/sessions/*/*.compaction.json", "document", "aside", parent_of),
                FileKind("data/sessions/*/*.json", "document", "session", parent_of),
                *_task_kinds("data/"),
            ]
            root = places.variable("CLINE_DIR") or places.home / ".cline"
            found.insert(0, FilesBelow(root, kinds, "{n} files"))
        return found

    def owns(self, origin: Origin) -> bool:
        """Whose a folder of tasks is, its path tells; of one that was moved, what lies in it."""
        if self.extension in origin.place or ".cline" in origin.place:
            return True
        if origin.role in ("session", "messages"):
            return bool(self.command)
        if any(other.extension in origin.place for other in (READER, ROO_CODE, KILO_CODE)):
            return False
        is_roo = Path(os.path.dirname(origin.place), "history_item.json").exists()  # noqa: PTH120
        return is_roo if self is ROO_CODE else self is READER and not is_roo

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.role != "items":
            yield from super().read(origin, known)
            return
        # The list of tasks: what it says of each goes to that task.
        data = b"".join(
            piece.data
            for update in read_document(origin, known)
            for content in update.contents
            for piece in content.pieces
        )
        try:
            found = load(data)
        except NotReadable:
            return
        told = found if isinstance(found, list) else []
        listed = {string(one, "id"): one for one in told if string(one, "id")}
        yield from (_item(id, one) for id, one in listed.items())
        yield Roll(list(listed))

    def resume(self, conversation: Conversation) -> str | None:
        """The terminal goes on with its sessions; an extension is asked in the editor."""
        if "_" not in conversation.native_id or conversation.nature != "conversation":
            return None
        return in_project(conversation, f"{self.command} --id", with_id=True)

    def revive(self, conversation: Conversation) -> str | None:
        command = self.resume(conversation)
        return f"{command} (with ~/.cline for DIR)" if command else None


def _user_folders(places: Places) -> list[Path]:
    """Where VS Code, and the editors made of it, keep what belongs to the user."""
    servers = [places.home / server / "data" / "User" for server in _SERVERS]
    hosted = places.home / ".local" / "share" / "code-server" / "User"
    contained = [
        places.home / ".var" / "app" / name / "config" / folder / "User"
        for name, folder in _CONTAINED.items()
    ]
    return [*user_folders(places, _EDITORS), *servers, hosted, *contained]


def _profiles(user: Path) -> list[Path]:
    """Each profile of an editor has a storage of its own."""
    return sorted(user.glob("profiles/*"))


def _moved(user: Path, setting: str) -> Path | None:
    """Where a setting of the editor says that the tasks lie; the file has comments, so it is no JSON."""
    try:
        with open_plain(str(user / "settings.json")) as file:
            settings = file.read(_MOST).decode("utf-8", "replace")
        named = re.search(rf'^[^/\n]*"{re.escape(setting)}"\s*:\s*("[^\n]+?")', settings, re.M)
        path = load(named[1].encode()) if named else ""
    except (SourceTrouble, OSError, NotReadable, ValueError):
        return None
    return Path(path) if path and os.path.isabs(path) else None  # noqa: PTH117


def _item(task: str, item: Any) -> Update:
    data = text_of(item).encode("utf-8", "replace")
    return Update(
        key=task,
        role="item",
        conversation=task,
        contents=[Content(LANE, [Piece(data, digest_of_bytes(data))])],
        cursor={},
    )


READER = Cline("cline", "saoudrizwan.claude-dev", "cline")
ROO_CODE = Cline("roo-code", "rooveterinaryinc.roo-cline")
KILO_CODE = Cline("kilo-code", "kilocode.kilo-code")
