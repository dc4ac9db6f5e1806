"""The Amazon Q reader against the fixtures, and against values nobody has written yet."""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.model.conversation import Reading
from rireki.model.parts import Attachment, Thinking, ToolCall, ToolResult
from rireki.model.strand import Run, State, Strand, shorten
from rireki.sources.amazon_q.files import BROKEN
from rireki.sources.amazon_q.kiro import READER as KIRO
from rireki.sources.amazon_q.reader import READER
from rireki.sources.amazon_q.rows import split
from rireki.sources.kit.places import Places
from rireki.sources.reader import Content, Known, Roll, Update
from tests.support.memory import Memory
from tests.support.q_rows import Client, called, message_saying, returned, said, talk, texts

FIXTURES = Path(__file__).parents[1] / "fixtures" / "amazon-q"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())
ROWS = [one for one in EXPECTED if one["table"]]
STORES = sorted({one["store"] for one in ROWS})


@cache
def archive_of(store: str) -> Memory:
    memory = Memory(KIRO if "kiro" in store else READER)
    for origin in memory.reader.recognise(FIXTURES / store):
        memory.take(origin)
    return memory


def reading_of(store: str, conversation: str) -> Reading:
    found = archive_of(store).readings().values()
    return next(one for one in found if one.conversation.native_id == conversation)


@pytest.mark.parametrize("expected", ROWS, ids=lambda one: f"{one['store']}:{one['key']}")
def test_the_counts_are_those_checked_by_hand(expected: dict[str, Any]) -> None:
    found = reading_of(expected["store"], expected["conversation_id"]).conversation
    assert {
        "entries": found.entries,
        "turns": found.turns,
        "tool_calls": found.tool_calls,
        "tool_results": found.tool_results,
        "calls_without_result": found.calls_without_result,
        "orphan_results": found.results_without_call,
        "finished": found.finished,
    } == {
        **{name: expected[name] for name in COUNTED},
        "turns": expected["turns"] - expected["prompts_synthetic"],
    }
    assert found.troubles == []


COUNTED = (
    "entries",
    "tool_calls",
    "tool_results",
    "calls_without_result",
    "orphan_results",
    "finished",
)


@pytest.mark.parametrize("store", STORES)
def test_every_row_comes_back_as_the_same_value(store: str) -> None:
    memory = archive_of(store)
    connection = sqlite3.connect(FIXTURES / store)
    compared = 0
    for (_, key), strand in memory.strands.items():
        table, directory, *_, conversation = json.loads(key)
        sql, values = f"SELECT value FROM {table} WHERE key = ?", [directory]
        if table == "conversations_v2":
            sql, values = f"{sql} AND conversation_id = ?", [directory, conversation]
        (value,) = connection.execute(sql, values).fetchone()
        if value is not None:
            assert strand.document() == value.encode()
            compared += 1
    connection.close()
    assert compared >= 18


@pytest.mark.parametrize("store", ["q-1.12/data.sqlite3", "q-1.19/data.sqlite3"])
def test_broken_rows_are_reported_with_their_place_and_their_neighbours_are_there(
    store: str,
) -> None:
    (origin,) = READER.recognise(FIXTURES / store)
    updates = [item for item in READER.read(origin, Known()) if isinstance(item, Update)]
    broken = [update for update in updates if update.troubles]
    assert {update.role for update in broken} == {BROKEN}
    assert [update.conversation for update in broken] == [None] * 3
    places = [trouble.place for update in broken for trouble in update.troubles]
    assert places == [f"{origin.place}: conversations row {key}" for key in BROKEN_ROWS]
    assert all(trouble.hint for update in broken for trouble in update.troubles)
    assert len(updates) - len(broken) == sum(one["store"] == store for one in ROWS)


BROKEN_ROWS = ("/broken/json", "/null/value", "/json/null")

names = st.sampled_from(
    [
        "conversation_id",
        "history",
        "transcript",
        "latest_summary",
        "tangent_state",
        "checkpoint_manager",
        "checkpoints",
        "main_history",
        "history_snapshot",
        "tools",
    ]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
conversations = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=6,
)
light = settings(max_examples=60, deadline=None)


@light
@given(conversations, st.sampled_from([None, 1]), st.booleans())
def test_the_pieces_joined_are_the_value_whatever_it_is(
    value: Any, indent: Any, ascii: bool
) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    assert joined(split(data)) == data


@light
@given(st.binary(max_size=200))
def test_what_is_no_json_is_kept_as_it_is(data: bytes) -> None:
    assert joined(split(data)) == data


def test_keys_that_occur_twice_are_both_kept() -> None:
    data = b'{"history":[1,2],"x":1,"history":[3]}'
    assert joined(split(data)) == data


def joined(contents: list[Content]) -> bytes:
    return b"".join(
        content.separator.encode().join(piece.data for piece in content.pieces)
        for content in contents
    )


@light
@given(conversations)
def test_no_value_makes_the_interpreter_fail(value: Any) -> None:
    data = json.dumps({**value, "conversation_id": "c"}).encode()
    lanes: dict[str, list[bytes]] = {}
    runs = []
    for content in split(data):
        lane = lanes.setdefault(content.lane, [])
        start = len(lane)
        lane += [piece.data for piece in content.pieces]
        runs.append(Run(content.lane, shorten(range(start, len(lane))), content.separator))
    strand = Strand(
        id=1,
        source="amazon-q",
        role="row",
        place="p",
        states=[State(1, "2026-01-01T00:00:00.000Z", tuple(runs))],
        fetch=lambda lane, ordinals: [lanes[lane][n] for n in ordinals],
    )
    (reading,) = READER.interpret("c", [strand])
    ids = [message.id for message in reading.messages()]
    assert len(set(ids)) == len(ids)


def test_an_unchanged_database_gives_only_the_roll(tmp_path: Path) -> None:
    q = Client(tmp_path)
    q.save(talk("one", said("m1", "a", "b")))
    q.look()
    (origin,) = READER.discover(Places.at(tmp_path)).origins
    items = list(READER.read(origin, Known(q.memory.cursors[origin.place])))
    assert items == [Roll(['["conversations", "/home/u/app", "one"]'])]


def test_a_row_saved_again_unchanged_stores_nothing(tmp_path: Path) -> None:
    q = Client(tmp_path)
    value = talk("one", said("m1", "a", "b"))
    q.save_and_look(value)
    stored = q.stored
    q.save_and_look(value)
    assert q.stored == stored


def test_objects_in_another_order_store_nothing(tmp_path: Path) -> None:
    q = Client(tmp_path)
    tools = {f"server-{n}": [{"ToolSpecification": {"name": "x" * 50}}] for n in range(20)}
    value = talk("one", said("m1", "a", "b"), tools=tools)
    q.save_and_look(value)
    stored = q.stored
    q.save_and_look({**value, "tools": dict(reversed(tools.items()))})
    assert q.stored == stored


def test_hook_output_is_not_what_the_person_typed() -> None:
    reading = reading_of("q-1.19/data.sqlite3", "4c565709-e924-5abd-ae33-6a0bc631b087")
    hook = message_saying(reading, "hook output: branch=main")
    assert (hook.author, hook.display, hook.label) == ("harness", "chip", "hook context")
    assert reading.conversation.title == "Read pyproject.toml and tell me the version"


def test_a_picture_comes_with_its_bytes() -> None:
    reading = reading_of("q-1.19/data.sqlite3", "e9099863-2b5a-50a8-acd7-04632d2b5aef")
    (picture,) = [p for m in reading.messages() for p in m.parts if isinstance(p, Attachment)]
    data = reading.attachment(picture.digest)
    assert data is not None and data.startswith(b"\x89PNG")
    assert (picture.media_type, picture.digest) == ("image/png", sha256(data).hexdigest())
    assert reading.attachment("nothing") is None


def test_the_tool_is_shown_by_its_own_name() -> None:
    reading = reading_of("q-1.19/data.sqlite3", "a705eedf-07bc-5c88-86c4-375191b70a64")
    (call,) = [p for m in reading.messages() for p in m.parts if isinstance(p, ToolCall)]
    assert call.name == "jira___get"


def test_times_come_from_the_request_then_from_the_message() -> None:
    reading = reading_of("q-1.19/data.sqlite3", "06e48276-08fc-5834-a0ff-7f070727d824")
    times = [message.at for message in reading.messages()]
    assert times[:2] == ["2025-09-03T01:15:00.120Z", "2025-09-03T01:15:04.320Z"]
    assert message_saying(reading, "The user interrupted the tool execution.").at == (
        "2025-09-03T01:15:37.120Z"
    )
    assert reading.conversation.started_at == "2025-09-03T01:15:00.120Z"


def test_rows_without_any_time_have_that_of_when_they_were_first_seen() -> None:
    reading = reading_of("q-1.12/data.sqlite3", "60a4cd8b-72eb-57dc-a436-279ce480a8f0")
    found = reading.conversation
    assert found.started_at == found.updated_at
    assert found.started_at is not None and found.started_at.startswith("2026-01-01T00:00:00.9")
    assert (found.times_from, found.seen_once) == ("rireki", True)
    # When each thing was said, nobody knows.
    assert {message.at for message in reading.messages()} == {None}
    assert found.models == ["CLAUDE_3_7_SONNET_20250219_V1_0"]


def test_results_are_read_as_people_read_them() -> None:
    reading = reading_of("q-1.12/data.sqlite3", "c4e6d248-c4bf-5e5f-8bba-4dcd8af63398")
    results = [p for m in reading.messages() for p in m.parts if isinstance(p, ToolResult)]
    assert [(one.status, one.output) for one in results] == [
        ("ok", "src\ntests\n"),
        ("ok", "1 failed, 11 passed\n[exit status: 1]"),
        ("ok", "no issues"),
        ("error", "An error occurred processing the tool: \nno occurrence of old_str"),
        ("ok", ""),
        ("ok", "12 passed"),
    ]


def test_a_denial_by_key_is_a_turn_and_cancels_the_calls(tmp_path: Path) -> None:
    q = Client(tmp_path)
    text = "I deny this tool request. Ask a follow up question clarifying the expected action"
    entry = said("m2", "", "What then?")
    cancelled = {"tool_use_id": "t", "content": [{"Text": "x"}], "status": "Error"}
    entry["user"]["content"] = {
        "CancelledToolUses": {"prompt": text, "tool_use_results": [cancelled]}
    }
    reading = q.save_and_look(talk("one", said("m1", "rm it", "Sure."), entry))
    denial = message_saying(reading, text)
    assert (denial.author, denial.display, denial.label) == ("person", "chip", "denied")
    assert reading.conversation.turns == 2
    (result,) = [p for m in reading.messages() for p in m.parts if isinstance(p, ToolResult)]
    assert result.status == "cancelled"


def test_thinking_is_a_part_of_its_own(tmp_path: Path) -> None:
    entry = said("m1", "why?", "Because.")
    entry["assistant"]["Response"]["thinking"] = {"text": "hm", "signature": "s"}
    reading = Client(tmp_path).save_and_look(talk("one", entry))
    assert reading.messages()[-1].parts[0] == Thinking("hm")


def test_a_save_file_is_read_like_a_row() -> None:
    memory = Memory(READER)
    (origin,) = READER.recognise(FIXTURES / "exports" / "q-save.json")
    memory.take(origin)
    (reading,) = memory.readings().values()
    assert reading.conversation.id == "amazon-q/b4b5a8b3-dc6f-535e-93ca-b65546308cb2"
    assert reading.conversation.project == "/home/u/dev/saved"
    assert (reading.conversation.tool_calls, reading.conversation.finished) == (1, True)
    (strand,) = memory.strands.values()
    assert strand.document() == (FIXTURES / "exports" / "q-save.json").read_bytes()


def test_a_saved_copy_is_not_the_live_store(tmp_path: Path) -> None:
    q = Client(tmp_path)
    value = talk("one", said("m1", "a", "b"), said("m2", "c", "d"))
    q.save_and_look(value)
    copy = tmp_path / "copy.json"
    copy.write_text(json.dumps(value, indent=2))
    for origin in READER.recognise(copy):
        q.memory.take(origin)
    reading = q.look()["one"]
    assert (reading.conversation.entries, len(reading.messages())) == (2, 4)
    q.run("DELETE FROM conversations")
    assert q.look()["one"].conversation.upstream == "gone"


def test_discovery_says_where_it_looked(tmp_path: Path) -> None:
    Client(tmp_path)
    found = READER.discover(Places.at(tmp_path))
    assert [Path(origin.place).name for origin in found.origins] == ["data.sqlite3"]
    assert [one.found for one in found.looked].count(True) == 1
    assert all(one.note for one in found.looked if not one.found)


def test_typed_lines_are_kept(tmp_path: Path) -> None:
    path = tmp_path / ".aws" / "amazonq" / ".cli_bash_history"
    path.parent.mkdir(parents=True)
    path.write_text("#V2\nhello\n")
    memory = Memory(READER)
    memory.import_home(tmp_path)
    (strand,) = memory.strands.values()
    assert strand.document() == b"#V2\nhello\n"


@pytest.mark.parametrize(
    ("table", "ours"),
    [
        ("conversations (key TEXT PRIMARY KEY, value TEXT)", True),
        ("conversations (id INTEGER, title TEXT)", False),
        ("threads (id TEXT, data TEXT)", False),
    ],
)
def test_a_database_is_recognised_by_its_tables(tmp_path: Path, table: str, ours: bool) -> None:
    path = tmp_path / "some.db"
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {table}")
    connection.close()
    assert bool(READER.recognise(path)) is ours


def test_a_folder_is_recognised_as_home_as_data_directory_and_as_a_shelf(tmp_path: Path) -> None:
    q = Client(tmp_path)
    for folder in (tmp_path, q.database.parent, q.database.parent.parent):
        assert [origin.place for origin in READER.recognise(folder)] == [str(q.database)]
    assert len(READER.recognise(FIXTURES)) == 2
    assert READER.recognise(tmp_path / "nothing") == []


def test_what_is_not_understood_is_kept_and_shown_folded(tmp_path: Path) -> None:
    strange = {"user": {"content": {"Dance": 1}}, "assistant": {"Sing": 2}, "request_metadata": 3}
    good = said("m1", "a", "b", images="none", timestamp=5)
    reading = Client(tmp_path).save_and_look(talk("one", good, history=[strange, 7, good]))
    folded = [message for message in reading.messages() if message.display == "fold"]
    assert len(folded) == 4
    assert "Dance" in str(folded) and "Sing" in str(folded)
    assert texts(reading.messages()[-2]) == ["a"]
    assert "images" in str(reading.messages()[-2].parts)


TEXT = {"type": "text", "text": "three rows"}


@pytest.mark.parametrize(
    ("output", "told", "status"),
    [
        ({"content": [TEXT, TEXT], "isError": False}, "three rows\nthree rows", "ok"),
        ({"content": [TEXT], "isError": True}, "three rows", "error"),
        (
            {"content": [TEXT], "structuredContent": {"rows": [1]}, "_meta": None, "total": 57},
            'three rows\n{"structuredContent":{"rows":[1]},"total":57}',
            "ok",
        ),
        ({"content": [{**TEXT, "uri": "a.md"}]}, 'three rows\n{"uri":"a.md"}', "ok"),
        (
            {"content": [{"type": "link", "text": "three rows"}]},
            'three rows\n{"type":"link"}',
            "ok",
        ),
        ({"content": [{"type": "audio"}]}, '{"type":"audio"}', "ok"),
        ({"content": ["a", "b"], "page": 2}, '{"content":["a","b"],"page":2}', "ok"),
        ({"exit_status": "exit status: 0", "stdout": "ok\n", "stderr": ""}, "ok", "ok"),
        (
            {"exit_status": "1", "stdout": "ok", "stderr": None, "truncated": True},
            'ok\n[1]\n{"truncated":true}',
            "ok",
        ),
        ({"stdout": ["a"], "stderr": ""}, '{"stdout":["a"],"stderr":""}', "ok"),
        ({"isError": True, "reason": "no"}, '{"isError":true,"reason":"no"}', "error"),
    ],
)
def test_json_output_is_told_whole(tmp_path: Path, output: Any, told: str, status: str) -> None:
    call = called("m1", "count", "", "t1", "db___count")
    reading = Client(tmp_path).save_and_look(talk("one", call, returned("m2", "t1", output, "57.")))
    (found,) = [p for m in reading.messages() for p in m.parts if isinstance(p, ToolResult)]
    assert (found.output, found.status) == (told, status)
