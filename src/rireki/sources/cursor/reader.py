"""Where the editor Cursor keeps its conversations: rows of `state.vscdb`, found by their keys.

The same database holds tokens and keys to what is encrypted: nothing is selected but the keys named here,
and fields that are keys of a cipher are left out of what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from rireki.model.conversation import Reading
from rireki.model.strand import Strand
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.digests import digest_of_bytes, digest_of_json
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.pieces import whole
from rireki.sources.kit.places import Places
from rireki.sources.kit.rows import encoded, frame
from rireki.sources.kit.sqlite import Database, open_database
from rireki.sources.kit.tables import Table, fetch, tables_of
from rireki.sources.kit.vscode import project_of, row_number, row_numbers, user_folders
from rireki.sources.reader import Content, Known, Origin, Piece, Roll, Update

__all__ = ["READER"]

NAME = "cursor"
_EDITOR = "Cursor"
_PAIRS, _ITEMS, _HEADERS = "cursorDiskKV", "ItemTable", "composerHeaders"
#: What is kept of the catalog.
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
#: How fields end that are keys of a cipher.
_SECRET = "EncryptionKey"
#: Which rule decided, in words.
REASONS = {
    "answer": "answer of the model",
    "context": "context that the program added",
    "error": "error that the program met",
    "not shown": "message that the editor does not show",
    "summary": "summary in place of the talk before it",
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
    reasons = REASONS

    def below(self, places: Places) -> list[FilesBelow]:
        kinds = [
            FileKind("globalStorage/state.vscdb", "database", "composers", no_conversation),
            FileKind("workspaceStorage/*/state.vscdb", "database", "workspace", no_conversation),
        ]
        found = [
            FilesBelow(root, kinds, "{n} databases") for root in user_folders(places, [_EDITOR])
        ]
        folder = "projects/*/agent-transcripts"
        written = [
            FileKind(f"{folder}/*.jsonl", role="transcript"),
            FileKind(f"{folder}/*/*.jsonl", role="transcript"),
            FileKind(f"{folder}/*/subagents/*.jsonl", role="sub-transcript"),
        ]
        elsewhere = places.variable("CURSOR_CONFIG_DIR")
        root = elsewhere or places.home / ".cursor"
        return [*found, FilesBelow(root, written, "{n} transcripts")]

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        with open_database(origin.place) as database:
            wanted = {_PAIRS: ("key", "value"), _ITEMS: ("key", "value"), _HEADERS: _CATALOG}
            tables = tables_of(database, wanted)
            if origin.role == "workspace":
                found = _workspace_updates(database, tables.get(_ITEMS), origin, known)
            else:
                found = _composer_updates(database, tables, origin, known)
            yield from found

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: most runs find nothing new.
        from rireki.sources.cursor.composers import read_composer, read_panel
        from rireki.sources.cursor.transcripts import read_transcript

        if any(strand.role == "panel" for strand in strands):
            return read_panel(conversation, strands)
        readings = read_composer(conversation, strands)
        written = [strand for strand in strands if strand.role in ("transcript", "sub-transcript")]
        return readings or (read_transcript(conversation, written) if written else [])


# ── conversations ──


def _composer_updates(
    database: Database, tables: Mapping[str, Table], origin: Origin, known: Known
) -> Iterator[Update | Roll]:
    """An update per conversation with a row that was written since, then all there are."""
    pairs = tables.get(_PAIRS)
    composers = _composers(database, pairs) if pairs else {}
    catalog = _catalog(database, tables, known)
    keys = []
    for id, composer in composers.items():
        key = json.dumps([_PAIRS, "composerData", id], ensure_ascii=False)
        keys.append(key)
        entry = catalog.get(id, b"")
        composer.marks.update(entry)
        cursor = {"digest": composer.marks.hexdigest()[:32]}
        if pairs and (known.thorough or known.cursors.get(key) != cursor):
            contents = _contents(database, pairs, composer, entry, known.largest)
            project = _project(origin, entry)
            yield Update(
                key=key,
                role="composer",
                conversation=id,
                contents=contents,
                cursor=cursor,
                project=project,
            )
    yield Roll(keys)


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
            found[string(entry, "composerId")] = msgspec.json.encode(_scrubbed(entry))
    if (table := tables.get(_HEADERS)) is not None:
        numbers = [n for (n,) in database.rows(f"SELECT rowid FROM {_HEADERS} ORDER BY rowid")]
        for row in fetch(database, table, numbers, known.largest):
            found[row.name("composerId")] = _cleaned(encoded(row.values, ["value"]))
    return found


def _contents(
    database: Database, table: Table, composer: _Composer, entry: bytes, largest: int
) -> list[Content]:
    """One JSON object: the catalog's entry, the conversation's row, and the rows of its messages."""
    data = [
        _cleaned(encoded(row.values, ["value"]))
        for row in fetch(database, table, sorted(composer.data), largest)
    ]
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
        frame(b"]}"),
    ]


def _rows(lane: str, rows: Sequence[bytes]) -> Content:
    return Content(lane, [Piece(row, digest_of_json(row)) for row in rows], ",")


def _cleaned(data: bytes) -> bytes:
    """A row without the keys of ciphers."""
    if _SECRET.encode() not in data:
        return data
    try:
        value = _scrubbed(load(data))
    except (NotReadable, RecursionError):
        return b"{}"
    if _SECRET in string(value, "value:text"):
        # No JSON: nobody can tell the key from the rest.
        value = {"key": get(value, "key")}
    return msgspec.json.encode(value)


def _scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _scrubbed(v) for k, v in value.items() if not str(k).endswith(_SECRET)}
    return [_scrubbed(each) for each in value] if isinstance(value, list) else value


def _project(origin: Origin, entry: bytes) -> str | None:
    """The directory of the workspace that the catalog names."""
    workspace = string(load(entry), "workspaceId") if entry else ""
    if not workspace or workspace in (".", "..") or set(workspace) & {"/", "\\"}:
        return None
    return project_of(Path(origin.root, "workspaceStorage", workspace))


# ── workspaces ──


def _workspace_updates(
    database: Database, table: Table | None, origin: Origin, known: Known
) -> Iterator[Update | Roll]:
    """Which conversations belong to a workspace, and the chats of the panel it had."""
    project = project_of(Path(origin.place).parent)
    found: dict[str, Update] = {}
    for name, role, lists, id in (
        (_MEMBERS, "member", "allComposers", "composerId"),
        (_PANEL, "panel", "tabs", "tabId"),
    ):
        value = _value(database, table, name, known) if table else None
        for entry in items(value, lists):
            if conversation := string(entry, id):
                update = _entry(name, role, conversation, _scrubbed(entry), project)
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


READER = Cursor()
