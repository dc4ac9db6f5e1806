"""Damaged and hostile transcripts: nothing crashes, nothing readable is lost, every cut tells the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki.model.conversation import Reading
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.sources.claude_code import READER
from tests.sources.transcripts import FIXTURES, SESSION, Transcript, lay, read, words
from tests.support.memory import Memory


def neighbours() -> tuple[Transcript, bytes]:
    """A prompt, and the answer that comes after whatever a test puts between them."""
    transcript = Transcript()
    transcript.user("before")
    after = Transcript()
    after.last, after.count = transcript.last, 1
    after.answer("after")
    return transcript, after.bytes()


def between(home: Path, damage: bytes) -> Reading:
    transcript, after = neighbours()
    lay(home, transcript.bytes() + damage + after)
    reading = read(home)[SESSION]
    told = [words(m) for m in reading.messages()]
    assert told[0] == "before" and told[-1] == "after"
    json.dumps(msgspec.to_builtins(reading.messages()))
    return reading


@pytest.mark.parametrize(
    "garbage",
    [
        b"not json at all\n",
        b'{"type": "user", "message": {"content": "cut o\n',
        b"[1, 2, 3]\n",
        b'"a string"\n',
        b"\xff\xfe\x00garbage\n",
        b"{" * 100_000 + b"\n",
        b'{"type":"user","uuid":"x","message":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    ],
    ids=["text", "cut", "list", "string", "bytes", "braces", "deep"],
)
def test_a_garbage_line_costs_one_trouble_and_not_its_neighbours(
    home: Path, garbage: bytes
) -> None:
    reading = between(home, garbage)
    (trouble,) = reading.conversation.troubles
    assert trouble.place.endswith("line 2")
    kept = reading.messages()[1]
    assert (kept.author, kept.display) == ("harness", "fold")
    assert kept.parts[0].what == "unreadable line"  # type: ignore[union-attr]


def test_a_block_of_nul_bytes_costs_one_trouble(home: Path) -> None:
    reading = between(home, b"\0" * 4096 + b"\n")
    assert len(reading.conversation.troubles) == 1


def test_nul_bytes_before_a_line_do_not_hide_it(home: Path) -> None:
    transcript = Transcript()
    transcript.user("found", uuid="found")
    reading = between(home, b"\0" * 512 + transcript.bytes())
    assert "found" in [words(m) for m in reading.messages()]
    assert len(reading.conversation.troubles) == 1


def test_objects_glued_onto_one_line_are_taken_apart(home: Path) -> None:
    transcript = Transcript()
    transcript.user("one", uuid="u-one")
    transcript.user('two {"type": 1}', uuid="u-two")
    reading = between(home, transcript.bytes().replace(b"\n", b"") + b"\n")
    assert [words(m) for m in reading.messages()][1:3] == ["one", 'two {"type": 1}']
    assert [m.entry.position for m in reading.messages() if m.entry] == [1, 2, 2, 3]


def test_a_cut_line_glued_to_the_next_costs_only_itself(home: Path) -> None:
    transcript = Transcript()
    transcript.user("whole", uuid="u-whole")
    cut = b'{"type":"assistant","message":{"content":[{"type":"text","te'
    reading = between(home, cut + transcript.bytes())
    assert "whole" in [words(m) for m in reading.messages()]
    assert len(reading.conversation.troubles) == 1


def test_half_a_character_is_replaced(home: Path) -> None:
    line = b'{"type":"user","uuid":"s","message":{"role":"user","content":"half \\ud83d"}}\n'
    reading = between(home, line)
    assert words(reading.messages()[1]) == "half \ufffd"
    assert reading.conversation.troubles == []


def test_bytes_that_are_no_text_are_replaced(home: Path) -> None:
    line = b'{"type":"user","uuid":"s","message":{"role":"user","content":"bad \xff byte"}}\n'
    assert words(between(home, line).messages()[1]) == "bad \ufffd byte"


def test_a_field_of_another_type_costs_only_itself(home: Path) -> None:
    line = {
        "type": "assistant",
        "uuid": "odd",
        "timestamp": 5,
        "cwd": ["x"],
        "message": {
            "id": 7,
            "content": [{"type": "text", "text": "still here", "id": {}}],
            "usage": {"output_tokens": "9"},
        },
    }
    reading = between(home, json.dumps(line).encode() + b"\n")
    assert words(reading.messages()[1]) == "still here"


def test_arguments_nested_too_deeply_cost_only_themselves(home: Path) -> None:
    transcript = Transcript()
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"x": "DEEP"}}
    transcript.answer("I will", call, uuid="calls")
    deep = b'{"y":' * 450 + b"1" + b"}" * 450
    reading = between(home, transcript.bytes().replace(b'"DEEP"', deep))
    text, found = reading.messages()[1].parts
    assert (text, found) == (Text("I will"), ToolCall("toolu_1", "Bash", None))


@pytest.mark.parametrize("depth", [300, 450])
def test_an_outcome_nested_however_deeply_does_not_hide_the_output(home: Path, depth: int) -> None:
    transcript = Transcript()
    transcript.call("toolu_1", uuid="call")
    transcript.result("toolu_1", "output", uuid="result", toolUseResult={"x": "DEEP"})
    deep = b"[" * depth + b"]" * depth
    reading = between(home, transcript.bytes().replace(b'"DEEP"', deep))
    assert words(reading.messages()[2]) == "output"


def test_what_the_fast_decoder_refuses_is_the_same_in_a_part_as_in_a_whole_line(
    home: Path,
) -> None:
    transcript = Transcript()
    transcript.call("toolu_1", uuid="call", input={"n": "BIG", "bad": "BAD"})
    transcript.result("toolu_1", "BAD output", uuid="result", toolUseResult={"interrupted": True})
    damaged = transcript.bytes().replace(b'"BIG"', b"1e999").replace(b"BAD", b"\xff")
    _, call, result, _ = between(home, damaged).messages()
    assert call.parts == [ToolCall("toolu_1", "Bash", {"n": float("inf"), "bad": "\ufffd"})]
    assert result.parts == [ToolResult("toolu_1", "cancelled", "\ufffd output")]


def test_a_damaged_block_costs_only_its_field(home: Path) -> None:
    transcript = Transcript()
    call = {"type": "tool_use", "id": "toolu_1", "name": 7, "input": {}}
    other = {"type": "tool_use", "id": "toolu_2", "name": "Bash"}
    transcript.answer("I will", 5, call, other, uuid="calls")
    transcript.result("toolu_2", uuid="result")
    reading = between(home, transcript.bytes())
    conversation = reading.conversation
    assert (conversation.tool_calls, conversation.tool_results) == (2, 1)
    assert words(reading.messages()[1]) == "I will"


def test_a_user_entry_without_a_message_is_kept_and_nobodys(home: Path) -> None:
    reading = between(home, b'{"type":"user","uuid":"odd","message":"bare words"}\n')
    strange = reading.messages()[1]
    assert (strange.author, strange.display) == ("harness", "fold")
    assert strange.parts[0].raw["message"] == "bare words"  # type: ignore[union-attr]


@pytest.mark.parametrize("count", ["-5", "9" * 40])
def test_impossible_counts_are_not_counted(home: Path, count: str) -> None:
    usage = f'"usage":{{"output_tokens":{count}}}'
    message = f'"message":{{"id":"m","content":"x",{usage}}}'
    line = f'{{"type":"assistant","uuid":"n",{message}}}\n'
    reading = between(home, line.encode())
    assert reading.answers[0].usage.output_tokens == 0


def test_a_type_from_the_future_is_kept_and_folded(home: Path) -> None:
    reading = between(home, b'{"type":"telepathy","sessionId":"x","thought":"hm"}\n')
    strange = reading.messages()[1]
    assert (strange.author, strange.display) == ("harness", "fold")
    assert strange.parts[0].raw["thought"] == "hm"  # type: ignore[union-attr]


def test_a_line_of_ten_megabytes_is_a_line(home: Path) -> None:
    transcript = Transcript()
    transcript.user("x" * 10_000_000, uuid="big")
    assert len(words(between(home, transcript.bytes()).messages()[1])) == 10_000_000


def test_an_unfinished_last_line_waits(home: Path) -> None:
    transcript, after = neighbours()
    path = lay(home, transcript.bytes() + after[:-20])
    memory = Memory(READER)
    memory.import_home(home)
    (reading,) = memory.readings().values()
    assert [t.message for t in reading.conversation.troubles] == ["unfinished line"]
    path.write_bytes(transcript.bytes() + after)
    memory.import_home(home)
    (reading,) = memory.readings().values()
    assert reading.conversation.troubles == []
    assert [words(m) for m in reading.messages()] == ["before", "after"]


def test_a_last_line_without_newline_counts(home: Path) -> None:
    transcript, after = neighbours()
    lay(home, transcript.bytes() + after[:-1])
    assert len(read(home)[SESSION].messages()) == 2


def test_empty_files_are_no_conversations(home: Path) -> None:
    lay(home, b"")
    assert read(home) == {}


TERMINAL = (
    FIXTURES
    / "2.1.197/.claude/projects/-home-dev-proj-demo-app/becdaf4e-5d54-4031-a161-6c017325d5ec.jsonl"
)
SIDECHAIN = (
    FIXTURES
    / "1.0.51/.claude/projects/-home-dev-proj-demo-app/4d2eee1d-26d3-4105-a7af-89b2f61905ae.jsonl"
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
@pytest.mark.parametrize("path", [TERMINAL, SIDECHAIN], ids=["terminal", "sidechain"])
def test_any_cut_into_pieces_tells_the_same(path: Path, data: st.DataObject) -> None:
    whole = path.read_bytes()
    # Different ones: whether a file that did not grow is the same is known by what is kept of it,
    # which a Memory does not tell.
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole) - 1), max_size=4)))
    with TemporaryDirectory() as folder:
        home = Path(folder)
        target = lay(home, b"", path.stem)
        memory = Memory(READER)
        for end in [*cuts, len(whole)]:
            with target.open("r+b") as file:
                file.seek(0, 2)
                file.write(whole[file.tell() : end])
            memory.import_home(home)
        assert _told(memory) == _told(_at_once(home))


def _at_once(home: Path) -> Memory:
    memory = Memory(READER)
    memory.import_home(home)
    return memory


def _told(memory: Memory) -> list[object]:
    return [
        msgspec.to_builtins((r.conversation, r.messages(), r.answers, r.link_tokens))
        for r in memory.readings().values()
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(noise=st.lists(st.binary(max_size=60), max_size=6))
def test_no_bytes_make_it_fail(noise: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        lay(home, b"\n".join(noise))
        (home / ".claude" / "history.jsonl").write_bytes(b"\n".join(noise))
        for reading in read(home).values():
            reading.messages()


FILES = [
    path
    for version in ("1.0.51", "2.0.76", "2.1.197", "2.1.325")
    for path in sorted((FIXTURES / version).glob(".claude/projects/*/*.jsonl"))
]
_odd: list[object] = [None, True, 0, -1, 3.5, "", "x", [], [1], {}, {"type": "text"}]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(FILES), random=st.randoms(use_true_random=False))
def test_no_field_of_another_type_makes_its_story_disagree(path: Path, random: Random) -> None:
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    for line in random.sample(lines, k=min(len(lines), 8)):
        holder, name = random.choice(list(_fields(line)))
        if random.random() < 0.3:
            del holder[name]
        else:
            holder[name] = random.choice(_odd)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        lay(home, b"".join(json.dumps(line).encode() + b"\n" for line in lines), path.stem)
        for reading in read(home).values():
            _agrees(reading)


def _fields(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    for name in value if isinstance(value, dict) else ():
        yield value, name
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from _fields(inner)


def _agrees(reading: Reading) -> None:
    messages, told = reading.messages(), reading.conversation
    # A line that stood there twice and now differs from its copy is an earlier version of it.
    latest = [message for message in messages if message.replaced_by is None]
    parts = [part for message in latest for part in message.parts]
    ids = {message.id for message in messages}
    assert len(ids) == len(messages)
    assert {m.parent for m in messages} <= ids | {None}
    assert told.messages == len([m for m in latest if m.display != "hidden"])
    assert told.tool_calls == len({p.call_id for p in parts if isinstance(p, ToolCall)})
    assert told.tool_results == len({p.call_id for p in parts if isinstance(p, ToolResult)})
    json.dumps(msgspec.to_builtins((told, messages)))


_scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_values = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "id", "tool_use_id", "source", "data", "input", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    kind=st.sampled_from(
        ["user", "assistant", "system", "attachment", "queue-operation", "summary"]
    ),
    message=_values,
    fields=st.dictionaries(
        st.sampled_from(
            [
                "content",
                "attachment",
                "toolUseResult",
                "origin",
                "isMeta",
                "error",
                "subtype",
                "operation",
                "timestamp",
            ]
        ),
        _values,
        max_size=5,
    ),
)
def test_no_shape_makes_it_fail(kind: str, message: object, fields: dict[str, object]) -> None:
    line = {"type": kind, "uuid": "u", "sessionId": "s", "message": {"content": message}, **fields}
    with TemporaryDirectory() as folder:
        home = Path(folder)
        transcript, after = neighbours()
        lay(home, transcript.bytes() + json.dumps(line).encode() + b"\n" + after)
        told = [words(m) for m in read(home)[SESSION].messages()]
        assert "before" in told and "after" in told
