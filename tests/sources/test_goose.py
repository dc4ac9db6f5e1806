"""Goose: sessions of its database, and of the files it kept before."""

from __future__ import annotations

import json
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
from rireki.model.parts import Attachment, Text, ToolCall, ToolResult
from rireki.sources.goose import READER
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

ID, AGENT, OLDER = "20251118_1", "20251118_2", "20250430_080000"


@pytest.fixture
def sessions(home: Path) -> Path:
    lay_out("goose-composed", home)
    return home / ".local" / "share" / "goose" / "sessions"


def take_in(archive: Archive, sessions: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(sessions.parents[3]))
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"goose/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def parts_of(said: list[Message], kind: type) -> list[Any]:
    return [part for one in said for part in one.parts if isinstance(part, kind)]


def write(sessions: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(sessions / "sessions.db")) as database, database:
        for statement, values in statements:
            database.execute(statement, values)


def test_a_session_says_who_typed_what_and_where_it_was_compacted(
    archive: Archive, sessions: Path
) -> None:
    found, said = take_in(archive, sessions)[ID], messages(archive, ID)
    assert [(m.author, m.display, text_of(m)) for m in said] == [
        ("person", "bubble", "Rename clock.py to watch.py, please."),
        ("agent", "bubble", "I will move it."),
        ("tool", "fold", ""),
        ("agent", "bubble", "clock.py is now watch.py."),
        ("harness", "divider", "A file was renamed; tests are left to do."),
        ("harness", "fold", "Your context was compacted. Go on naturally."),
        ("harness", "chip", ""),
        ("person", "bubble", "ありがとう。テストも直して。"),
        ("agent", "bubble", ""),
        ("tool", "fold", ""),
        ("agent", "bubble", "All tests pass."),
    ]
    assert [(one.call_id, one.status, one.output) for one in parts_of(said, ToolResult)] == [
        ("call_1", "ok", "moved"),
        ("call_2", "error", "no such tool"),
        ("call_3", "ok", "3 passed"),
    ]
    assert [one.call_id for one in parts_of(said, ToolCall)] == ["call_1", "call_2", "call_3"]
    assert parts_of(said, ToolCall)[0].arguments == {"command": "git mv clock.py watch.py"}
    assert [one.size for one in parts_of(said, Attachment)] == [8]
    assert (found.title, found.project) == ("Move the clock", "/home/aya/src/clock")
    assert (found.models, found.turns, found.finished) == (["claude-sonnet-4-5"], 2, True)
    usage = found.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (4200, 310)
    command = f"goose session --resume --session-id {ID}"
    assert READER.resume(found) == f"cd /home/aya/src/clock && {command}"


def test_nobody_typed_in_the_session_of_a_sub_agent(archive: Archive, sessions: Path) -> None:
    found = take_in(archive, sessions)[AGENT]
    assert (found.nature, found.turns, found.title) == ("subagent", 0, "")
    assert [m.author for m in messages(archive, AGENT)] == ["harness", "agent"]


def test_a_file_of_an_older_version_is_read_and_told_once_when_the_database_takes_it_over(
    archive: Archive, sessions: Path
) -> None:
    found, said = take_in(archive, sessions)[OLDER], messages(archive, OLDER)
    told = ["How many stars are there?", "", "", "9110 that one can see."]
    assert [text_of(m) for m in said] == told
    assert (found.title, found.project) == ("Count the stars", "/home/aya/src/stars")
    lines = (sessions / f"{OLDER}.jsonl").read_text("utf-8").splitlines()[1:]
    row = (
        "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?,?,?,?)"
    )
    values = [json.loads(line) for line in lines]
    write(
        sessions,
        ("INSERT INTO sessions (id, name, working_dir) VALUES (?, 'Stars', '/s')", (OLDER,)),
        *((row, (OLDER, v["role"], json.dumps(v["content"]), v["created"])) for v in values),
    )
    found, said = take_in(archive, sessions)[OLDER], messages(archive, OLDER)
    assert [text_of(m) for m in said] == told
    assert (found.title, found.upstream) == ("Stars", "present")


def test_what_a_compaction_writes_anew_is_told_once_and_as_there(
    archive: Archive, sessions: Path
) -> None:
    take_in(archive, sessions)
    write(
        sessions,
        ("UPDATE messages SET id = id + 100, message_id = NULL, metadata_json = '{}'", ()),
    )
    found, said = take_in(archive, sessions)[ID], messages(archive, ID)
    assert len(said) == 11
    assert found.upstream == "present"


def test_a_deleted_session_stays_and_its_rows_come_back(
    archive: Archive, sessions: Path, tmp_path: Path
) -> None:
    take_in(archive, sessions)
    write(
        sessions,
        ("DELETE FROM messages WHERE session_id = ?", (ID,)),
        ("DELETE FROM sessions WHERE id = ?", (ID,)),
    )
    found = take_in(archive, sessions)[ID]
    assert (found.upstream, len(messages(archive, ID))) == ("gone", 11)
    (file,) = restore(archive, archive.find(f"goose/{ID}"), tmp_path / "back")
    assert json.loads(file.read_bytes())["sessions"][0]["id"] == ID


def test_no_secret_of_goose_is_in_the_archive(archive: Archive, sessions: Path) -> None:
    config = sessions.parents[3] / ".config" / "goose"
    config.mkdir(parents=True)
    (config / "secrets.yaml").write_text("OPENAI_API_KEY: sk-canary", encoding="utf-8")
    write(
        sessions,
        ("CREATE TABLE tokens (token TEXT)", ()),
        ("INSERT INTO tokens VALUES ('sk-canary-2')", ()),
        ("UPDATE sessions SET extension_data = 'sk-canary-3'", ()),
    )
    take_in(archive, sessions)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert b"sk-canary" not in strand.document()


def test_the_folder_may_be_named_by_a_variable(sessions: Path, tmp_path: Path) -> None:
    places = Places(tmp_path / "elsewhere", {"XDG_DATA_HOME": str(sessions.parents[1])})
    found = {Path(origin.place).name for origin in READER.discover(places).origins}
    assert found == {"sessions.db", f"{OLDER}.jsonl"}
