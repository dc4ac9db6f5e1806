"""Crush: sessions in a database of each project."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Text, ToolCall, ToolResult
from rireki.sources.crush import READER
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

ID = "3f1c6f7e-0a41-4d5e-9a55-1d1e7c0f2a01"
AGENT = "7d0a5a1e-5555-4c1c-8d11-000000000002$$call_2"


@pytest.fixture
def store(home: Path) -> Path:
    lay_out("crush-composed", home)
    return home / ".crush" / "crush.db"


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"crush/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def parts_of(said: list[Message], kind: type) -> list[Any]:
    return [part for one in said for part in one.parts if isinstance(part, kind)]


def write(store: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute(statement, values)


def test_a_session_says_who_typed_what_and_where_it_was_compacted(
    archive: Archive, home: Path, store: Path
) -> None:
    found, said = take_in(archive, home)[ID], messages(archive, ID)
    assert [(m.author, m.display, text_of(m)) for m in said] == [
        ("person", "bubble", "Rename clock.py to watch.py, please."),
        ("agent", "bubble", "I will move it."),
        ("tool", "fold", ""),
        ("agent", "bubble", "clock.py is now watch.py."),
        ("harness", "divider", "A file was renamed; tests are left to do."),
        ("person", "bubble", "ありがとう。テストも直して。"),
        ("agent", "bubble", ""),
        ("tool", "fold", ""),
        ("agent", "bubble", ""),
    ]
    assert [(one.call_id, one.status, one.output) for one in parts_of(said, ToolResult)] == [
        ("call_1", "ok", "moved"),
        ("call_2", "ok", "There are none."),
        ("call_3", "error", "exit 1"),
    ]
    assert parts_of(said, ToolCall)[0].arguments == {"command": "git mv clock.py watch.py"}
    assert parts_of(said, Notice) == [Notice("Provider error overloaded", "error")]
    assert [(one.name, one.size) for one in parts_of(said, Attachment)] == [("shot.png", 8)]
    # Seconds and milliseconds, as versions differ.
    assert [m.at for m in said][4:6] == ["2025-11-18T00:00:20.000Z", "2025-11-18T00:01:00.000Z"]
    assert (found.title, found.project) == ("Rename the clock module", str(home))
    assert (found.models, found.turns) == (["claude-sonnet-4-5", "gpt-5"], 2)
    usage = found.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.lower_bound) == (5200, 310, True)
    assert READER.resume(found) == f"cd {home} && crush --session {ID}"


def test_a_sub_agent_is_linked_with_the_call_that_started_it(
    archive: Archive, home: Path, store: Path
) -> None:
    found = take_in(archive, home)[AGENT]
    assert (found.nature, found.turns) == ("subagent", 0)
    assert [(one.kind, one.side, one.id) for one in found.links] == [
        ("subagent", "parent", f"crush/{ID}")
    ]


def test_projects_of_the_list_and_of_the_archive_are_looked_at(home: Path, store: Path) -> None:
    listed, known, moved = (home / "src" / name for name in ("listed", "known", "moved"))
    for folder in (listed / ".crush", known / ".crush", home / "data" / "moved"):
        folder.mkdir(parents=True)
        shutil.copyfile(store, folder / "crush.db")
    registry = home / ".local" / "share" / "crush"
    registry.mkdir(parents=True)
    projects = [
        {"path": str(listed), "data_dir": str(listed / ".crush"), "last_accessed": "2026-01-01"},
        {"path": str(moved), "data_dir": str(home / "data" / "moved")},
        {"path": str(home / "gone"), "data_dir": ".crush"},
        "no project",
    ]
    (registry / "projects.json").write_text(json.dumps({"projects": projects}), encoding="utf-8")
    places = Places.at(home).knowing(lambda: [str(known), str(home / "none")])
    found = {origin.place: origin.project for origin in READER.discover(places).origins}
    assert found == {
        str(store): str(home),
        str(listed / ".crush" / "crush.db"): str(listed),
        str(known / ".crush" / "crush.db"): str(known),
        str(home / "data" / "moved" / "crush.db"): str(moved),
    }
    located = READER.locate(places, str(known / ".crush" / "crush.db-wal"))
    assert [(one.place, one.project) for one in located] == [
        (str(known / ".crush" / "crush.db"), str(known))
    ]
    assert len(READER.locate(places, str(registry / "projects.json"))) == 4
    assert str(registry) in {one.folder for one in READER.watched(places)}


def test_a_database_that_is_named_by_hand_is_of_the_folder_around_it(
    home: Path, store: Path
) -> None:
    for path in (store, store.parent, home):
        found = [(one.place, one.project) for one in READER.recognise(path)]
        assert found == [(str(store), str(home))]


def test_an_answer_that_was_seen_half_is_told_once_and_a_deleted_session_stays(
    archive: Archive, home: Path, store: Path, tmp_path: Path
) -> None:
    id = "7d0a5a1e-5555-4c1c-8d11-000000000004"
    with closing(sqlite3.connect(store)) as database:
        (whole,) = database.execute("SELECT parts FROM messages WHERE id = ?", (id,)).fetchone()
    half = json.dumps([{"type": "text", "data": {"text": "clock.py is"}}])
    for parts, at in ((half, 1), (whole, 2)):
        write(store, "UPDATE messages SET parts = ?, updated_at = ? WHERE id = ?", parts, at, id)
        take_in(archive, home)
    said = [text_of(m) for m in messages(archive, ID)]
    assert (len(said), said[3]) == (9, "clock.py is now watch.py.")
    for table, column in (("messages", "session_id"), ("sessions", "id")):
        write(store, f"DELETE FROM {table} WHERE {column} = ?", ID)
    found = take_in(archive, home)[ID]
    assert (found.upstream, len(messages(archive, ID))) == ("gone", 9)
    files = restore(archive, archive.find(f"crush/{ID}"), tmp_path / "back")
    rows = [json.loads(file.read_bytes())["sessions"][0]["id"] for file in files]
    assert sorted(rows) == [ID, AGENT]


def test_no_secret_of_crush_is_in_the_archive(archive: Archive, home: Path, store: Path) -> None:
    """Not even of a file that it edited."""
    for folder in (store.parent, home / ".local" / "share" / "crush"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "crush.json").write_text('{"api_key": "sk-canary"}', encoding="utf-8")
    assert b"sk-canary" in store.read_bytes()
    take_in(archive, home)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert b"sk-canary" not in strand.document()
