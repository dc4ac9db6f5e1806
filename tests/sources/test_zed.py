"""Zed: threads of its own agent, a row each, replaced whole."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, ToolCall, ToolResult
from rireki.sources.kit import zstd
from rireki.sources.kit.places import Places
from rireki.sources.zed import READER
from tests.support.homes import lay_out

ID = "11111111-aaaa-4bbb-8ccc-000000000001"
AGENT = "11111111-aaaa-4bbb-8ccc-000000000002"
OLDER = "22222222-aaaa-4bbb-8ccc-000000000001"


@pytest.fixture
def threads(home: Path) -> Path:
    lay_out("zed-composed", home)
    return home / ".local" / "share" / "zed" / "threads" / "threads.db"


def take_in(archive: Archive, threads: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(threads.parents[4]))
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"zed/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def parts_of(said: list[Message], kind: type) -> list[Any]:
    return [part for one in said for part in one.parts if isinstance(part, kind)]


def write(threads: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(threads)) as database, database:
        database.execute(statement, values)


def save(threads: Path, change: Callable[[list[Any]], None], at: str) -> None:
    """Zed saves the thread again, whole."""
    with closing(sqlite3.connect(threads)) as database, database:
        (data,) = database.execute("SELECT data FROM threads WHERE id = ?", (ID,)).fetchone()
        thread = json.loads(zstandard.ZstdDecompressor().decompress(data))
        change(thread["messages"])
        packed = zstandard.ZstdCompressor().compress(json.dumps(thread).encode())
        database.execute(
            "UPDATE threads SET data = ?, updated_at = ? WHERE id = ?", (packed, at, ID)
        )


def test_a_thread_says_who_typed_what_and_what_it_mentions(archive: Archive, threads: Path) -> None:
    found, said = take_in(archive, threads)[ID], messages(archive, ID)
    assert [(m.author, m.display, text_of(m)) for m in said] == [
        (
            *("person", "bubble"),
            "Rename @/home/aya/src/clock/clock.py to watch.py, please.",
        ),
        ("harness", "fold", "def now(): ..."),
        ("agent", "bubble", "I will move it."),
        ("tool", "fold", ""),
        ("agent", "bubble", "clock.py is now watch.py."),
        ("person", "bubble", "ありがとう。テストも直して。"),
        ("person", "chip", ""),
        ("agent", "bubble", "All tests pass."),
    ]
    assert [(one.call_id, one.status, one.output) for one in parts_of(said, ToolResult)] == [
        ("call_1", "ok", "moved"),
        ("call_2", "error", "no such file"),
    ]
    calls = parts_of(said, ToolCall)
    assert [one.name for one in calls] == ["move_path", "read_file"]
    assert calls[1].arguments == {"path": "none.py"}
    assert [one.size for one in parts_of(said, Attachment)] == [8]
    assert (found.title, found.project) == ("Rename the clock", "/home/aya/src/clock")
    assert found.trail == ["/home/aya/src/art"]
    assert (found.models, found.turns, found.finished) == (["claude-sonnet-4-5"], 2, True)
    usage = found.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (120, 45)
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (900, 80)
    assert READER.resume(found) is None


def test_a_sub_agent_is_linked_with_the_thread_that_started_it(
    archive: Archive, threads: Path
) -> None:
    found = take_in(archive, threads)[AGENT]
    assert (found.nature, found.turns) == ("subagent", 0)
    assert [(one.kind, one.side, one.id) for one in found.links] == [
        ("subagent", "parent", f"zed/{ID}")
    ]


def test_a_thread_of_an_older_version_is_read(archive: Archive, threads: Path) -> None:
    found, said = take_in(archive, threads)[OLDER], messages(archive, OLDER)
    assert [(m.author, text_of(m)) for m in said] == [
        ("person", "How many stars are there?"),
        ("harness", "<context>stars.txt</context>"),
        ("agent", "I count."),
        ("tool", ""),
        ("agent", "9110 that one can see."),
    ]
    assert parts_of(said, ToolResult) == [ToolResult("t1", "ok", "9110")]
    assert (found.models, found.title) == (["claude-3-7-sonnet"], "Count the stars")


def test_every_version_stays_in_order_and_nothing_is_told_twice(
    archive: Archive, threads: Path
) -> None:
    def answer_half(said: list[Any]) -> None:
        said[5] = {"Agent": {"content": [{"Text": "All te"}], "tool_results": {}}}

    def answer(said: list[Any]) -> None:
        said[5] = {"Agent": {"content": [{"Text": "All tests pass."}], "tool_results": {}}}

    def edit(said: list[Any]) -> None:
        said[3:] = [{"User": {"id": "u-3", "content": [{"Text": "Leave the tests alone."}]}}]

    for number, change in enumerate((answer_half, answer, edit)):
        save(threads, change, f"2025-11-18T01:0{number}:00Z")
        found = take_in(archive, threads)[ID]
    said = messages(archive, ID)
    assert [text_of(m) for m in said if m.abandoned] == [
        "ありがとう。テストも直して。",
        "",
        "All tests pass.",
    ]
    assert text_of(said[-1]) == "Leave the tests alone."
    assert len(said) == 9
    assert (found.upstream, found.finished) == ("changed", False)


def test_a_deleted_thread_stays_and_its_row_comes_back(
    archive: Archive, threads: Path, tmp_path: Path
) -> None:
    take_in(archive, threads)
    write(threads, "DELETE FROM threads WHERE id = ?", ID)
    found = take_in(archive, threads)[ID]
    assert (found.upstream, len(messages(archive, ID))) == ("gone", 8)
    files = restore(archive, archive.find(f"zed/{ID}"), tmp_path / "back")
    # With the sub-agent that it started.
    rows = [json.loads(file.read_bytes())["threads"][0]["id"] for file in files]
    assert sorted(rows) == [ID, AGENT]


@pytest.mark.parametrize("data", [b"\x28\xb5\x2f\xfd broken", b"\xff no zstd", b"{not json"])
def test_what_cannot_be_unpacked_is_kept_and_named(
    archive: Archive, threads: Path, data: bytes
) -> None:
    write(threads, "UPDATE threads SET data = ? WHERE id = ?", data, ID)
    found = take_in(archive, threads)[ID]
    assert [one.place for one in found.troubles] == [str(threads)]


def test_a_small_value_that_unpacks_to_very_much_is_cut(
    archive: Archive, threads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zstd, "LARGEST", 1000)
    bomb = zstandard.ZstdCompressor().compress(b" " * 1_000_000)
    write(threads, "UPDATE threads SET data = ? WHERE id = ?", bomb, ID)
    found = take_in(archive, threads)[ID]
    assert "too large" in found.troubles[0].message


def test_no_secret_of_zed_is_in_the_archive(archive: Archive, threads: Path) -> None:
    write(threads, "CREATE TABLE kv (key TEXT, value TEXT)")
    write(threads, "INSERT INTO kv VALUES ('token', 'sk-canary')")
    write(threads, "ALTER TABLE threads ADD COLUMN secret TEXT DEFAULT 'sk-canary'")
    (threads.parents[1] / "credentials.json").write_text("sk-canary", encoding="utf-8")
    take_in(archive, threads)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert b"sk-canary" not in strand.document()


def test_a_database_with_the_first_columns_alone_is_read(archive: Archive, threads: Path) -> None:
    for column in ("parent_id", "folder_paths", "folder_paths_order", "created_at"):
        write(threads, f"ALTER TABLE threads DROP COLUMN {column}")
    found = take_in(archive, threads)
    assert (found[ID].project, len(found)) == (None, 3)
