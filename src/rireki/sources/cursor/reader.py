"""Where the editor Cursor keeps its conversations: rows of `state.vscdb`, found by their keys.

The same database holds tokens and keys to what is encrypted: nothing is selected but the keys named here,
and fields that are keys of a cipher are left out of what is kept. Its CLI has a database per chat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5, sha256
from pathlib import Path, PurePath
from typing import Any

import msgspec

from rireki.model.conversation import Conversation
from rireki.sources.cursor.roles import (
    AGENT,
    CHAT,
    CLI,
    COMPOSER,
    COMPOSERS,
    LINES,
    MEMBER,
    NOTE,
    PANEL,
    TEXT,
    TRANSCRIPTS,
    WORKSPACE,
)
from rireki.sources.cursor.scrub import cleaned, scrubbed
from rireki.sources.cursor.stores import read_chat
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.files import (
    FileKind,
    FileReader,
    FilesBelow,
    belonging,
    no_conversation,
    parent_of,
)
from rireki.sources.kit.pieces import whole
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.rows import encoded, frame
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.kit.tables import Table, fetch, tables_of
from rireki.sources.kit.vscode import project_of, row_number, row_numbers, user_folders
from rireki.sources.reader import Content, Discovery, Known, Origin, Piece, Roll, Update

__all__ = ["READER"]

NAME = "cursor"
_EDITOR = "Cursor"
_PAIRS, _ITEMS, _HEADERS = "cursorDiskKV", "ItemTable", "composerHeaders"
#: What is kept of the catalog, as far as a version has it.
_CATALOG = (
    "composerId",
    "workspaceId",
    "createdAt",
    "lastUpdatedAt",
    "isArchived",
    "isSubagent",
    "value",
)
#: Keys of conversations and of their messages, and what the catalog was before it was a table.
_COMPOSER, _BUBBLE, _LISTED = "composerData:", "bubbleId:", "composer.composerHeaders"
#: Rows of a workspace: which conversations are its own, and the chat panel of 2023 and 2024.
_MEMBERS, _PANEL = "composer.composerData", "workbench.panel.aichat.view.aichat.chatdata"
#: The catalog itself says that a conversation is a sub-agent.
_SUBAGENT = re.compile(rb'"isSubagent":(?:1|true)\b')
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "context": "context that the program added",
    "error": "error that the program met",
    "not shown": "message that the editor does not show",
    "summary": "summary in place of the talk before it",
    "system prompt": "instructions for the model",
    "task of a sub-agent": "what another agent asked for",
    "tool results": "result of a tool",
    "typed prompt": "typed by the person",
}


@dataclass(slots=True)
class _Composer:
    """The rows of one conversation: their numbers, which change when they are written again."""

    data: list[int] = field(default_factory=list)
    bubbles: list[int] = field(default_factory=list)
    marks: Any = field(default_factory=sha256)

    def add(self, key: str, number: int) -> None:
        rows = self.data if key.startswith(_COMPOSER) else self.bubbles
        rows.append(number)
        self.marks.update(f"{key} {number}\n".encode("utf-8", "replace"))


class Cursor(FileReader):
    name = NAME
    family = NAME
    meaning = "rireki.sources.cursor.readings"
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        kinds = [
            FileKind("globalStorage/state.vscdb", "database", COMPOSERS, no_conversation),
            FileKind("workspaceStorage/*/state.vscdb", "database", WORKSPACE, no_conversation),
        ]
        found = [
            FilesBelow(root, kinds, "{n} databases") for root in user_folders(places, [_EDITOR])
        ]
        folder = "projects/*/agent-transcripts"
        written = [
            FileKind("chats/*/*/store.db", "database", CHAT, parent_of),
            FileKind("chats/*/*/meta.json", "document", NOTE, parent_of),
            FileKind(f"{folder}/*.jsonl", role=LINES),
            FileKind(f"{folder}/*.txt", "document", TEXT),
            FileKind(f"{folder}/*/*.jsonl", role=LINES),
            FileKind(f"{folder}/*/*.txt", "document", TEXT),
            FileKind(f"{folder}/*/subagents/*.jsonl", role=AGENT),
        ]
        settings = places.variable("XDG_CONFIG_HOME") or places.home / ".config"
        named = places.variable("CURSOR_CONFIG_DIR")
        roots = [named] if named else [places.home / ".cursor", settings / "cursor"]
        return [*found, *(FilesBelow(root, written, "{n} files") for root in roots)]

    def discover(self, places: Places) -> Discovery:
        found = super().discover(places)
        found.origins = _placed(found.origins, places)
        return found

    def locate(self, places: Places, path: str) -> list[Origin]:
        return _placed(super().locate(places, path), places)

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.role == CHAT:
            yield from read_chat(origin, known)
            return
        with open_database(origin.place) as database:
            pair = ("key", "value")
            wanted = {_PAIRS: pair, _ITEMS: pair, _HEADERS: ("composerId", "value")}
            tables = tables_of(database, wanted, also={_HEADERS: _CATALOG})
            if origin.role == WORKSPACE:
                found = _workspace_updates(database, tables.get(_ITEMS), origin, known)
            else:
                found = _composer_updates(database, tables, origin, known)
            yield from found

    def resume(self, conversation: Conversation) -> str | None:
        """The CLI goes on with its own chats; those of the editor are opened there."""
        if CLI not in conversation.held_by:
            return None
        return in_project(conversation, "cursor-agent --resume", with_id=True)


# ── conversations ──


def _composer_updates(
    database: Database, tables: Mapping[str, Table], origin: Origin, known: Known
) -> Iterator[Update | Roll]:
    """An update per conversation with a row that was written since, then all there are."""
    pairs = tables.get(_PAIRS)
    composers = _composers(database, pairs) if pairs else {}
    catalog = _catalog(database, tables, known)
    cursors: dict[str, dict[str, Any]] = {}
    for id, composer in composers.items():
        composer.marks.update(catalog.get(id, b""))
        cursors[id] = {"digest": composer.marks.hexdigest()[:32]}
    if pairs:
        _note_agents(database, pairs, composers, cursors, known)
    for id, entry in catalog.items():
        if _SUBAGENT.search(entry):
            cursors.get(id, {}).pop("parent", None)
    for id, composer in composers.items():
        entry = catalog.get(id, b"")
        if pairs and (known.thorough or known.cursors.get(_key(id)) != cursors[id]):
            data = _data(database, pairs, composer, known.largest)
            yield Update(
                key=_key(id),
                role=COMPOSER,
                conversation=id,
                contents=[
                    *_contents(database, pairs, composer, entry, data, known.largest),
                    *_parent(cursors[id]),
                    frame(b"}"),
                ],
                cursor=cursors[id],
                project=_project(origin, [entry, *data]),
            )
    yield Roll([_key(id) for id in composers])


def _key(id: str) -> str:
    return json.dumps([_PAIRS, "composerData", id], ensure_ascii=False)


def _note_agents(
    database: Database,
    table: Table,
    composers: Mapping[str, _Composer],
    cursors: dict[str, dict[str, Any]],
    known: Known,
) -> None:
    """Which conversations are sub-agents of others: often only the row of the other one says so."""
    for id, composer in composers.items():
        before = known.cursors.get(_key(id)) or {}
        if before.get("digest") == cursors[id]["digest"]:
            agents = before.get("agents", [])
        else:
            agents = [one for row in composer.data for one in _agents_in(database, table, row)]
        if agents:
            cursors[id]["agents"] = agents
    for id, cursor in cursors.items():
        for agent in cursor.get("agents", ()):
            if agent in cursors and agent != id:
                cursors[agent]["parent"] = id


def _agents_in(database: Database, table: Table, row: int) -> list[str]:
    """The sub-agents that the row of a conversation names. Nothing else of it is brought here."""
    statement = f"""
        SELECT json_extract(data, '$.subComposerIds')
          FROM (SELECT CAST(value AS TEXT) AS data FROM "{table.name}" WHERE rowid = ?)
         WHERE json_valid(data)"""
    for (found,) in database.rows(statement, (row,)):
        listed = load(found.encode()) if isinstance(found, str) and found[:1] == "[" else []
        return [one for one in listed if isinstance(one, str)]
    return []


def _composers(database: Database, table: Table) -> dict[str, _Composer]:
    """Every conversation, by what the index of keys says alone: no value is looked at."""
    found: dict[str, _Composer] = {}
    for prefix in (_COMPOSER, _BUBBLE):
        for key, number in row_numbers(database, table, prefix):
            id = key.removeprefix(prefix).partition(":")[0]
            found.setdefault(id, _Composer()).add(key, number)
    return found


def _catalog(database: Database, tables: Mapping[str, Table], known: Known) -> dict[str, bytes]:
    """What the catalog says of each conversation."""
    found: dict[str, bytes] = {}
    if (table := tables.get(_ITEMS)) is not None:
        listed = _value(database, table, _LISTED, known)
        for entry in items(listed, "allComposers"):
            found[string(entry, "composerId")] = msgspec.json.encode(scrubbed(entry))
    if (table := tables.get(_HEADERS)) is not None:
        numbers = [n for (n,) in database.rows(f"SELECT rowid FROM {_HEADERS} ORDER BY rowid")]
        for row in fetch(database, table, numbers, known.largest):
            found[row.name("composerId")] = cleaned(encoded(row.values, ["value"]))
    return found


def _data(database: Database, table: Table, composer: _Composer, largest: int) -> list[bytes]:
    """The row of a conversation, without the keys of ciphers in it."""
    rows = fetch(database, table, sorted(composer.data), largest)
    return [cleaned(encoded(row.values, ["value"])) for row in rows]


def _contents(
    database: Database,
    table: Table,
    composer: _Composer,
    entry: bytes,
    data: Sequence[bytes],
    largest: int,
) -> list[Content]:
    """One JSON object: the catalog's entry, the conversation's row, and the rows of its messages."""
    bubbles = [
        encoded(row.values, ["value"])
        for row in fetch(database, table, sorted(composer.bubbles), largest)
    ]
    return [
        frame(b'{"catalog":['),
        _rows("catalog", [entry] if entry else []),
        frame(b'],"composerData":['),
        _rows("composerData", data),
        frame(b'],"bubbleId":['),
        _rows("bubbleId", bubbles),
        frame(b"]"),
    ]


def _parent(cursor: Mapping[str, Any]) -> list[Content]:
    """What no row of the conversation itself says: who started it."""
    if "parent" not in cursor:
        return []
    told = [msgspec.json.encode(cursor["parent"])]
    return [frame(b',"parent":['), _rows("parent", told), frame(b"]")]


def _rows(lane: str, rows: Sequence[bytes]) -> Content:
    return Content(lane, [Piece(row, digest_of_json(row)) for row in rows], ",")


def _project(origin: Origin, rows: Sequence[bytes]) -> str | None:
    """The directory of the workspace that the catalog names, or the conversation itself."""
    for workspace in map(_workspace, rows):
        if workspace and workspace not in (".", "..") and not set(workspace) & {"/", "\\"}:
            return project_of(Path(origin.root, "workspaceStorage", workspace))
    return None


def _workspace(row: bytes) -> str:
    """The id of a workspace. Rows of conversations are long, and seldom needed for it."""
    if b"workspaceI" not in row:
        return ""
    try:
        value = load(row)
    except NotReadable:
        return ""
    inner = get(value, "value")
    named = (string(get(one, "workspaceIdentifier"), "id") for one in (value, inner))
    return string(value, "workspaceId") or next(filter(None, named), "")


# ── workspaces ──


def _workspace_updates(
    database: Database, table: Table | None, origin: Origin, known: Known
) -> Iterator[Update | Roll]:
    """Which conversations belong to a workspace, and the chats of the panel it had."""
    project = project_of(Path(origin.place).parent)
    found: dict[str, Update] = {}
    for name, role, lists, id in (
        (_MEMBERS, MEMBER, "allComposers", "composerId"),
        (_PANEL, PANEL, "tabs", "tabId"),
    ):
        value = _value(database, table, name, known) if table else None
        for entry in items(value, lists):
            if conversation := string(entry, id):
                update = _entry(name, role, conversation, scrubbed(entry), project)
                found[update.key] = update
    for key, update in found.items():
        if known.thorough or known.cursors.get(key) != update.cursor:
            yield update
    yield Roll(list(found))


def _value(database: Database, table: Table, key: str, known: Known) -> Any:
    """The JSON value of a row; None where there is none that can be read."""
    for row in fetch(database, table, row_number(database, table, key), known.largest):
        value = row.values.get("value")
        try:
            return load(value.encode("utf-8", "replace") if isinstance(value, str) else b"")
        except NotReadable:
            return None
    return None


def _entry(name: str, role: str, id: str, entry: Any, project: str | None) -> Update:
    data = msgspec.json.encode(entry)
    return Update(
        key=json.dumps([_ITEMS, name, id], ensure_ascii=False),
        role=role,
        conversation=id,
        contents=whole(data),
        cursor={"digest": digest_of_bytes(data).hex()},
        project=project,
    )


# ── the project of a folder ──


def _placed(origins: Sequence[Origin], places: Places) -> list[Origin]:
    """Transcripts and chats with the directory that their folder is called by, if the archive knows it."""
    named = {one.place: _folder(one) for one in origins if one.role in (CHAT, *TRANSCRIPTS)}
    if not named:
        return list(origins)
    known = {name: project for project in places.projects for name in _names(project)}
    return [belonging(one, known.get(named.get(one.place, ""))) for one in origins]


def _folder(origin: Origin) -> str:
    """`projects/<path>/…` or `chats/<hash of the path>/…`."""
    name = PurePath(origin.place).relative_to(origin.root).parts[1]
    return name if origin.role == CHAT else _bare(name)


def _names(project: str) -> tuple[str, str]:
    return md5(project.encode("utf-8", "replace"), usedforsecurity=False).hexdigest(), _bare(
        project
    )


def _bare(path: str) -> str:
    """A path as folders are called by it: whatever is neither letter nor digit is the same."""
    return re.sub(r"[\W_]+", "-", path).strip("-").lower()


READER = Cursor()
