"""Where Amazon Q in the IDE keeps its tabs: one JSON file per workspace, a LokiJS database.

The file is written in place, all of it, up to once a second: what cannot be read now says nothing of
the tabs in it. Each tab is a strand, and belongs to the conversation that its `historyId` names,
whichever file it lies in: files are renamed, and two windows of one folder erase each other's tabs.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import md5, sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import msgspec

from rireki.model.conversation import Trouble
from rireki.sources.kit.decode import mended
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.document import read_document
from rireki.sources.kit.files import (
    FileKind,
    FileReader,
    FilesBelow,
    belonging,
    no_conversation,
    with_project,
)
from rireki.sources.kit.pieces import Cuts, split, whole
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp, open_plain
from rireki.sources.reader import Discovery, Known, Origin, Roll, Update

__all__ = ["MESSAGES", "READER", "TAB"]

NAME = "amazon-q-ide"
#: A tab, and what a file holds that is no database just now.
TAB, TORN = "tab", "torn"
#: The lane of a tab's messages, of all its conversations.
MESSAGES = "messages"
_CUTS = Cuts({"messages": MESSAGES}, inside=("conversations",))
_FILE = FileKind("chat-history-*.json", "database", TAB, no_conversation)
_HASHED = re.compile(r"chat-history-([0-9a-f]{32}|[0-9a-f]{64})\.json")
#: How often a file that is being written is read again, and the seconds between.
_ATTEMPTS, _PAUSE = 20, 0.02
#: Since 2026-02-10 a tab has the model that was chosen in it.
_OWN_MODELS = 1_770_681_600_000
#: How much of a file is looked at for its kind.
_PEEK = 4096
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "typed prompt": "typed by the person",
    "tool results": "result of a tool",
    "put in by the extension": "written by the editor's extension in the person's place",
    "asked to try again": "written by the editor's extension in the person's place",
    "summary": "summary in place of the talk before it",
    "no answer": "stands in place of an answer that never came",
    "hidden by the editor": "hidden by the editor",
    "editor context": "attached by the editor, not typed",
    "empty prompt": "a prompt without words",
}


class AmazonQInIde(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.amazon_q_ide.tabs"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        root = places.home / ".aws" / "amazonq" / "history"
        return [FilesBelow(root, [_FILE], "{n} files")]

    def owns(self, origin: Origin) -> bool:
        with open_plain(origin.place) as file:
            start = file.read(_PEEK)
        return not start or b'"collections"' in start

    def discover(self, places: Places) -> Discovery:
        found = super().discover(places)
        found.origins = _placed(found.origins, places)
        return found

    def locate(self, places: Places, path: str) -> list[Origin]:
        return _placed(super().locate(places, path), places)

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.size > known.largest:
            yield from read_document(origin, known)
            return
        data, database = _read(origin.place)
        if database is None:
            yield _torn(origin, data)
            return
        updates = list(_updates(_tabs(data, *database), _model_of_all(database[0])))
        wanted = [one for one in updates if known.thorough or _is_news(one, origin, known)]
        yield from with_project(origin, wanted)
        yield Roll([one.key for one in updates])


# ── the file ──


class _Collection(msgspec.Struct):
    name: Any = None
    data: list[msgspec.Raw] = []


class _Database(msgspec.Struct):
    collections: list[_Collection]


class _Name(msgspec.Struct):
    """What of a tab is needed to file it; any of it may be of any kind."""

    history: Any = msgspec.field(default=None, name="historyId")
    number: Any = msgspec.field(default=None, name="$loki")
    model: Any = msgspec.field(default=None, name="modelId")
    updated: Any = msgspec.field(default=None, name="updatedAt")


class _Tab(msgspec.Struct):
    about: _Name
    data: bytes


def _read(place: str) -> tuple[bytes, tuple[_Database, bytes] | None]:
    """The bytes of the file, and what they say; None for that when it is not whole, and does not become so."""
    before = ""
    for _ in range(_ATTEMPTS):
        with open_plain(place) as file:
            stamp = file_stamp(os.fstat(file.fileno()))
            data = file.read()
        database = _open(data)
        if database is not None or stamp == before:
            break
        before = stamp
        time.sleep(_PAUSE)
    return data, database


def _open(data: bytes) -> tuple[_Database, bytes] | None:
    """The database, and the bytes it was read from: half a character, where a text was cut, spoils nothing."""
    for halves in (False, True):
        found = mended(data) if halves else data
        try:
            return msgspec.json.decode(found, type=_Database), found
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
    return None


def _tabs(data: bytes, database: _Database, readable: bytes) -> Iterator[_Tab]:
    """The tabs as they stand in the file."""
    end = 0
    for row in (row for one in database.collections if one.name == "tabs" for row in one.data):
        start = readable.index(row, end)
        end = start + len(memoryview(row))
        yield _Tab(_about(row), data[start:end])


def _about(row: msgspec.Raw) -> _Name:
    try:
        return msgspec.json.decode(row, type=_Name)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _Name()


def _torn(origin: Origin, data: bytes) -> Update:
    """What is there, kept; of the tabs nothing is said."""
    code = "file-not-whole" if data.strip() else "file-empty"
    return Update(
        role=TORN,
        conversation=None,
        contents=whole(data),
        cursor={},
        troubles=[Trouble.of(origin.place, code)],
    )


def _updates(found: Iterable[_Tab], model: str) -> Iterator[Update]:
    tabs = list(found)
    seen: dict[str, int] = {}
    alone = not any(tab.about.model for tab in tabs)
    for tab in tabs:
        about = tab.about
        named = isinstance(about.history, str) and about.history
        id = str(about.history) if named else f"tab-{about.number}"
        count = seen[id] = seen.get(id, 0) + 1
        cursor = {"digest": digest_of_bytes(tab.data).hex()}
        if model and not about.model and (alone or _is_before(about.updated, _OWN_MODELS)):
            cursor["model"] = model
        yield Update(
            key=id if count == 1 else f"{id}#{count}",
            role=TAB,
            conversation=id,
            contents=split(tab.data, _CUTS),
            cursor=cursor,
        )


def _is_before(moment: Any, milliseconds: int) -> bool:
    return isinstance(moment, int | float) and moment < milliseconds


def _is_news(update: Update, origin: Origin, known: Known) -> bool:
    """Whether the tab changed; where it lies is noted with it, and may be known only by now."""
    update.cursor |= {"project": origin.project} if origin.project else {}
    return bool(known.cursors.get(update.key) != update.cursor)


def _model_of_all(database: _Database) -> str:
    """The model that was chosen for the whole file: clients up to 2026-02 knew no other."""
    rows = [row for one in database.collections if one.name == "settings" for row in one.data]
    models = [_about(row).model for row in rows]
    return next((model for model in models if isinstance(model, str)), "")


# ── the project of a file ──


def _placed(origins: Sequence[Origin], places: Places) -> list[Origin]:
    """The files with the directory whose hash they are called by, where the archive knows it."""
    names = {one.place: _HASHED.fullmatch(PurePath(one.place).name) for one in origins}
    if not any(names.values()):
        return list(origins)
    known = {hash: project for project in places.projects for hash in _hashes(project)}
    found = ((one, names[one.place]) for one in origins)
    return [belonging(one, known.get(name[1]) if name else None) for one, name in found]


def _hashes(project: str) -> set[str]:
    """What a workspace of this one folder may be called: by its path as a URL has it, or as it is.

    One that was saved goes by the path of its file, which mostly lies in the folder and has its name.
    """
    path = project.replace("\\", "/")
    path = path if path.startswith("/") else f"/{path}"
    data = [quote(path, safe=safe, errors="replace") for safe in ("/", "/!$&'()*+,;=:@[]|^~")]
    # A drive's letter is small in the editor's addresses.
    data += [f"/{one[1:2].lower()}{one[2:]}" for one in data if path[2:3] == ":"]
    separator = "\\" if "\\" in project else "/"
    saved = f"{project}{separator}{PurePath(path).name}.code-workspace"
    return {
        *(md5(one.encode(), usedforsecurity=False).hexdigest() for one in data),
        *(sha256(one.encode("utf-8", "replace")).hexdigest() for one in (project, saved)),
    }


READER = AmazonQInIde()
