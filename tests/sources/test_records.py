"""Which records a message was made of: what is shown of it stands in them, whatever became of the source."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rireki.intake.demo import make_demo_home
from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.model.parts import Text, ToolResult
from rireki.model.strand import Ref, Strand
from rireki.sources import registry
from rireki.sources.amazon_q.kiro import READER as KIRO
from rireki.sources.claude_code import READER as CLAUDE_CODE
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.homes import FIXTURES, NAMES, files, lay_out
from tests.support.memory import Memory
from tests.support.q_rows import Client, called, message_saying, returned, said, shown, talk, texts

SOURCES = ("claude-code", "amazon-q", "kiro")
LONG = "word " * 60


class Kept:
    """Whether the words of messages stand in their records, counted by the rule that made them."""

    def __init__(self) -> None:
        self.looked: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()

    def check(self, reading: Reading, strands: Sequence[Strand], longer_than: int) -> None:
        records = reading.records()
        messages = reading.messages()
        assert records.keys() <= {message.id for message in messages}
        for message in messages:
            held = fetch(strands, records.get(message.id, []))
            rule = message.entry.rule if message.entry else str(message.label)
            for text in texts(message):
                if len(text) > longer_than:
                    self.looked[rule] += 1
                    self.missing[rule] += not stands_in(text, held)

    @property
    def share(self) -> float:
        return 1 - self.missing.total() / max(self.looked.total(), 1)


def fetch(strands: Sequence[Strand], refs: Sequence[Ref]) -> list[bytes]:
    by_id = {strand.id: strand for strand in strands}
    return [by_id[ref.strand].fetch(ref.lane, [ref.record])[0] for ref in refs]


def stands_in(text: str, records: Sequence[bytes]) -> bool:
    """As JSON, in either spelling of what is not ASCII, or as it is in a file of its own."""
    spellings = (msgspec.json.encode(text)[1:-1], json.dumps(text)[1:-1].encode(), text.encode())
    return any(spelling in record for spelling in spellings for record in records)


def memories(home: Path) -> Iterator[Memory]:
    for source in SOURCES:
        memory = Memory(registry.reader(source))
        memory.import_home(home)
        if memory.strands:
            yield memory


def saved_files() -> Iterator[Memory]:
    for source in ("amazon-q", "kiro"):
        memory = Memory(registry.reader(source))
        for origin in memory.reader.recognise(FIXTURES / "amazon-q" / "exports"):
            memory.take(origin)
        yield memory


def told_by(memory: Memory, longer_than: int) -> Kept:
    kept = Kept()
    for reading in memory.readings().values():
        kept.check(reading, list(memory.strands.values()), longer_than)
    return kept


def home_of(name: str, home: Path) -> Path:
    if name == "demo":
        make_demo_home(home)
        return home
    return lay_out(name, home)


# --- every fixture ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "longer_than"), [*((n, 200) for n in NAMES), *((n, 20) for n in (*NAMES, "demo"))]
)
def test_what_a_message_says_stands_in_its_records(
    name: str, longer_than: int, tmp_path: Path
) -> None:
    for memory in memories(home_of(name, tmp_path / "home")):
        kept = told_by(memory, longer_than)
        # Long texts, not every store has.
        assert kept.looked or longer_than > 20, memory.reader.name
        assert kept.share >= 0.9, f"{memory.reader.name}: {kept.missing} of {kept.looked}"


def test_what_a_saved_file_says_stands_in_the_file() -> None:
    for memory in saved_files():
        kept = told_by(memory, 20)
        assert kept.looked and not kept.missing.total()


@pytest.mark.parametrize("name", NAMES)
def test_what_a_rewritten_source_lost_is_still_referred_to(name: str, tmp_path: Path) -> None:
    home = lay_out(name, tmp_path / "home")
    for memory in memories(home):
        before = _referred(memory)
        for path in files(home):
            if path.suffix == ".jsonl":
                lines = path.read_bytes().splitlines(keepends=True)
                path.write_bytes(b"".join(lines[1::2]))
        memory.import_home(home)
        after = _referred(memory)
        for conversation, refs in before.items():
            assert refs <= after[conversation]
        assert told_by(memory, 20).share >= 0.9


def _referred(memory: Memory) -> dict[str, set[Ref]]:
    """Every record that became part of a message, by conversation."""
    return {
        id: {ref for refs in reading.records().values() for ref in refs}
        for id, reading in memory.readings().items()
    }


def test_asking_for_messages_fetches_no_record_twice(tmp_path: Path) -> None:
    home = lay_out("claude-code-1.0.51", tmp_path / "home")
    make_demo_home(tmp_path / "demo")
    for memory in [*memories(home), *memories(tmp_path / "demo")]:
        readings = memory.readings().values()
        for strand in memory.strands.values():
            strand.fetch = _refuse
        for reading in readings:
            assert reading.messages() and reading.records()


def _refuse(lane: str, ordinals: Sequence[int]) -> list[bytes]:
    raise AssertionError("it was read already")


# --- Claude Code --------------------------------------------------------------------------------


def claude(home: Path, data: bytes) -> tuple[Reading, list[Strand]]:
    lay(home, data)
    memory = Memory(CLAUDE_CODE)
    memory.import_home(home)
    return memory.readings()[f"claude-code/{SESSION}"], list(memory.strands.values())


def lines_of(reading: Reading) -> list[list[int]]:
    """The numbers of the lines each message stands in, in the order of the messages."""
    records = reading.records()
    return [[ref.record for ref in records[message.id]] for message in reading.messages()]


def test_an_answer_in_several_lines_has_as_many_records(home: Path) -> None:
    transcript = Transcript()
    transcript.user("do it")
    transcript.answer("one", id="m1")
    transcript.answer("two", id="m1")
    reading, _ = claude(home, transcript.bytes())
    assert lines_of(reading) == [[0], [1, 2]]


def test_objects_glued_onto_one_line_have_one_record(home: Path) -> None:
    transcript = Transcript()
    transcript.user("one", uuid="u-one")
    transcript.user("two", uuid="u-two")
    glued = transcript.bytes().replace(b"\n", b"") + b"\n"
    transcript = Transcript()
    transcript.user("before")
    reading, _ = claude(home, transcript.bytes() + glued)
    assert lines_of(reading) == [[0], [1], [1]]


def test_a_last_line_without_its_newline_has_no_record_yet(home: Path) -> None:
    transcript = Transcript()
    transcript.user("before")
    transcript.answer("after")
    reading, _ = claude(home, transcript.bytes()[:-1])
    assert lines_of(reading) == [[0], []]


def test_a_spilled_output_stands_in_its_file_and_begins_in_the_line(tmp_path: Path) -> None:
    memory = Memory(CLAUDE_CODE)
    memory.import_home(FIXTURES / "claude-code" / "2.1.197")
    strands = list(memory.strands.values())
    roles = {strand.id: strand.role for strand in strands}
    (reading,) = (r for i, r in memory.readings().items() if i.startswith("claude-code/317cdda1"))
    spilled = next(m for m in reading.messages() if "19999\n20000\n" in "".join(texts(m)))
    refs = reading.records()[spilled.id]
    assert [roles[ref.strand] for ref in refs] == ["main", "tool-output"]
    assert fetch(strands, refs)[1].decode() == texts(spilled)[0]


def test_a_message_in_two_folders_is_found_in_one_of_them(home: Path) -> None:
    transcript = Transcript()
    transcript.user("before the move")
    lay(home, transcript.bytes(), folder="-elsewhere")
    transcript.user("after the move")
    reading, strands = claude(home, transcript.bytes())
    for message in reading.messages():
        assert stands_in(texts(message)[0], fetch(strands, reading.records()[message.id]))


def test_prompts_of_a_lost_session_stand_in_the_history(home: Path) -> None:
    path = home / ".claude" / "history.jsonl"
    path.parent.mkdir()
    typed = [{"display": f"{n} {LONG}", "sessionId": f"s{n % 2}", "timestamp": n} for n in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in typed))
    memory = Memory(CLAUDE_CODE)
    memory.import_home(home)
    found = memory.readings().values()
    assert [[ref.record for refs in one.records().values() for ref in refs] for one in found] == [
        [0, 2],
        [1, 3],
    ]


# --- Amazon Q and Kiro --------------------------------------------------------------------------


@pytest.fixture
def q(tmp_path: Path) -> Client:
    return Client(tmp_path)


def assert_kept(client: Client, reading: Reading, text: str, lane: str) -> None:
    """The message that says it was made of a record of that lane, and it stands there."""
    refs = reading.records()[message_saying(reading, text).id]
    assert [ref.lane for ref in refs] == [lane]
    assert stands_in(text, fetch(list(client.memory.strands.values()), refs))


ONE = said("m1", f"one {LONG}", f"first {LONG}")
TWO = called("m2", f"two {LONG}", f"second {LONG}", "c1")
THREE = returned("m3", "c1", f"output {LONG}", f"third {LONG}")


def test_every_side_of_an_entry_stands_in_it(q: Client) -> None:
    reading = q.save_and_look(talk("one", ONE, TWO, THREE))
    for start in ("one", "first", "two", "second", "output", "third"):
        assert_kept(q, reading, f"{start} {LONG}", "history")


def test_what_was_trimmed_away_still_stands_in_its_record(q: Client) -> None:
    q.save_and_look(talk("one", ONE, TWO, THREE))
    reading = q.save_and_look(talk("one", THREE, latest_summary=[f"summary {LONG}", None]))
    assert_kept(q, reading, f"first {LONG}", "history")
    assert_kept(q, reading, f"summary {LONG}", "summary")


def test_a_rewritten_entry_has_a_record_for_each_version(q: Client) -> None:
    q.save_and_look(talk("one", ONE))
    reading = q.save_and_look(talk("one", said("m1", f"one {LONG}", f"again {LONG}")))
    for start in ("first", "again"):
        assert_kept(q, reading, f"{start} {LONG}", "history")


def test_what_only_the_transcript_holds_stands_there(q: Client) -> None:
    lost = said("m0", f"lost {LONG}", f"answer {LONG}")
    reading = q.save_and_look(talk("one", ONE, transcript=shown(lost, ONE)))
    assert_kept(q, reading, f"lost {LONG}", "transcript")
    assert_kept(q, reading, f"answer {LONG}", "transcript")


def test_a_row_that_could_not_be_cut_is_one_record(q: Client) -> None:
    no_number = {**said("m0", LONG, "answer"), "took": float("nan")}
    reading = q.save_and_look(talk("one", no_number, ONE))
    assert_kept(q, reading, f"one {LONG}", "whole")
    reading = q.save_and_look(talk("one", ONE, TWO))
    assert_kept(q, reading, f"two {LONG}", "history")
    assert_kept(q, reading, f"one {LONG}", "history")


def _log(*entries: tuple[str, dict[str, Any]]) -> str:
    return "".join(json.dumps({"kind": kind, "data": data}) + "\n" for kind, data in entries)


def _message(name: str, text: str) -> dict[str, Any]:
    return {"message_id": name, "content": [{"kind": "text", "data": text}]}


LOG = _log(
    ("Prompt", _message("p1", f"one {LONG}")),
    ("AssistantMessage", _message("a1", f"first {LONG}")),
    ("Compaction", {"summary": f"summary {LONG}", "messages_snapshot": [_message("k", LONG)]}),
)


def test_lines_of_a_log_and_typed_lines_are_records(home: Path) -> None:
    folder = home / ".kiro" / "sessions" / "cli"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text(LOG)
    (folder / "s1.history").write_text(f"typed {LONG}\n")
    memory = Memory(KIRO)
    memory.import_home(home)
    (reading,) = memory.readings().values()
    roles = {strand.id: strand.role for strand in memory.strands.values()}
    found = [
        (_first_words(message), roles[ref.strand], ref.record)
        for message in reading.messages()
        for ref in reading.records()[message.id]
    ]
    assert sorted(found) == [
        ("first", "log", 1),
        ("one", "log", 0),
        ("summary", "log", 2),
        ("typed", "typed", 0),
        ("word", "log", 2),
    ]


def _first_words(message: Message) -> str:
    part = message.parts[0]
    assert isinstance(part, Text | ToolResult)
    return texts(message)[0].partition(" ")[0]


def test_lines_inside_a_zip_stand_in_no_record(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("session_metadata.json", json.dumps({"session_id": "s1"}))
        archive.writestr("conversation_log.jsonl", LOG)
    memory = Memory(KIRO)
    for origin in KIRO.recognise(path):
        memory.take(origin)
    (reading,) = memory.readings().values()
    assert reading.messages() and not any(reading.records().values())
