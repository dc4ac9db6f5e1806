"""The journals of driven agents as a source: where they lie, where they are filed, what is told."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import Report, discover, import_history
from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.sources import registry
from rireki.sources.bridge import reader as bridge_reader
from rireki.sources.bridge.reader import READER
from rireki.sources.kit import jsonl
from rireki.sources.kit.places import Places
from rireki.sources.reader import Known, Update
from tests.golden import DRIVEN, expected, joined
from tests.sources.test_records import fetch, stands_in
from tests.support.driven import Journal, time
from tests.support.homes import lay_out
from tests.support.memory import Memory
from tests.support.q_rows import texts

TakeIn = Callable[[], Report]


def tell(home: Path) -> Reading:
    """The only conversation there is, read without any archive."""
    memory = Memory(READER)
    memory.import_home(home)
    (reading,) = memory.readings().values()
    return reading


def told(home: Path) -> list[Message]:
    return tell(home).messages()


def updates(home: Path, cursors: dict[str, object] | None = None) -> list[Update]:
    (origin,) = READER.discover(Places.at(home)).origins
    read = list(READER.read(origin, Known(cursors or {})))
    return [update for update in read if isinstance(update, Update)]


def test_real_journals_are_understood_as_written_down_beside_them() -> None:
    told = json.loads(json.dumps(joined(DRIVEN)))
    assert told == json.loads(expected(DRIVEN).read_text(encoding="utf-8"))


# ── what is told ──


def test_a_prompt_waits_at_the_end_and_stands_where_it_was_given(home: Path) -> None:
    journal = Journal(home)
    journal.start(None)
    journal.send("p1", "first")
    journal.send("p2", "second", given=False)
    journal.say("b1", "an answer to the first")
    assert [(m.id, m.label, m.turn) for m in told(home)] == [
        ("p1", None, 1),
        ("b1", None, 1),
        ("p2", "queued", None),
    ]
    journal.end("p1")
    journal.write("given", id="p2")
    assert [(m.id, m.label, m.turn) for m in told(home)] == [
        ("p1", None, 1),
        ("b1", None, 1),
        ("p2", None, 2),
    ]
    assert told(home)[2].at == time(journal.seconds)


def test_a_long_title_ends_with_a_whole_letter(home: Path) -> None:
    journal = Journal(home)
    journal.start(None)
    journal.send("p1", "x" * 199 + "か\u3099 and more")
    assert tell(home).conversation.title == "x" * 199


def test_what_waits_can_be_edited_put_first_and_withdrawn_until_it_is_given(home: Path) -> None:
    journal = Journal(home)
    journal.start(None)
    journal.send("p1", "one", given=False)
    journal.send("p2", "two", given=False, first=True)
    journal.send("p3", "three", given=False)
    journal.write("edit", id="p1", text="uno")
    journal.write("withdraw", id="p3")
    assert [(m.id, texts(m), m.label, m.display) for m in told(home)] == [
        ("p3", ["three"], "withdrawn", "fold"),
        ("p2", ["two"], "queued", "bubble"),
        ("p1", ["uno"], "queued", "bubble"),
    ]
    journal.write("given", id="p1")
    journal.write("edit", id="p1", text="too late")
    journal.write("withdraw", id="p1")
    journal.write("given", id="p3")
    assert [(m.id, texts(m), m.label) for m in told(home)] == [
        ("p3", ["three"], "withdrawn"),
        ("p1", ["uno"], None),
        ("p2", ["two"], "queued"),
    ]
    conversation = tell(home).conversation
    assert (conversation.turns, conversation.messages, conversation.finished) == (1, 3, False)


def test_a_prompt_that_was_sent_twice_is_told_once(home: Path) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    journal.write("prompt", id="p1", text="go", by="phone")
    assert [m.id for m in told(home)] == ["p1"]


def test_stretches_of_a_block_are_one_message_and_nothing_is_none(home: Path) -> None:
    journal = Journal(home)
    journal.start(None, model="m-1")
    journal.send("p1", "go")
    journal.write("thought", block="t", text="hm, ")
    journal.say("b", "Hello ")
    journal.write("thought", block="t", text="yes")
    journal.say("b", "world")
    journal.say("empty", " \n")
    _, thought, text = told(home)
    assert thought.parts == [Thinking("hm, yes")] and text.parts == [Text("Hello world")]
    assert text.model == "m-1" and thought.author == text.author == "agent"


def test_later_lines_of_a_call_win_field_by_field(home: Path) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    journal.write("call", call="c", name="Edit", title="Edit a.py", tool="edit")
    journal.write("call", call="c", diffs=[{"path": "a.py", "old": None, "new": "x = 1"}])
    assert told(home)[1].parts == [
        ToolCall("c", "Edit", {"path": "a.py", "old_text": "", "new_text": "x = 1"})
    ]
    journal.write("call", call="c", arguments={"file_path": "a.py", "content": "x = 1"})
    journal.write("result", call="c", status="error", output={"why": "read-only"})
    _, call, result = told(home)
    assert call.parts == [ToolCall("c", "Edit", {"file_path": "a.py", "content": "x = 1"})]
    assert result.parts == [ToolResult("c", "error", '{\n  "why": "read-only"\n}')]
    assert (call.id, result.id, result.author) == ("call:c", "result:c", "tool")
    conversation = tell(home).conversation
    assert (conversation.tool_calls, conversation.calls_without_result) == (1, 0)


ALLOW = {"id": "y", "name": "Allow", "kind": "allow_once"}
ALWAYS = {"id": "a", "name": "Always", "kind": "allow_always"}
REJECT = {"id": "n", "name": "Reject", "kind": "reject_once"}


@pytest.mark.parametrize(
    ("what", "answer", "label", "words"),
    [
        ("permission", None, "waits for your permission: rm -r build", "not answered yet"),
        ("plan", None, "waits for your permission: rm -r build", "not answered yet"),
        ("question", None, "waits for your answer: rm -r build", "not answered yet"),
        (
            "permission",
            {"outcome": "selected", "option": "y", "by": "web"},
            "You allowed once: rm -r build",
            "allowed once by web: Allow",
        ),
        (
            "permission",
            {"outcome": "selected", "option": "a", "by": "phone"},
            "You always allowed: rm -r build",
            "always allowed by phone: Always",
        ),
        (
            "permission",
            {"outcome": "refused", "option": "n", "reason": "keep it", "by": "web"},
            "You refused: rm -r build",
            "refused by web: Reject; keep it",
        ),
        ("permission", {"outcome": "expired"}, "expired: rm -r build", "expired"),
        ("permission", {"outcome": "cancelled"}, "cancelled: rm -r build", "cancelled"),
        (
            "plan",
            {"outcome": "selected", "option": "y", "by": "web"},
            "You approved the plan: rm -r build",
            "plan approved by web: Allow",
        ),
        (
            "plan",
            {"outcome": "selected", "option": "n", "by": "web"},
            "You rejected the plan: rm -r build",
            "plan rejected by web: Reject",
        ),
    ],
)
def test_what_was_asked_and_how_it_ended_is_one_line(
    home: Path, what: str, answer: dict[str, Any] | None, label: str, words: str
) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    detail = {"command": "rm -r build"}
    options = [ALLOW, ALWAYS, REJECT]
    journal.write("ask", id="a1", what=what, title="rm -r  build", detail=detail, options=options)
    if answer is not None:
        journal.write("answer", id="a1", **answer)
        journal.write("answer", id="a1", outcome="selected", option="a", by="somebody else")
    _, ask = told(home)
    author = "person" if label.startswith("You ") else "harness"
    assert (ask.id, ask.author, ask.display, ask.label) == ("a1", author, "chip", label)
    assert ask.parts == [Text('{\n  "command": "rm -r build"\n}'), Notice(words)]


def test_questions_are_told_with_their_options_and_what_was_chosen(home: Path) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    options = [{"label": "red", "description": "warm"}, {"label": "blue"}]
    question = {"id": "q", "question": "Which colours?", "options": options, "multiple": True}
    journal.write("ask", id="a", what="question", title="Colours", questions=[question])
    journal.write("answer", id="a", outcome="answered", values={"q": ["red", "blue"]}, by="web")
    _, ask = told(home)
    assert ask.label == "You answered: Colours"
    assert ask.parts == [
        Text("Which colours?\n- red: warm\n- blue"),
        Notice("answered by web: Which colours? red, blue"),
    ]


def test_fields_of_other_kinds_than_ours_cost_no_message(home: Path) -> None:
    """Found by fuzzing: changes that are a number, a question whose id is a list."""
    journal = Journal(home)
    journal.send("p1", "go")
    journal.write("call", call="c", name="Edit", title="Edit a.py", diffs=1.5)
    journal.write(
        "ask", id="a", what="question", title="T", questions=[{"id": ["q"], "question": "Why?"}]
    )
    journal.write("answer", id="a", outcome="answered", values={"q": "so"}, by="web")
    _, call, ask = told(home)
    assert "Edit a.py" in str(call.parts)
    assert "Why?" in str(ask.parts)


def test_a_failure_is_told_once_with_what_the_agent_printed(home: Path) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    journal.say("b", "half an ans")
    ended = journal.write("turn_end", prompt="p1", reason="failed")
    journal.write("state", state="failed", detail="exit code 3\npanic!")
    chips = [m for m in told(home) if m.display == "chip"]
    assert [(m.id, m.label, m.parts) for m in chips] == [
        (f"n{ended}", "failed", [Notice("exit code 3\npanic!", "error")])
    ]
    assert not tell(home).conversation.finished


def test_of_states_and_ends_only_what_people_must_know_is_told(home: Path) -> None:
    journal = Journal(home)
    journal.start(None)
    for state in ("starting", "idle", "working"):
        journal.write("state", state=state)
    journal.send("p1", "go")
    journal.say("b1", "done")
    journal.end("p1")
    journal.write("process", pid=1)
    unknown = journal.write("a kind of tomorrow", text="what?")
    assert [(m.id, m.display) for m in told(home)] == [
        ("p1", "bubble"),
        ("b1", "bubble"),
        (f"n{unknown}", "fold"),
    ]
    assert tell(home).conversation.finished and tell(home).conversation.updated_at == time(8)
    journal.send("p2", "more")
    journal.write("stop", by="web")
    journal.end("p2", "cancelled")
    journal.write("note", text="started again", level="warning")
    labels = [(m.label, m.parts) for m in told(home)[4:]]
    assert labels == [
        ("stopped", [Notice("stopped")]),
        (None, [Notice("started again", "warning")]),
    ]


def test_pictures_come_back_and_what_is_none_is_kept(home: Path) -> None:
    picture = b"\x89PNG not really"
    image = {"media_type": "image/png", "data": base64.b64encode(picture).decode(), "name": "a"}
    journal = Journal(home)
    journal.send("p1", "look", images=[image, {"data": "%%%"}])
    reading = tell(home)
    digest = sha256(picture).hexdigest()
    _, attached, unknown = reading.messages()[0].parts
    assert attached == Attachment("image/png", digest, "a", len(picture))
    assert isinstance(unknown, Unknown)
    assert reading.attachment(digest) == picture and reading.attachment("0" * 64) is None


def test_hostile_lines_cost_themselves_alone(home: Path) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    with journal.file.open("ab") as file:
        file.write(b'{"v":1,"n":1,"at":"x","kind":"text","block":"b","text":"half \\ud83d pair"}\n')
        file.write(b'{"v":1,"n":2,"at":"","kind":"call","call":"c","arguments":{"n":1' + b"0" * 30)
        file.write(b"}}\n")
        file.write(b'{"v":1,"n":"3","at":"","kind":"text"}\n')
        deep = b'{"v":1,"n":4,"at":"","kind":"call","call":"d","arguments":'
        file.write(deep + b"[" * 5000 + b"]" * 5000 + b"}\n")
        file.write(b'{"v":1,"n":5,"at":"","kind":"ask","id":"a","options":7,"questions":[1]}\n')
        file.write(b'{"v":1,"n":6,"at":"","kind":"plan","entries":{"a":1}}\n')
        file.write(b'{"v":1,"n":7,"at":"","kind":"prompt","id":"q","images":[1]}\n')
        file.write(
            b'{"v":1,"n":8,"at":"","kind":"tell"}\n{"v":1,"n":9,"at":"","kind":"__init__"}\n'
        )
    reading = tell(home)
    assert [t.message for t in reading.conversation.troubles] == [
        "not an entry of a driven conversation"
    ] * 2
    assert {m.id for m in reading.messages()} == {
        *("p1", "b", "call:c", "a", "n6", "q"),
        *("n8", "n9"),
    }
    json.dumps([str(m) for m in reading.messages()]).encode()


def test_the_words_of_messages_stand_in_their_records(home: Path) -> None:
    lay_out("bridge", home)
    memory = Memory(READER)
    memory.import_home(home)
    strands = list(memory.strands.values())
    looked = 0
    for reading in memory.readings().values():
        records = reading.records()
        assert records.keys() == {message.id for message in reading.messages()}
        for message in reading.messages():
            rule = message.entry.rule if message.entry else ""
            if rule in ("prompt", "result"):
                held = fetch(strands, records[message.id])
                looked += 1
                assert all(stands_in(text, held) for text in texts(message) if text)
    assert looked >= 8


# ── where it is filed ──


def test_a_journal_belongs_to_itself_until_the_agent_reveals_its_own_id(home: Path) -> None:
    journal = Journal(home)
    journal.start("kiro")
    journal.send("p1", "go")
    (first,) = updates(home)
    assert (first.family, first.conversation) == (None, "drive-1")
    journal.write("session", source="kiro", id="k-1")
    (second,) = updates(home, {"": first.cursor})
    # Amazon Q and Kiro are one family.
    assert (second.family, second.conversation) == ("amazon-q", "k-1")
    journal.say("b", "the session is not named here")
    (third,) = updates(home, {"": second.cursor})
    assert (third.family, third.conversation) == ("amazon-q", "k-1")
    assert [len(content.pieces) for content in third.contents] == [1]


@pytest.mark.parametrize("source", [None, "gemini", "bridge"])
def test_without_a_reader_for_what_the_agent_leaves_it_stays_its_own(
    home: Path, source: str | None
) -> None:
    journal = Journal(home)
    journal.start(source)
    journal.write("session", source=source, id="g-1")
    journal.send("p1", "go")
    (update,) = updates(home)
    assert (update.family, update.conversation) == (None, "drive-1")
    assert tell(home).conversation.id == "bridge/drive-1"
    assert tell(home).link_tokens == []


def test_what_is_continued_is_known_from_the_beginning(home: Path) -> None:
    journal = Journal(home)
    journal.start("claude-code", continues="s-1")
    journal.send("p1", "go on")
    (update,) = updates(home)
    assert (update.family, update.conversation) == ("claude-code", "s-1")
    conversation = tell(home).conversation
    assert (conversation.id, conversation.source) == ("claude-code/s-1", "claude-code")
    # The agent's own store has not been seen with it.
    assert conversation.held_by == []


def test_a_large_journal_is_filed_at_once_although_it_is_read_in_pieces(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "BLOCK", 4096)
    monkeypatch.setattr(bridge_reader, "BLOCK", 4096)
    journal = Journal(home)
    journal.start()
    for number in range(50):
        journal.send(f"p{number}", "x" * 300)
    journal.write("session", source="claude-code", id="s-1")
    read = updates(home)
    assert len(read) > 3 and {update.conversation for update in read} == {"s-1"}


# ── places ──


def test_a_journal_is_recognised_wherever_it_lies_and_is_nobody_elses(
    home: Path, tmp_path: Path
) -> None:
    journal = Journal(home)
    journal.start(None)
    journal.send("p1", "go")
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(journal.file.parent, elsewhere)
    readers = registry.readers()
    for path in (journal.file, journal.file.parent, home, elsewhere, elsewhere / journal.file.name):
        (origin,) = discover(readers, Places.at(home), [path]).origins
        assert (origin.source, origin.conversation) == ("bridge", "drive-1")
    history = tmp_path / "history.jsonl"
    history.write_text(
        '{"v":1,"id":"a","seq":0,"kind":"user","raw":{"role":"user","content":"x"}}\n'
    )
    assert READER.recognise(history) == [] and registry.reader("rireki").recognise(history) != []


def test_journals_beside_the_archive_in_use_are_found(home: Path, tmp_path: Path) -> None:
    places = Places.at(home).beside(tmp_path / "work" / "archive.sqlite3")
    assert places.bridge_folders()[0] == tmp_path / "work" / "bridge"
    folder = tmp_path / "work" / "bridge"
    folder.mkdir(parents=True)
    shutil.copy(next(DRIVEN.rglob("drive-0002.jsonl")), folder)
    (origin,) = READER.discover(places).origins
    assert origin.place == str(folder / "drive-0002.jsonl")
    assert READER.locate(places, origin.place) == [origin]


def test_a_journal_that_lies_in_two_places_is_told_once(archive: Archive, home: Path) -> None:
    lay_out("bridge", home)
    import_history(archive, places=Places.at(home))
    before = {id: _ids(archive, id) for id in [each.id for each in archive.headings()]}
    shutil.copytree(home / ".local" / "share" / "rireki" / "bridge", home / "work" / "bridge")
    places = Places.at(home).beside(home / "work" / "archive.sqlite3")
    import_history(archive, places=places)
    assert {id: _ids(archive, id) for id in [each.id for each in archive.headings()]} == before


def test_a_journal_that_moves_with_its_archive_stays_the_same(archive: Archive, home: Path) -> None:
    lay_out("bridge", home)
    import_history(archive, places=Places.at(home))
    (home / "work").mkdir()
    shutil.move(home / ".local" / "share" / "rireki" / "bridge", home / "work" / "bridge")
    places = Places.at(home).beside(home / "work" / "archive.sqlite3")
    report = import_history(archive, places=places)
    (bridge,) = [source for source in report.sources if source.source == "bridge"]
    assert (bridge.moved, bridge.vanished) == (3, 0)


def _ids(archive: Archive, id: str) -> list[str]:
    return [m.id for m in read_conversation(archive, archive.find(id)).messages()]


def test_only_rireki_goes_on_with_what_it_alone_has(home: Path) -> None:
    journal = Journal(home)
    journal.send("p1", "go")
    conversation = tell(home).conversation
    assert READER.resume(conversation) is None
    assert "drive-1.jsonl" in (READER.revive(conversation) or "")
    with pytest.raises(RirekiError):
        registry.reader("gemini")
