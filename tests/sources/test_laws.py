"""The laws every reader keeps, on every fixture, through the real archive."""

from __future__ import annotations

import base64
import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.rebuild import rebuild
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.conftest import Clock
from tests.support.dump import dump
from tests.support.engine import sql_of
from tests.support.homes import NAMES, files, lay_out

#: Files that are no conversation's: what is wrong in them is told by none.
LISTS = ("history.jsonl", "session_index.jsonl", "c394af3a009a31cd.jsonl")
every_home = pytest.mark.parametrize("name", NAMES)


def take_in(archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(home))


def words(archive: Archive) -> dict[str, set[str]]:
    """For every conversation, whatever stands in its messages."""
    found: dict[str, set[str]] = {}
    for conversation in archive.conversations(Filter(subagents=True)):
        reading = read_conversation(archive, archive.find(conversation.id))
        found[conversation.id] = {str(part) for m in reading.messages() for part in m.parts}
    return found


@every_home
def test_any_cut_of_the_input_gives_the_same_archive(
    name: str, archive: Archive, home: Path, tmp_path: Path
) -> None:
    whole = lay_out(name, tmp_path / "whole")
    chance = random.Random(name)
    lines = {path: path.read_bytes() for path in files(whole) if path.suffix == ".jsonl"}
    pieces = {
        path: sorted(chance.choices(range(len(data) + 1), k=3)) for path, data in lines.items()
    }
    shutil.copytree(whole, home, dirs_exist_ok=True)
    for step in range(4):
        for path, data in lines.items():
            end = pieces[path][step] if step < 3 else len(data)
            target = home / path.relative_to(whole)
            with target.open("r+b") as file:
                if step == 0:
                    file.truncate(end)
                else:
                    file.seek(0, 2)
                    file.write(data[file.tell() : end])
        take_in(archive, home)
    calm = open_archive(tmp_path / "calm.sqlite3", create=True, clock=Clock())
    take_in(calm, home)
    assert dump(archive) == dump(calm)
    assert verify(archive) == []


@every_home
def test_what_was_taken_in_comes_back(
    name: str, archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    originals = {path.read_bytes() for path in files(home)}
    rows = _rows(home)
    kept = archive.groups()
    named = {c.native_id for c in archive.conversations(Filter(subagents=True))}
    assert named
    for group in kept:
        for strand in archive.strands(group.family, group.conversation):
            if strand.role == "state":
                rows["threads", "", strand.key] = _thread(Path(strand.place), strand.key)
                assert json.loads(strand.document()) == rows["threads", "", strand.key]
            elif strand.role == "ide-listed":
                entries = json.loads(Path(strand.place).read_text("utf-8"))
                (rows["list", "", strand.key],) = [
                    one for one in entries if one["sessionId"] == strand.key
                ]
                assert json.loads(strand.document()) == rows["list", "", strand.key]
            elif strand.role == "tab":
                rows["tabs", "", strand.key] = _tab(Path(strand.place), strand.key)
                assert json.loads(strand.document()) == rows["tabs", "", strand.key]
            elif strand.role == "item" and strand.key:
                listed = json.loads(Path(strand.place).read_text("utf-8"))
                rows["tasks", "", strand.key] = json.loads(strand.document())
                assert rows["tasks", "", strand.key] in listed
            elif strand.role == "rows":
                rows["session", "", strand.key] = opened = json.loads(strand.document())
                assert opened == _session(Path(strand.place), strand.key, opened)
            elif strand.source == "llm":
                rows["log", "", strand.key] = opened = json.loads(strand.document())
                assert opened == _logged(Path(strand.place), opened)
            elif strand.role == "typed":
                listed = json.loads(Path(strand.place).read_bytes())
                mine = [one for one in listed if one["sessionId"] == strand.key]
                assert json.loads(strand.document()) == mine
            elif strand.key:
                table, key, native_id = json.loads(strand.key)
                assert json.loads(strand.document()) == rows[table, key, native_id]
            else:
                assert strand.document() == Path(strand.place).read_bytes()
    # With a conversation its sub-agents come back.
    for number, group in enumerate(kept):
        if group.conversation.startswith("@") or group.conversation not in named:
            continue
        for path in restore(archive, archive.find(group.conversation), tmp_path / str(number)):
            data = path.read_bytes()
            assert data in originals or json.loads(data) in rows.values()


def _thread(database: Path, id: str) -> dict[str, str]:
    """What Codex's index calls a thread."""
    connection = sqlite3.connect(database)
    (row,) = connection.execute("SELECT id, name FROM threads WHERE id = ?", (id,)).fetchall()
    connection.close()
    return dict(zip(("id", "name"), row, strict=True))


def _tab(file: Path, id: str) -> object:
    """A tab as Amazon Q in the IDE has it."""
    collections = json.loads(file.read_text("utf-8"))["collections"]
    (tabs,) = [one["data"] for one in collections if one["name"] == "tabs"]
    (tab,) = [one for one in tabs if one["historyId"] == id]
    return tab


def _session(database: Path, id: str, kept: dict[str, list[dict[str, object]]]) -> object:
    """What the tables of opencode, Goose, Zed and Crush say of a session, of the columns that are kept."""
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    whose = {"session": "id", "sessions": "id", "threads": "id", "event": "aggregate_id"}
    found: dict[str, list[dict[str, object]]] = {}
    for table, rows in kept.items():
        statement = (
            f"SELECT * FROM {table} WHERE {whose.get(table, 'session_id')} = ? ORDER BY rowid"
        )
        found[table] = [
            {name: _opened(name, row[name.partition(":")[0]]) for name in one}
            for one, row in zip(rows, connection.execute(statement, (id,)).fetchall(), strict=True)
        ]
    connection.close()
    return found


def _logged(database: Path, kept: dict[str, list[dict[str, object]]]) -> object:
    """What llm's tables have of these rows, of the columns that are kept."""
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    found: dict[str, list[dict[str, object]]] = {}
    for table, rows in kept.items():
        key = "hash" if table == "messages" else "id"
        found[table] = []
        for one in rows:
            statement = f"SELECT * FROM {table} WHERE {key} = ?"
            (row,) = connection.execute(statement, (one[key],)).fetchall()
            found[table].append({name: row[name] for name in one})
    connection.close()
    return found


def _opened(name: str, value: object) -> object:
    as_json = {"data", "revert", "permission", "model", "summary_diffs", "metadata"}
    as_json |= {"content_json", "metadata_json", "model_config_json", "parts", "todos"}
    if name.endswith(":base64") and isinstance(value, bytes):
        return base64.b64encode(value).decode()
    text = value.decode() if isinstance(value, bytes) else value
    # Crush has a plain name in the column of the model.
    if name in as_json and isinstance(text, str) and text.startswith(("{", "[")):
        return json.loads(text)
    return value


def _chats(home: Path) -> dict[tuple[str, str, str], object]:
    """What VS Code's databases have of each chat."""
    rows: dict[tuple[str, str, str], object] = {}
    for database in home.rglob("workspaceStorage/*/state.vscdb"):
        connection = sqlite3.connect(database)
        values = dict(connection.execute("SELECT key, value FROM ItemTable"))
        connection.close()
        for chat in json.loads(values.get("interactive.sessions", "[]")):
            rows["ItemTable", "interactive.sessions", chat["sessionId"]] = chat
        index = "chat.ChatSessionStore.index"
        for id, entry in json.loads(values.get(index, '{"entries": {}}'))["entries"].items():
            rows["ItemTable", index, id] = entry
    return rows


def _composers(home: Path) -> dict[tuple[str, str, str], object]:
    """What Cursor's database has of each conversation."""
    rows: dict[tuple[str, str, str], object] = {}
    for path in home.rglob("Cursor/User/globalStorage/state.vscdb"):
        database = sqlite3.connect(path)
        pairs = database.execute("SELECT key, value FROM cursorDiskKV ORDER BY rowid").fetchall()
        times = ("createdAt", "lastUpdatedAt")
        names = ("composerId", "workspaceId", *times, "isArchived", "isSubagent", "value")
        entries = database.execute(f"SELECT {', '.join(names)} FROM composerHeaders").fetchall()
        database.close()
        catalog = {
            row[0]: dict(zip(names, (*row[:-1], json.loads(row[-1])), strict=True))
            for row in entries
        }
        for id in (key.partition(":")[2] for key, _ in pairs if key.startswith("composerData:")):
            rows["cursorDiskKV", "composerData", id] = {
                "catalog": [catalog[id]] if id in catalog else [],
            } | {
                name: [
                    {"key": key, "value": json.loads(value)}
                    for key, value in pairs
                    if key.split(":")[:2] == [name, id]
                ]
                for name in ("composerData", "bubbleId")
            }
    return rows


def _rows(home: Path) -> dict[tuple[str, str, str], object]:
    rows = _chats(home) | _composers(home)
    for database in home.rglob("data.sqlite3"):
        connection = sqlite3.connect(database)
        for table in ("conversations", "conversations_v2"):
            try:
                found = connection.execute(f"SELECT key, value FROM {table}").fetchall()
            except sqlite3.OperationalError:
                continue
            for key, value in found:
                try:
                    document = json.loads(value)
                    rows[table, key, document["conversation_id"]] = document
                except (TypeError, ValueError):
                    continue
        connection.close()
    return rows


@every_home
def test_reading_twice_adds_nothing_and_rebuilding_changes_nothing(
    name: str, archive: Archive, home: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    first = dump(archive)
    number = sql_of(archive).execute("SELECT value FROM meta WHERE key = 'number'").get
    take_in(archive, home)
    assert sql_of(archive).execute("SELECT value FROM meta WHERE key = 'number'").get == number
    assert dump(archive) == first
    rebuild(archive)
    assert dump(archive) == first
    assert verify(archive) == []


@every_home
def test_a_garbage_line_costs_one_trouble_and_not_its_neighbours(
    name: str, archive: Archive, home: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    before = words(archive)
    troubled = sum(len(c.troubles) for c in archive.conversations(Filter(subagents=True)))
    damaged = 0
    for path in files(home):
        if path.suffix == ".jsonl" and path.name not in LISTS:
            with path.open("ab") as file:
                file.write(b"" if path.read_bytes().endswith(b"\n") else b"\n")
                file.write(b'{"type": "user", \xfe\xff garbage\n')
            damaged += 1
    take_in(archive, home)
    after = words(archive)
    for conversation, said in before.items():
        assert said <= after[conversation]
    troubles = sum(len(c.troubles) for c in archive.conversations(Filter(subagents=True)))
    assert troubles - troubled == damaged


@every_home
@pytest.mark.parametrize("fate", ["rewritten", "truncated", "moved", "deleted"])
def test_whatever_happens_to_the_source_nothing_is_lost(
    name: str, fate: str, archive: Archive, home: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    before = words(archive)
    for path in files(home):
        _meet(fate, path)
    take_in(archive, home)
    after = words(archive)
    for conversation, said in before.items():
        assert said <= after[conversation], conversation
    assert verify(archive) == []


def _meet(fate: str, path: Path) -> None:
    if fate == "deleted":
        path.unlink()
    elif path.suffix != ".jsonl":
        return
    elif fate == "rewritten":
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[1::2]))
    elif fate == "truncated":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif fate == "moved" and path.parent.parent.name == "projects":
        target = path.parent.with_name(path.parent.name + "-moved") / path.name
        target.parent.mkdir(exist_ok=True)
        path.rename(target)


@every_home
def test_a_rewrite_in_place_of_equal_length_is_a_new_version(
    name: str, archive: Archive, home: Path
) -> None:
    lay_out(name, home)
    take_in(archive, home)
    at = archive.clock()
    before = {path: path.read_bytes() for path in files(home) if path.suffix == ".jsonl"}
    chance = random.Random(name)
    for path, data in before.items():
        letters = [n for n, byte in enumerate(data) if chr(byte).isalpha()]
        place = chance.choice(letters) if letters else None
        if place is not None:
            with path.open("r+b") as file:
                file.seek(place)
                file.write(b"q" if data[place : place + 1] != b"q" else b"z")
    take_in(archive, home)
    compared = 0
    for group in archive.groups():
        earlier = {
            strand.place: strand.document()
            for strand in archive.strands(group.family, group.conversation, at)
        }
        for strand in archive.strands(group.family, group.conversation):
            path = Path(strand.place)
            if path in before:
                compared += 1
                assert strand.document() == path.read_bytes()
                if strand.place in earlier:
                    assert earlier[strand.place] == before[path]
    assert compared or not before
    assert verify(archive) == []
