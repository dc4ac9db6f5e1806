"""The journals of `MessageHistory` as a source: where they lie, what is told of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.strand import Ref
from rireki.sources.kit.places import Places
from rireki.sources.native.reader import READER
from tests.sources.test_records import fetch, stands_in
from tests.support.homes import FIXTURES, lay_out
from tests.support.memory import Memory
from tests.support.q_rows import texts


def take_in(archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(home), sources=["rireki"])


def read(archive: Archive, name: str) -> tuple[Conversation, list[Message]]:
    reading = read_conversation(archive, archive.find(f"rireki/{name}"))
    return reading.conversation, reading.messages()


def write(home: Path, name: str, *entries: dict[str, Any]) -> Path:
    folder = home / ".local" / "share" / "rireki" / "histories"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [{"v": 1, "id": f"e{n}", "seq": n, **entry} for n, entry in enumerate(entries)]
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_a_conversation_is_told_with_everything_that_happened_to_it(
    archive: Archive, home: Path
) -> None:
    lay_out("rireki", home)
    take_in(archive, home)
    conversation, messages = read(archive, "tidy-desk")
    assert conversation.title == "机の片付け" and conversation.project == "/home/u/desk"
    assert (conversation.turns, conversation.tool_calls, conversation.tool_results) == (4, 3, 3)
    assert conversation.calls_without_result == 0 and conversation.upstream == "present"
    assert conversation.models == ["claude-sonnet-4-5"] and conversation.usage is not None
    told = [(m.author, m.display, m.label, m.abandoned) for m in messages]
    assert told == [
        ("harness", "fold", "system", False),
        ("person", "bubble", None, False),
        ("agent", "bubble", None, False),
        ("tool", "fold", None, False),
        ("agent", "bubble", None, False),
        ("person", "bubble", None, False),
        ("agent", "bubble", None, True),
        ("harness", "divider", "branch", False),
        ("agent", "bubble", None, False),
        ("harness", "fold", "repaired", False),
        ("person", "bubble", None, False),
        ("agent", "bubble", None, False),
        ("harness", "divider", "summary", False),
        ("person", "bubble", None, False),
    ]
    assert [type(part) for part in messages[2].parts] == [Thinking, Text, ToolCall, ToolCall]
    assert [type(part) for part in messages[3].parts] == [ToolResult, ToolResult, Attachment]
    # What follows a branch follows what it went back to.
    assert messages[7].parent == messages[5].id and messages[8].parent == messages[7].id
    (repaired,) = messages[9].parts
    assert isinstance(repaired, ToolResult) and repaired.status == "error"


def test_what_was_cleared_is_left_and_calls_without_ids_find_their_results(
    archive: Archive, home: Path
) -> None:
    call = {"role": "assistant", "content": {"tool_call": {"name": "ls", "arguments": {}}}}
    block = {"type": "tool_result", "tool_use_id": "", "tool_name": "ls", "content": "a.py"}
    write(
        home,
        "x",
        {"kind": "user", "raw": {"role": "user", "content": "old"}},
        {"kind": "clear"},
        {"kind": "user", "raw": {"role": "user", "content": "list"}},
        {"kind": "assistant", "raw": call},
        {"kind": "tool", "raw": {"role": "user", "content": [block]}},
    )
    take_in(archive, home)
    conversation, messages = read(archive, "x")
    assert [m.abandoned for m in messages] == [True, False, False, False, False]
    assert messages[1].label == "cleared" and conversation.title == "old"
    asked, answered = messages[3].parts[0], messages[4].parts[0]
    assert isinstance(asked, ToolCall) and isinstance(answered, ToolResult)
    assert asked.call_id == answered.call_id != ""
    assert conversation.calls_without_result == conversation.results_without_call == 0


def test_a_fork_is_linked_to_where_it_came_from(archive: Archive, home: Path) -> None:
    lay_out("rireki", home)
    take_in(archive, home)
    (link,) = archive.find("rireki/tidy-desk-2").conversation.links
    assert (link.kind, link.id, link.side) == ("fork", "rireki/tidy-desk", "parent")
    # The answer that both hold is counted once.
    answers = [a.key for _, found in archive.answers("rireki") for a in found]
    assert answers.count("msg_01") == 2
    (_, messages) = read(archive, "tidy-desk-2")
    assert all(not message.abandoned for message in messages)


def test_nothing_that_is_not_understood_is_dropped(archive: Archive, home: Path) -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    broken = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a"}}
    address = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    write(
        home,
        "x",
        {"kind": "assistant", "raw": {"role": "assistant", "content": [redacted, server]}},
        {"kind": "user", "raw": {"role": "user", "content": [broken, address]}},
        {"kind": "user", "raw": {"role": "user", "content": ""}},
        {"kind": "user", "raw": ["no message"]},
        {"kind": "torn", "torn": '{"v":1,"id'},
        {"kind": "what is this", "raw": 1},
    )
    take_in(archive, home)
    _, messages = read(archive, "x")
    kinds = [[type(part) for part in message.parts] for message in messages]
    assert kinds == [[Unknown, Unknown], [Unknown, Attachment], [], [Unknown], [Notice], [Unknown]]
    assert 'not finished: {"v":1' in messages[4].parts[0].text  # type: ignore[union-attr]


def test_an_answer_that_is_a_number_costs_no_tokens(archive: Archive, home: Path) -> None:
    write(home, "x", {"kind": "assistant", "provider": "anthropic", "answer": True, "raw": 7})
    take_in(archive, home)
    conversation, _ = read(archive, "x")
    assert conversation.usage is None and not conversation.troubles


def test_a_journal_that_lies_in_two_places_is_told_once(archive: Archive, home: Path) -> None:
    lay_out("rireki", home)
    take_in(archive, home)
    _, before = read(archive, "weather")
    data = home / ".local" / "share" / "rireki" / "histories" / "weather.jsonl"
    beside = home / "work" / "histories"
    beside.mkdir(parents=True)
    (beside / "weather.jsonl").write_bytes(data.read_bytes())
    places = Places.at(home).beside(home / "work" / "archive.sqlite3")
    import_history(archive, places=places, sources=["rireki"])
    conversation, after = read(archive, "weather")
    assert [m.id for m in after] == [m.id for m in before] and conversation.troubles == []


def test_where_it_looks(home: Path) -> None:
    usual = [str(folder) for folder in Places.at(home).history_folders()]
    assert str(home / ".local" / "share" / "rireki" / "histories") == usual[0]
    places = Places.at(home).beside(home / "else" / "archive.sqlite3")
    assert [w.folder for w in READER.watched(places)] == [str(home / "else" / "histories"), *usual]
    assert [look.note for look in READER.discover(places).looked] == ["nothing there"] * (
        len(usual) + 1
    )
    assert READER.locate(places, str(home / "else" / "histories" / "x.lock")) == []
    assert READER.locate(places, str(home / "x.jsonl")) == []


def test_only_plain_files_are_opened(home: Path) -> None:
    import os

    file = write(home, "x", {"kind": "user", "raw": {"role": "user", "content": "a"}})
    os.mkfifo(file.with_name("pipe.jsonl"))
    file.with_name("link.jsonl").symlink_to("nowhere")
    file.with_name("x.lock").write_text("1")
    (origin,) = READER.discover(Places.at(home)).origins
    assert origin.place == str(file)


@pytest.mark.parametrize("named", ["", "histories", "histories/weather.jsonl"])
def test_what_a_user_names_is_recognised(named: str, home: Path) -> None:
    folder = lay_out("rireki", home) / ".local" / "share" / "rireki"
    found = {Path(origin.place).stem for origin in READER.recognise(folder / named)}
    assert found == ({"weather"} if named.endswith("l") else {*_names()})


def test_files_of_others_are_not_recognised() -> None:
    for folder in (FIXTURES / "claude-code").iterdir():
        for file in folder.rglob("*.jsonl"):
            assert READER.recognise(file) == []


def test_other_readers_leave_ours_alone(archive: Archive, home: Path) -> None:
    lay_out("rireki", home)
    file = home / ".local" / "share" / "rireki" / "histories" / "weather.jsonl"
    import_history(archive, places=Places.at(home), paths=[file])
    assert {each.id for each in archive.headings()} == {"rireki/weather"}


def _names() -> list[str]:
    return [path.stem for path in (FIXTURES / "rireki" / "histories").iterdir()]


def test_what_a_message_says_stands_in_its_records(home: Path) -> None:
    memory = Memory(READER)
    memory.import_home(lay_out("rireki", home))
    looked = 0
    for reading in memory.readings().values():
        records: dict[str, list[Ref]] = reading.records()
        for message in reading.messages():
            held = fetch(list(memory.strands.values()), records[message.id])
            for text in texts(message):
                looked += 1
                assert stands_in(text, held), text
    assert looked > 20


def test_how_to_go_on_with_it() -> None:
    conversation = Conversation(id="rireki/x", source="rireki", native_id="x")
    assert READER.resume(conversation) is None
    assert "MessageHistory.open('x')" in (READER.revive(conversation) or "")
