"""Kiro's editor up to 0.12: where its conversations lie, in two generations that overlap.

`.chat` files hold snapshots of one run each. Later ones have a file per session, which names runs, and
the words in files of those runs (executions). Which conversation a run belongs to stands in the file
alone, so reading tells it. Folders are named after a hash of the workspace's path."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

import msgspec

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation, Trouble
from rireki.sources.amazon_q import files
from rireki.sources.amazon_q.reader import Family
from rireki.sources.kit.decode import NotReadable, load, mended
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.files import (
    FileKind,
    FilesBelow,
    belonging,
    listing,
    no_conversation,
    stem_of,
)
from rireki.sources.kit.pieces import Cuts, whole
from rireki.sources.kit.places import Places
from rireki.sources.kit.stamps import file_stamp, open_plain
from rireki.sources.reader import Discovery, Known, Origin, Roll, Update

__all__ = ["READER"]

_STORE = PurePath("User", "globalStorage", "kiro.kiroagent")
_SESSIONS = "workspace-sessions"
#: Hashes of the names that the editor has for its folder of runs, and for the list of them.
_RUNS, _RUN_LIST = "414d1636299d2b9e4ce7e17fb11f63e9", "f62de366d0006e17ea00a01f6624aabf"
_KINDS = (
    # Notes of the editor, such as that a session was migrated.
    FileKind(f"{_SESSIONS}/*/.*.json", "document", files.SIDE, no_conversation),
    FileKind(f"{_SESSIONS}/*/sessions.json", "database", files.LISTED, no_conversation),
    FileKind(f"{_SESSIONS}/*/*.json", "document", files.SPINE),
    FileKind(f"*/{_RUNS}/*", "document", files.RUN, no_conversation),
    FileKind(f"*/{_RUN_LIST}", "document", files.SIDE, no_conversation),
    FileKind("*/*.chat", "document", files.CHAT, no_conversation),
)
_CUTS = {
    files.SPINE: Cuts({"history": files.HISTORY}),
    files.RUN: Cuts({"actions": files.ACTIONS}),
}
_RUN_NAMED = re.compile(rb'"executionId"\s*:\s*"([^"\\]+)"')
#: How much of a file is looked at for its kind.
_PEEK = 1 << 16


class KiroIde(Family):
    name = "kiro-ide"
    kiro = True
    cuts = _CUTS

    def below(self, places: Places) -> list[FilesBelow]:
        settings = [
            places.variable("XDG_CONFIG_HOME") or places.home / ".config",
            places.home / "Library" / "Application Support",
            places.variable("APPDATA") or places.home / "AppData" / "Roaming",
        ]
        roots = [*(one / "Kiro" for one in settings), places.home / ".kiro-server" / "data"]
        return [FilesBelow(one / _STORE, _KINDS, "{n} files") for one in dict.fromkeys(roots)]

    def owns(self, origin: Origin) -> bool:
        words = {files.SPINE: b'"history"', files.RUN: b'"executionId"', files.CHAT: b'"chat"'}
        with open_plain(origin.place) as file:
            return words.get(origin.role, b"") in file.read(_PEEK)

    def recognise(self, path: Path) -> list[Origin]:
        # Files that a person saved are the CLI's.
        return [one for one in super(Family, self).recognise(path) if self.owns(one)]

    def discover(self, places: Places) -> Discovery:
        found = super().discover(places)
        found.origins = _placed(found.origins, places)
        return found

    def locate(self, places: Places, path: str) -> list[Origin]:
        return _placed(super().locate(places, path), places)

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        """What a run belongs to stands in it. One that is torn just now is left as it was known."""
        for update in super().read(origin, known):
            if isinstance(update, Update) and origin.role in (files.SPINE, files.RUN, files.CHAT):
                fields = _fields(update)
                if fields is None and known.cursors:
                    raise SourceTrouble("file-not-whole")
                if fields is None:
                    update.troubles.append(Trouble.of(origin.place, "file-not-whole"))
                elif origin.role == files.RUN:
                    update.conversation = _session_of(origin, fields) or None
                elif origin.role == files.CHAT:
                    update.conversation = _workflow_of(fields) or None
            yield update

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        """The list of sessions, an entry each: their titles, and when they were begun."""
        with open_plain(origin.place) as file:
            data = file.read()
        try:
            entries = load(data)
        except NotReadable:
            entries = None
        if not isinstance(entries, list):
            yield _kept(origin, data)
            return
        listed = {string(one, "sessionId"): one for one in entries if string(one, "sessionId")}
        for session, entry in listed.items():
            text = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")
            cursor = {"digest": digest_of_bytes(text).hex()}
            if known.thorough or known.cursors.get(session) != cursor:
                yield Update(
                    key=session,
                    role=files.LISTED,
                    conversation=session,
                    contents=whole(text),
                    cursor=cursor,
                )
        yield Roll(list(listed))

    def resume(self, conversation: Conversation) -> str | None:
        """Only the editor goes on with them, from its own list."""
        return None


def _kept(origin: Origin, data: bytes) -> Update:
    trouble = Trouble.of(origin.place, "file-not-whole")
    return Update(
        role=files.SIDE, conversation=None, contents=whole(data), cursor={}, troubles=[trouble]
    )


class _Fields(msgspec.Struct):
    """What says which conversation a file belongs to; any of it may be of any kind."""

    run: Any = msgspec.field(default=None, name="executionId")
    session: Any = msgspec.field(default=None, name="chatSessionId")
    metadata: Any = None


def _fields(update: Update) -> _Fields | None:
    """Of a file that was just read: its pieces joined. None where it is not whole."""
    data = b"".join(
        one.separator.encode().join(piece.data for piece in one.pieces) for one in update.contents
    )
    for halves in (False, True):
        try:
            return msgspec.json.decode(mended(data) if halves else data, type=_Fields)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            continue
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _session_of(origin: Origin, fields: _Fields) -> str:
    """As the run says; after a restart that may be a name that no session has, but one names the run."""
    run, session = _text(fields.run), _text(fields.session)
    workspace = PurePath(origin.place).parent.parent.name
    spines: list[os.DirEntry[str]] = []
    for folder in listing(str(PurePath(origin.root, _SESSIONS)), []):
        path = _decoded(folder.name)
        if not path or _hash(path) == workspace:
            spines += [one for one in listing(folder.path, []) if _is_spine(one.name)]
    names = {stem_of(one.name): one for one in spines}
    if not run or session in names:
        return session or run
    return next((name for name, one in names.items() if run in _runs_in(one)), session or run)


def _is_spine(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".") and name != "sessions.json"


def _runs_in(spine: os.DirEntry[str]) -> frozenset[str]:
    try:
        return _named_runs(spine.path, file_stamp(spine.stat()))
    except (OSError, SourceTrouble):
        return frozenset()


@lru_cache(maxsize=1024)
def _named_runs(place: str, stamp: str) -> frozenset[str]:
    """The runs that a session names, in this version of its file."""
    with open_plain(place) as file:
        found = _RUN_NAMED.findall(file.read())
    return frozenset(one.decode("utf-8", "replace") for one in found)


def _workflow_of(fields: _Fields) -> str:
    return _text(get(fields.metadata, "workflowId")) or _text(fields.run)


# ── the workspace of a folder ──


def _placed(origins: Sequence[Origin], places: Places) -> list[Origin]:
    """Runs and chats with the workspace whose hash their folder is called by."""
    if not any(one.role in (files.RUN, files.CHAT) for one in origins):
        return list(origins)
    known = {_hash(project): project for project in places.projects}
    for root in {one.root for one in origins}:
        folders = listing(str(PurePath(root, _SESSIONS)), [])
        known |= {_hash(path): path for one in folders if (path := _decoded(one.name))}
    placed = []
    for one in origins:
        # As a string: a store may have ten thousand runs.
        folder = one.place[len(one.root) :].strip(os.sep).split(os.sep)[0]  # noqa: PTH206
        is_run = one.role in (files.RUN, files.CHAT)
        placed.append(belonging(one, known.get(folder)) if is_run else one)
    return placed


def _hash(path: str) -> str:
    return sha256(path.encode("utf-8", "replace")).hexdigest()[:32]


def _decoded(name: str) -> str:
    """The path that a folder's name spells: base64 with `_` in place of its padding."""
    bare = name.rstrip("_")
    for text in (bare, *(bare + "_" * more for more in range(1, len(name) - len(bare) + 1))):
        try:
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            path = data.decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if path[:1] in "/\\" or path[1:2] == ":":
            return path
    return ""


READER = KiroIde()
