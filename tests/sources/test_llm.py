"""llm: threads and turns since 0.36, conversations and responses before."""

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
from rireki.model.parts import Attachment, Text, Thinking, ToolCall, ToolResult
from rireki.sources.kit.places import Places
from rireki.sources.llm import READER
from tests.support.homes import FIXTURES, lay_out

CHECKED = FIXTURES / "llm" / "0.36" / "hand-checked.json"
LOG = ".config/io.datasette.llm/logs.db"


@pytest.fixture
def log(home: Path) -> Path:
    lay_out("llm-0.36", home)
    return home / LOG


def take_in(archive: Archive, log: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(log.parents[2]))
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"llm/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def parts_of(said: list[Message], kind: type) -> list[Any]:
    return [part for one in said for part in one.parts if isinstance(part, kind)]


def write(log: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(log)) as database, database:
        for statement, values in statements:
            database.execute(statement, values)


def test_every_thread_says_what_was_typed_and_answered(archive: Archive, log: Path) -> None:
    found = take_in(archive, log)
    checked = json.loads(CHECKED.read_text("utf-8"))["conversations"]
    assert set(found) == {one["native_id"] for one in checked}
    for one in checked:
        thread, said = found[one["native_id"]], messages(archive, one["native_id"])
        bubbles = [m for m in said if m.display == "bubble"]
        assert [text_of(m) for m in bubbles if m.author == "person"] == one["prompts"]
        assert [text_of(m) for m in bubbles if m.author == "agent"] == one["agent_messages"]
        folded = [text_of(m) for m in said if m.display == "fold" and m.author == "person"]
        assert folded == one["system"]
        assert (thread.title, thread.project, thread.models) == (one["title"], None, one["models"])
        usage = thread.usage
        assert usage is not None
        assert usage.input_tokens + usage.cache_read_tokens == one["token_totals"]["input"]
        assert usage.output_tokens == one["token_totals"]["output"]
        assert READER.resume(thread) == f"llm chat --cid {one['native_id']}"
        assert thread.finished
        assert all(m.at for m in said)


def test_a_picture_that_llm_has_only_the_path_of_is_named(archive: Archive, log: Path) -> None:
    take_in(archive, log)
    (picture,) = parts_of(messages(archive, "01m7mpc4sh81sbvm7zppgeb6mk"), Attachment)
    assert (picture.name, picture.media_type) == ("red.png", "image/png")


def test_messages_that_two_threads_share_are_in_both(archive: Archive, log: Path) -> None:
    """They are named by their content, so the second thread adds no row for its first words."""
    with closing(sqlite3.connect(log)) as database:
        (tip,) = database.execute("SELECT tip_message_hash FROM threads ORDER BY id").fetchone()
    first = "01m7mpb590s8dw6a7zzz0xazkx"
    write(
        log,
        (
            "INSERT INTO threads VALUES (?, 'a fork', ?, ?, '2026-11-18 10:00:00+00:00')",
            ("02", tip, first),
        ),
    )
    found = take_in(archive, log)
    assert [text_of(m) for m in messages(archive, "02")] == [
        text_of(m) for m in messages(archive, first)
    ]
    assert [(one.kind, one.side, one.id) for one in found["02"].links] == [
        ("fork", "parent", f"llm/{first}")
    ]


def test_calls_results_fragments_and_piped_files_of_a_thread_are_read(
    archive: Archive, log: Path
) -> None:
    call = {"name": "clock", "arguments": {"zone": "JST"}, "tool_call_id": "call_1"}
    result = {"name": "clock", "output": "08:01", "tool_call_id": "call_1"}
    failed = {"name": "clock", "output": "", "exception": "no clock", "tool_call_id": "call_2"}
    pieces = {"text_ref": [{"literal": "Read "}, {"fragment": 7}]}
    part = "INSERT INTO parts (message_hash, position, type, tool_name, text, payload) VALUES (?,?,?,?,?,?)"
    message = "INSERT INTO messages VALUES (?, ?, ?, NULL)"
    write(
        log,
        ("INSERT INTO fragments VALUES (7, 'h', 'the plan', '', 'plan.txt')", ()),
        ("INSERT INTO attachments VALUES ('p', 'image/png', NULL, NULL, ?)", (b"\x89PNG piped",)),
        (message, ("m1", None, "user")),
        (part, ("m1", 0, "text", None, None, json.dumps(pieces))),
        (part, ("m1", 1, "attachment", None, None, '{"attachment": {"id": "p"}}')),
        (message, ("m2", "m1", "assistant")),
        (part, ("m2", 0, "reasoning", None, "It is early.", None)),
        (part, ("m2", 1, "tool_call", "clock", None, json.dumps(call))),
        (message, ("m3", "m2", "tool")),
        (part, ("m3", 0, "tool_result", "clock", None, json.dumps(result))),
        (part, ("m3", 1, "tool_result", "clock", None, json.dumps(failed))),
        (part, ("m3", 2, "hologram", None, "beam", None)),
        ("INSERT INTO threads VALUES ('T', 'tools', 'm3', NULL, '2026-11-18 10:00:00+00:00')", ()),
    )
    take_in(archive, log)
    said = messages(archive, "T")
    assert text_of(said[0]) == "Read the plan"
    (picture,) = parts_of(said, Attachment)
    reading = read_conversation(archive, archive.find("llm/T"))
    reading.messages()
    assert reading.attachment is not None
    assert reading.attachment(picture.digest) == b"\x89PNG piped"
    assert [part.text for part in parts_of(said, Thinking)] == ["It is early."]
    (called,) = parts_of(said, ToolCall)
    assert (called.call_id, called.name, called.arguments) == ("call_1", "clock", {"zone": "JST"})
    given = [(one.call_id, one.status, one.output) for one in parts_of(said, ToolResult)]
    assert given == [("call_1", "ok", "08:01"), ("call_2", "error", "no clock")]
    assert "hologram" in str(said)


def test_conversations_of_the_earlier_schema_are_read_beside_threads(
    archive: Archive, log: Path
) -> None:
    response = (
        "INSERT INTO responses (id, model, prompt, system, response, conversation_id, datetime_utc,"
        " input_tokens, output_tokens, token_details) VALUES (?,?,?,?,?,?,?,?,?,?)"
    )
    result = "INSERT INTO tool_results (id, response_id, name, output, tool_call_id)"
    details = '{"prompt_tokens_details": {"cached_tokens": 2}}'
    write(
        log,
        ("INSERT INTO conversations VALUES ('c1', 'Clocks', 'gpt-4o')", ()),
        (
            response,
            (
                "r1",
                "gpt-4o",
                "What time is it?",
                "Be terse.",
                "",
                "c1",
                "2025-03-01T08:00:00",
                10,
                3,
                details,
            ),
        ),
        (
            response,
            ("r2", "gpt-4o", "", "Be terse.", "Eight.", "c1", "2025-03-01T08:00:02", 20, 4, None),
        ),
        (
            response,
            ("r3", "gpt-4o", "alone", None, "Yes.", None, "2025-03-02T08:00:02", None, None, None),
        ),
        ("INSERT INTO tool_calls VALUES (1, 'r1', NULL, 'clock', '{\"zone\": 9}', 'call_1')", ()),
        (
            f"{result} VALUES (1, 'r2', 'clock', '08:00', 'call_1')",
            (),
        ),
        ("INSERT INTO fragments VALUES (7, 'h', 'the plan', '', 'plan.txt')", ()),
        ("INSERT INTO prompt_fragments VALUES ('r1', 7, 0)", ()),
    )
    found = take_in(archive, log)
    assert len(found) == 7
    said = messages(archive, "c1")
    told = [(m.author, m.display, text_of(m)) for m in said]
    assert told == [
        ("person", "fold", "Be terse."),
        ("person", "fold", "the plan"),
        ("person", "bubble", "What time is it?"),
        ("agent", "bubble", ""),
        ("tool", "fold", ""),
        ("agent", "bubble", "Eight."),
    ]
    (called,), (given,) = parts_of(said, ToolCall), parts_of(said, ToolResult)
    assert (called.call_id, called.arguments, given.output) == ("call_1", {"zone": 9}, "08:00")
    usage = found["c1"].usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (28, 2, 7)
    assert [text_of(m) for m in messages(archive, "r3")] == ["alone", "Yes."]


def test_a_thread_that_was_deleted_stays_and_its_rows_come_back(
    archive: Archive, log: Path, tmp_path: Path
) -> None:
    first = "01m7mpb590s8dw6a7zzz0xazkx"
    take_in(archive, log)
    write(
        log,
        ("DELETE FROM turns WHERE thread_id = ?", (first,)),
        ("DELETE FROM threads WHERE id = ?", (first,)),
    )
    found = take_in(archive, log)
    assert found[first].upstream == "gone"
    assert text_of(messages(archive, first)[0]) == "Hello from llm"
    (file,) = restore(archive, archive.find(f"llm/{first}"), tmp_path / "back")
    assert json.loads(file.read_bytes())["threads"][0]["id"] == first


def test_a_second_turn_adds_its_messages_and_none_twice(archive: Archive, log: Path) -> None:
    first = "01m7mpbn0nnakvn80ybdwd03mz"
    take_in(archive, log)
    with closing(sqlite3.connect(log)) as database:
        (tip,) = database.execute(
            "SELECT tip_message_hash FROM threads WHERE id = ?", (first,)
        ).fetchone()
    write(
        log,
        ("INSERT INTO messages VALUES ('n1', ?, 'user', NULL)", (tip,)),
        (
            "INSERT INTO parts (message_hash, position, type, text) VALUES ('n1', 0, 'text', 'もう一度')",
            (),
        ),
        ("UPDATE threads SET tip_message_hash = 'n1' WHERE id = ?", (first,)),
    )
    found = take_in(archive, log)
    said = [text_of(m) for m in messages(archive, first)]
    assert said[-1] == "もう一度"
    assert len(said) == len(set(said)) == 4
    assert (found[first].upstream, found[first].finished) == ("present", False)


def test_no_secret_of_llm_is_in_the_archive(archive: Archive, log: Path) -> None:
    log.with_name("keys.json").write_text('{"openai": "sk-canary-1"}', encoding="utf-8")
    write(
        log,
        ("CREATE TABLE plugin_tokens (token TEXT)", ()),
        ("INSERT INTO plugin_tokens VALUES ('sk-canary-2')", ()),
    )
    take_in(archive, log)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert b"sk-canary" not in strand.document()


def test_a_database_without_these_tables_is_left_alone(archive: Archive, log: Path) -> None:
    log.unlink()
    write(log, ("CREATE TABLE other (id TEXT)", ()))
    take_in(archive, log)
    (trouble,) = [one for *_, one in archive.troubles("llm")]
    assert "has none of the tables" in trouble.message


def test_the_folder_may_be_named_by_a_variable(log: Path, tmp_path: Path) -> None:
    places = Places(tmp_path / "elsewhere", {"LLM_USER_PATH": str(log.parent)})
    assert [origin.place for origin in READER.discover(places).origins] == [str(log)]
