"""The Kiro reader: logs, the newer table, exports, the third engine, and one story from many stores."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.model.conversation import LinkToken, Reading
from rireki.model.message import Message, Usage
from rireki.model.parts import Attachment, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.sources.amazon_q.kiro import READER
from rireki.sources.amazon_q.log import Replay
from rireki.sources.amazon_q.reader import READER as AMAZON_Q
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.places import Places
from tests.support.memory import Memory
from tests.support.q_rows import Client, message_saying, said, shown, talk, texts, to_a_model, words

FIXTURES = Path(__file__).parents[1] / "fixtures" / "amazon-q"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text())
LOGS = [one for one in EXPECTED if not one["table"]]


@cache
def fixture_archive() -> Memory:
    memory = Memory(READER)
    memory.import_home(FIXTURES / "kiro-2.2")
    return memory


def live(reading: Reading) -> set[int]:
    """The log entries whose messages the agent still works with."""
    return {
        message.entry.position
        for message in reading.messages()
        if message.upstream == "present"
        and message.entry is not None
        and message.entry.role in ("user", "assistant")
    }


@pytest.mark.parametrize("expected", LOGS, ids=lambda one: str(one["note"]))
def test_the_counts_are_those_checked_by_hand(expected: dict[str, Any]) -> None:
    reading = fixture_archive().readings()[f"kiro/{expected['conversation_id']}"]
    assert reading.conversation.entries == expected["log_entries"]
    assert len(live(reading)) == expected["live_messages"]
    assert len(reading.conversation.troubles) == expected["bad_lines"]
    assert reading.conversation.project == expected["key"]
    assert reading.conversation.title == expected["note"]


class Sessions:
    """A home with Kiro's second engine in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / ".kiro" / "sessions" / "cli"
        self.folder.mkdir(parents=True)
        self.memory = Memory(READER)

    def log(self, *entries: Any, name: str = "s1", tail: str = "") -> None:
        lines = [one if isinstance(one, str) else json.dumps(one) for one in entries]
        text = "".join(f"{line}\n" for line in lines) + tail
        (self.folder / f"{name}.jsonl").write_text(text)

    def session(self, name: str = "s1", **fields: Any) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps({"session_id": name, **fields}))

    def look(self, name: str = "s1") -> Reading:
        self.memory.import_home(self.home)
        found = self.memory.readings().values()
        return next(one for one in found if one.conversation.native_id == name)


@pytest.fixture
def kiro(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path)


def entry(kind: str, data: Any = None) -> dict[str, Any]:
    return {"version": "v1", "kind": kind, **({} if data is None else {"data": data})}


def message(kind: str, name: str, *blocks: tuple[str, Any], **more: Any) -> dict[str, Any]:
    content = [{"kind": what, "data": data} for what, data in blocks]
    return entry(kind, {"message_id": name, "content": content, **more})


def asked(name: str, text: str, **meta: Any) -> dict[str, Any]:
    return message("Prompt", name, ("text", text), **({"meta": meta} if meta else {}))


def answered(name: str, text: str) -> dict[str, Any]:
    return message("AssistantMessage", name, ("text", text))


TALK = [
    asked("u1", "remember 41"),
    answered("a1", "Remembered."),
    asked("u2", "add one"),
    answered("a2", "42."),
]


def upstream(reading: Reading) -> dict[str, str]:
    return {text: message.upstream for message in reading.messages() for text in texts(message)}


def test_clearing_keeps_what_was_said_and_marks_it(kiro: Sessions) -> None:
    kiro.log(*TALK, entry("Clear"), asked("u3", "hello"), answered("a3", "Hi."))
    reading = kiro.look()
    assert upstream(reading) == {
        "remember 41": "gone",
        "Remembered.": "gone",
        "add one": "gone",
        "42.": "gone",
        "hello": "present",
        "Hi.": "present",
    }
    assert [m.label for m in reading.messages() if m.display == "divider"] == [
        "conversation cleared"
    ]
    assert reading.conversation.upstream == "changed"
    assert reading.conversation.turns == 3


@pytest.mark.parametrize(
    ("kind", "data", "label"),
    [
        ("Clear", None, "conversation cleared"),
        ("ResetTo", {"target_index": 0}, "went back to an earlier point"),
        ("Compaction", {"summary": "numbers"}, "context compacted"),
    ],
)
def test_a_prompt_without_an_answer_stands_before_what_took_it_out(
    kiro: Sessions, kind: str, data: Any, label: str
) -> None:
    kiro.log(*TALK, asked("u3", "wait"), entry(kind, data), asked("u4", "hello"), entry("Future"))
    told = [(m.label if m.display == "divider" else m.id) for m in kiro.look().messages()]
    assert told[4:7] == ["u3", label, "u4"]
    assert len(told) == 8


def test_going_back_replays_the_first_entries(kiro: Sessions) -> None:
    kiro.log(
        *TALK, entry("ResetTo", {"target_index": 2}), asked("u3", "add two"), answered("a3", "43.")
    )
    assert [text for text, state in upstream(kiro.look()).items() if state == "gone"] == [
        "add one",
        "42.",
    ]


def test_going_back_across_a_clear(kiro: Sessions) -> None:
    kiro.log(*TALK, entry("Clear"), asked("u3", "hello"), entry("ResetTo", {"target_index": 4}))
    assert [text for text, state in upstream(kiro.look()).items() if state == "gone"] == ["hello"]


def test_a_cancelled_prompt_is_still_what_the_person_typed(kiro: Sessions) -> None:
    kiro.log(*TALK, asked("u3", "never mind"), entry("CancelledPrompt"))
    reading = kiro.look()
    cancelled = message_saying(reading, "never mind")
    assert (cancelled.upstream, cancelled.label) == ("gone", "cancelled before it was answered")
    assert reading.conversation.finished
    assert reading.conversation.entries == 6


def test_cancelling_after_an_answer_takes_nothing_out(kiro: Sessions) -> None:
    kiro.log(*TALK, entry("CancelledPrompt"))
    assert set(upstream(kiro.look()).values()) == {"present"}


def test_compaction_keeps_what_it_threw_out(kiro: Sessions) -> None:
    kept = {"id": "a2", "role": "assistant", "content": [{"kind": "text", "data": "42."}]}
    new = {"id": "x", "role": "user", "content": [{"kind": "text", "data": "(context)"}]}
    kiro.log(*TALK, entry("Compaction", {"summary": "numbers", "messages_snapshot": [new, kept]}))
    reading = kiro.look()
    assert upstream(reading) == {
        "remember 41": "gone",
        "Remembered.": "gone",
        "add one": "gone",
        "42.": "present",
        "numbers": "present",
        "(context)": "present",
    }
    assert message_saying(reading, "numbers").display == "divider"
    assert message_saying(reading, "(context)").label == "kept by compaction"
    assert to_a_model(reading) == ["numbers", "42.", "(context)"]
    assert reading.conversation.turns == 2


def test_an_unknown_kind_is_kept_folded_and_steers_nothing(kiro: Sessions) -> None:
    kiro.log(*TALK, entry("FutureThing", {"x": 1}), entry("ResetTo", {"target_index": "?"}))
    reading = kiro.look()
    folded = [m for m in reading.messages() if m.display == "fold"]
    assert [type(m.parts[0]) for m in folded] == [Unknown, Unknown]
    assert reading.conversation.entries == 6
    assert reading.conversation.finished


def test_a_field_of_another_shape_costs_only_itself(kiro: Sessions) -> None:
    kiro.log(message("Prompt", "u1", ("text", "hello"), meta="of a later version"), TALK[1])
    reading = kiro.look()
    prompt = message_saying(reading, "hello")
    assert (prompt.author, prompt.parts[1:]) == ("person", [Unknown("meta", "of a later version")])
    assert reading.conversation.turns == 1


def test_bad_lines_cost_a_trouble_each_and_not_their_neighbours(kiro: Sessions) -> None:
    kiro.log(TALK[0], "{broken", TALK[1], "[1, 2]", "", tail='{"version":"v1","kind":"Pro')
    reading = kiro.look()
    path = kiro.folder / "s1.jsonl"
    assert [trouble.place for trouble in reading.conversation.troubles] == [
        f"{path}: line 2",
        f"{path}: line 6",
    ]
    assert words(reading) == ["remember 41", "Remembered."]
    assert [m.parts for m in reading.messages() if m.display == "fold"] == [
        [Unknown("line", [1, 2])]
    ]


def test_a_last_line_without_its_newline_is_read(kiro: Sessions) -> None:
    kiro.log(*TALK[:3], tail=json.dumps(TALK[3]))
    reading = kiro.look()
    assert words(reading)[-1] == "42."
    assert reading.conversation.troubles == []


def test_calls_results_thinking_and_pictures(kiro: Sessions) -> None:
    use = {"toolUseId": "t1", "name": "fs_read", "input": {"__tool_use_purpose": "see"}}
    picture = {"format": "png", "source": {"kind": "bytes", "data": [137, 80]}}
    result = {
        "toolUseId": "t1",
        "content": [
            {"kind": "json", "data": {"stdout": "ok", "stderr": ""}},
            {"kind": "image", "data": picture},
        ],
        "status": "success",
    }
    engine = {"t2": {"tool": None, "result": {"Success": {"items": [{"Text": "only here"}]}}}}
    kiro.log(
        asked("u1", "look", timestamp=1756862100, additionalContext="branch=main"),
        message(
            "AssistantMessage",
            "a1",
            ("thinking", {"text": "hm", "modelId": "opus"}),
            ("toolUse", use),
        ),
        message("ToolResults", "u2", ("toolResult", result), ("dance", 1), results=engine),
        answered("a2", "Seen."),
    )
    reading = kiro.look()
    hook, prompt, call, results, _ = reading.messages()
    assert (texts(hook), hook.label) == (["branch=main"], "hook context")
    assert prompt.at == "2025-09-03T01:15:00.000Z"
    assert call.parts == [Thinking("hm"), ToolCall("t1", "fs_read", {"__tool_use_purpose": "see"})]
    assert call.model == "opus"
    kinds = [type(part) for part in results.parts]
    assert kinds == [ToolResult, Attachment, ToolResult, Unknown]
    assert results.parts[0] == ToolResult("t1", "ok", "ok")
    assert results.parts[2] == ToolResult("t2", "ok", "only here")
    attachment = results.parts[1]
    assert isinstance(attachment, Attachment)
    assert reading.attachment(attachment.digest) == b"\x89P"


def test_a_tool_server_that_says_it_failed_did_fail(kiro: Sessions) -> None:
    output = {"content": [{"type": "text", "text": "no such table"}], "isError": True, "code": 7}
    result = {"toolUseId": "t1", "content": [{"kind": "json", "data": output}], "status": "success"}
    engine = {"t2": {"tool": None, "result": {"Success": {"items": [{"Json": output}]}}}}
    kiro.log(TALK[0], message("ToolResults", "u2", ("toolResult", result), results=engine))
    told = 'no such table\n{"code":7}'
    assert kiro.look().messages()[-1].parts == [
        ToolResult("t1", "error", told),
        ToolResult("t2", "error", told),
    ]


def test_results_after_the_wrong_answer_are_matched_by_id(kiro: Sessions) -> None:
    calls = [
        message("AssistantMessage", f"a{n}", ("toolUse", {"toolUseId": f"t{n}", "name": "x"}))
        for n in (1, 2)
    ]
    back = [
        ("toolResult", {"toolUseId": f"t{n}", "content": [], "status": "success"}) for n in (1, 2)
    ]
    kiro.log(TALK[0], *calls, message("ToolResults", "u9", *back))
    found = kiro.look().conversation
    assert (found.calls_without_result, found.results_without_call, found.finished) == (0, 0, False)


def test_text_typed_instead_of_allowing_a_call_is_a_turn(kiro: Sessions) -> None:
    back = {"toolUseId": "t1", "content": [], "status": "error"}
    kiro.log(
        asked("u1", "clean"),
        message("AssistantMessage", "a1", ("toolUse", {"toolUseId": "t1", "name": "x"})),
        message(
            "ToolResults",
            "u2",
            ("toolResult", back),
            ("text", "use make"),
            results={"t1": {"tool": None, "result": "Cancelled"}},
        ),
        answered("a2", "OK."),
    )
    reading = kiro.look()
    assert reading.conversation.turns == 2
    typed = message_saying(reading, "use make")
    assert (typed.author, typed.id) == ("person", "u2")
    (result,) = [p for m in reading.messages() for p in m.parts if isinstance(p, ToolResult)]
    assert result.status == "cancelled"


def test_a_message_that_came_again_with_other_content_has_two_versions(kiro: Sessions) -> None:
    kiro.log(*TALK, answered("a2", "forty-two"))
    reading = kiro.look()
    old, new = [m for m in reading.messages() if m.id.startswith("a2")]
    assert (old.id, old.upstream, old.replaced_by) == ("a2~1", "gone", "a2")
    assert (texts(new), new.upstream) == (["forty-two"], "present")


def test_the_session_file_gives_title_directory_times_and_tokens(kiro: Sessions) -> None:
    kiro.log(*TALK)
    turn = {
        "result": {"Ok": {"id": "a2"}},
        "end_timestamp": "2025-09-03T01:15:05Z",
        "input_token_count": 10,
        "output_token_count": 3,
    }
    idle = {**turn, "input_token_count": 0, "output_token_count": 0}
    kiro.session(
        cwd="/w",
        title="numbers",
        created_at="2025-09-03T01:15:00Z",
        updated_at="2025-09-03T01:15:09Z",
        session_state={
            "version": "v1",
            "conversation_metadata": {"user_turn_metadatas": [turn, idle]},
            "rts_model_state": {"model_info": {"model_id": "auto"}},
        },
    )
    reading = kiro.look()
    found = reading.conversation
    assert (found.title, found.project, found.models) == ("numbers", "/w", ["auto"])
    assert (found.started_at, found.updated_at) == (
        "2025-09-03T01:15:00.000Z",
        "2025-09-03T01:15:09.000Z",
    )
    assert found.usage == Usage(10, 3)
    assert [(one.key, one.model) for one in reading.answers] == [("a2", "auto")]
    assert message_saying(reading, "42.").at == "2025-09-03T01:15:05.000Z"


def test_a_session_state_of_an_unknown_version_stays_closed(kiro: Sessions) -> None:
    kiro.log(*TALK)
    kiro.session(title=None, session_state={"version": "v9", "rts_model_state": {"model_info": 3}})
    found = kiro.look().conversation
    assert (found.title, found.models) == ("remember 41", [])


def test_a_subagent_looks_for_the_session_that_started_it(kiro: Sessions) -> None:
    kiro.log(*TALK)
    kiro.session(parent_session_id="s0", session_created_reason="subagent")
    reading = kiro.look()
    assert reading.conversation.nature == "subagent"
    assert LinkToken("subagent", "want", "session:s0") in reading.link_tokens
    assert LinkToken("subagent", "offer", "session:s1") in reading.link_tokens


def test_the_prompts_of_a_subagent_were_written_by_the_agent_that_started_it(
    kiro: Sessions,
) -> None:
    kiro.log(*TALK)
    kiro.session(parent_session_id="s0", session_created_reason="subagent")
    reading = kiro.look()
    prompts = [message_saying(reading, text) for text in ("remember 41", "add one")]
    assert [(m.author, m.display, m.label, m.turn) for m in prompts] == [
        ("harness", "bubble", "task", None)
    ] * 2
    assert [m.entry.rule for m in prompts if m.entry] == ["task"] * 2
    found = reading.conversation
    assert (found.turns, found.title, found.finished) == (0, "remember 41", True)


def test_what_a_person_typed_into_a_subagent_is_theirs(kiro: Sessions) -> None:
    back = {"toolUseId": "t1", "content": [], "status": "error"}
    kiro.log(
        *TALK,
        message("AssistantMessage", "a3", ("toolUse", {"toolUseId": "t1", "name": "x"})),
        message("ToolResults", "u4", ("toolResult", back), ("text", "do not")),
        answered("a4", "OK."),
    )
    kiro.session(parent_session_id="s0", session_created_reason="subagent")
    (kiro.folder / "s1.history").write_text("/model opus\nadd one\n")
    reading = kiro.look()
    typed = {texts(m)[0] for m in reading.messages() if m.author == "person"}
    assert typed == {"/model opus", "add one", "do not"}
    assert reading.conversation.turns == 2


def test_a_session_without_a_parent_is_a_persons_whatever_reason_it_gives(kiro: Sessions) -> None:
    kiro.log(*TALK)
    kiro.session(parent_session_id=None, session_created_reason="subagent")
    reading = kiro.look()
    assert message_saying(reading, "add one").author == "person"
    assert (reading.conversation.nature, reading.conversation.turns) == ("conversation", 2)


def test_typed_lines_that_no_message_shows_are_there_too(kiro: Sessions) -> None:
    kiro.log(*TALK)
    (kiro.folder / "s1.history").write_text(
        "remember 41\n/model opus\nadd one\nline one\\nline two\n"
    )
    reading = kiro.look()
    assert words(reading) == [
        "remember 41",
        "Remembered.",
        "/model opus",
        "add one",
        "42.",
        "line one\nline two",
    ]
    assert reading.conversation.turns == 2


def test_only_typed_lines_left(kiro: Sessions) -> None:
    (kiro.folder / "s1.history").write_text("hello\n")
    reading = kiro.look()
    assert reading.conversation.nature == "prompts"
    assert words(reading) == ["hello"]


def test_a_deleted_log_is_gone_and_readable(kiro: Sessions) -> None:
    kiro.log(*TALK)
    kiro.look()
    for strand in kiro.memory.strands.values():
        strand.vanished_at = "2026-01-01T00:00:00.000Z"
    reading = next(iter(kiro.memory.readings().values()))
    assert reading.conversation.upstream == "gone"
    assert set(upstream(reading).values()) == {"gone"}


def test_a_rewritten_log_keeps_the_lines_it_lost(kiro: Sessions) -> None:
    kiro.log(*TALK)
    kiro.look()
    kiro.log(*TALK[:2], asked("u3", "hello"))
    reading = kiro.look()
    assert upstream(reading) == {
        "remember 41": "present",
        "Remembered.": "present",
        "add one": "gone",
        "42.": "gone",
        "hello": "present",
    }
    assert not reading.conversation.finished


def test_an_export_file_and_a_zip_are_read(tmp_path: Path) -> None:
    path = FIXTURES / "exports" / "kiro-session-export-v1.json"
    value = json.loads(path.read_text())
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("session_metadata.json", json.dumps(value["metadata"]))
        lines = [json.dumps(one) for one in value["log_entries"]]
        archive.writestr("conversation_log.jsonl", "\n".join(lines))
    for place in (path, packed):
        assert AMAZON_Q.recognise(place) == []
        memory = Memory(READER)
        (origin,) = READER.recognise(place)
        memory.take(origin)
        (reading,) = memory.readings().values()
        found = reading.conversation
        assert (found.native_id, found.entries, found.turns) == (
            value["metadata"]["session_id"],
            6,
            2,
        )
        assert found.upstream == "present"
        assert next(iter(memory.strands.values())).document() == place.read_bytes()


def test_an_export_beside_its_log_appears_once(kiro: Sessions) -> None:
    kiro.log(*TALK, entry("Clear"))
    export = kiro.home / "export.json"
    metadata = {"session_id": "s1", "cwd": "/w"}
    export.write_text(
        json.dumps({"format": "kiro-session-export-v1", "metadata": metadata, "log_entries": TALK})
    )
    kiro.look()
    for origin in READER.recognise(export):
        kiro.memory.take(origin)
    reading = kiro.look()
    assert words(reading) == ["remember 41", "Remembered.", "add one", "42."]
    assert set(upstream(reading).values()) == {"gone"}
    assert reading.conversation.entries == 5


def third_engine(home: Path, *payloads: dict[str, Any]) -> Path:
    """The folder of a session of Kiro's third engine that holds these messages."""
    folder = home / ".kiro" / "sessions" / "abc" / "sess_s3"
    folder.mkdir(parents=True)
    lines = [
        {"id": f"i{n}", "timestamp": f"2026-06-01T00:00:0{n}Z", "payload": payload}
        for n, payload in enumerate(payloads)
    ]
    (folder / "messages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return folder


def look_at_third(home: Path) -> Reading:
    memory = Memory(READER)
    memory.import_home(home)
    return memory.readings()["kiro/sess_s3"]


def test_the_third_engine_is_told_in_the_order_of_its_lines(tmp_path: Path) -> None:
    third_engine(
        tmp_path,
        {"type": "session_start"},
        {"type": "user", "content": "hello"},
        {"type": "turn_start"},
        {"type": "assistant", "operationType": "Say", "content": "Hi."},
        {"type": "turn_end", "stopReason": "end_turn"},
        {"type": "user", "content": "wait"},
        {"type": "turn_start"},
    )
    assert [m.id for m in look_at_third(tmp_path).messages()] == [f"i{n}" for n in range(7)]


SAY = {"type": "assistant", "operationType": "Say", "content": "Two."}
THINK = {"type": "assistant", "operationType": "Reasoning", "content": "hm"}


@pytest.mark.parametrize(
    ("last", "reason", "finished"),
    [
        (SAY, "end_turn", True),
        (SAY, None, True),
        (THINK, "end_turn", False),
        (SAY, "cancelled", False),
        (SAY, "Error", False),
        (SAY, "failed", False),
    ],
)
def test_a_turn_of_the_third_engine_is_finished_when_the_agent_had_its_say(
    tmp_path: Path, last: dict[str, Any], reason: str | None, finished: bool
) -> None:
    third_engine(
        tmp_path,
        {"type": "user", "content": "list files"},
        {"type": "assistant", "operationType": "Say", "content": "Looking."},
        last,
        {"type": "turn_end", "stopReason": reason},
        {"type": "usage_summary", "promptTurnSummaries": []},
    )
    assert look_at_third(tmp_path).conversation.finished is finished


def test_the_third_engine_leniently(tmp_path: Path) -> None:
    folder = third_engine(
        tmp_path,
        {"type": "session_start"},
        {"type": "user", "content": "list files", "images": [], "documents": []},
        {"type": "assistant", "operationType": "Reasoning", "content": "hm"},
        {"type": "tool_call", "toolName": "ls", "toolCallId": "t", "args": {}},
        {"type": "tool_result", "toolCallId": "t", "content": "a b", "success": True},
        {"type": "assistant", "operationType": "Say", "content": "Two."},
        {"type": "future", "x": 1},
        {"type": "turn_end", "stopReason": "end"},
    )
    with (folder / "messages.jsonl").open("a") as file:
        file.write("{\n")
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "one.bin").write_bytes(b"\x00")
    session = {"id": "sess_s3", "title": "third", "workspacePaths": ["/w"], "modelId": "opus"}
    (folder / "session.json").write_text(json.dumps(session))
    memory = Memory(READER)
    memory.import_home(tmp_path)
    reading = memory.readings()["kiro/sess_s3"]
    found = reading.conversation
    assert (found.title, found.project, found.models) == ("third", "/w", ["opus"])
    assert (found.turns, found.tool_calls, found.tool_results, found.finished) == (1, 1, 1, True)
    assert found.started_at == "2026-06-01T00:00:00.000Z"
    assert len(found.troubles) == 1
    assert [m.display for m in reading.messages()].count("hidden") == 2
    assert {strand.role for strand in memory.strands.values()} == {"v3-log", "v3-session", "side"}


class Stores(Client):
    """A machine with Amazon Q's database, Kiro's database and Kiro's session files."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.kiro_database = home / ".local/share/kiro-cli/data.sqlite3"
        self.kiro_database.parent.mkdir(parents=True)
        self.sessions = Sessions(home)
        self.run_kiro(
            "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT,"
            " created_at INTEGER, updated_at INTEGER, PRIMARY KEY (key, conversation_id))"
        )

    def run_kiro(self, statement: str, *values: object) -> None:
        connection = apsw.Connection(str(self.kiro_database))
        connection.execute(statement, values)
        connection.close()

    def save_in_kiro(
        self, value: dict[str, Any], directory: str = "/home/u/app", at: int = 1
    ) -> None:
        self.run_kiro(
            "INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?) ON CONFLICT (key, conversation_id)"
            " DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
            directory,
            value["conversation_id"],
            json.dumps(value),
            at,
            at,
        )

    def look(self) -> dict[str, Reading]:
        for reader in (AMAZON_Q, READER):
            for origin in reader.discover(Places.at(self.home)).origins:
                self.memory.take(origin)
        return {one.conversation.native_id: one for one in self.memory.readings().values()}


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path)


ONE = said("m1", "how do I undo?", "git reset")
TWO = said("m2", "and push?", "git push")


def test_the_same_conversation_in_both_databases_appears_once(stores: Stores) -> None:
    stores.save(talk("one", ONE))
    stores.save_in_kiro(talk("one", ONE, TWO), "/home/u/elsewhere")
    reading = stores.look()["one"]
    assert reading.conversation.id == "amazon-q/one"
    assert (reading.conversation.entries, reading.conversation.turns) == (2, 2)
    assert (reading.conversation.project, reading.conversation.trail) == (
        "/home/u/elsewhere",
        ["/home/u/app"],
    )
    stores.run("DELETE FROM conversations")
    assert stores.look()["one"].conversation.upstream == "present"


def test_a_row_updated_in_place_is_noticed(stores: Stores) -> None:
    stores.save_in_kiro(talk("one", said("m1", "aaaa", "b")), at=1)
    stores.look()
    stores.save_in_kiro(talk("one", said("m1", "cccc", "b")), at=2)
    reading = stores.look()["one"]
    assert words(reading) == ["aaaa", "cccc", "b"]
    assert reading.messages()[0].replaced_by == "m1-u"


def test_the_row_tells_the_common_part_and_the_log_what_follows(stores: Stores) -> None:
    stores.save_in_kiro(talk("one", ONE, TWO))
    stores.sessions.log(
        asked("x1", "how do I undo?"),
        answered("m1", "git reset"),
        asked("x2", "and push?"),
        answered("m2", "git push"),
        asked("x3", "thanks"),
        answered("m3", "Welcome."),
        name="one",
    )
    stores.sessions.session("one", exported_from_v1=True, cwd="/home/u/app", title="undo")
    reading = stores.look()["one"]
    assert words(reading) == [
        "how do I undo?",
        "git reset",
        "and push?",
        "git push",
        "thanks",
        "Welcome.",
    ]
    assert (reading.conversation.turns, reading.conversation.entries) == (3, 4)
    assert reading.conversation.finished

    stores.run_kiro("DELETE FROM conversations_v2")
    assert stores.look()["one"].conversation.upstream == "present"


def test_a_conversation_born_of_a_compaction_continues_the_one_before(stores: Stores) -> None:
    stores.save_in_kiro(talk("old", ONE, TWO))
    stores.save_in_kiro(talk("new", TWO, latest_summary=["summary", None]))
    found = stores.look()
    assert LinkToken("continuation", "share", "answer:m2") in found["new"].link_tokens
    assert LinkToken("fork", "share", "answer:m2") in found["old"].link_tokens


def test_a_compaction_that_kept_no_answer_is_known_by_how_the_transcript_begins(
    stores: Stores,
) -> None:
    stores.save_in_kiro(talk("old", ONE, TWO))
    three = said("m3", "thanks", "Welcome.")
    lines = [*shown(ONE, TWO), "> /compact", *shown(three)]
    stores.save_in_kiro(talk("new", three, latest_summary=["summary", None], transcript=lines))
    stores.save_in_kiro(talk("elsewhere", ONE), "/home/u/other")
    found = stores.look()
    (offer,), (want,), (other,) = (
        [tie for tie in found[name].link_tokens if tie.token.startswith("opening:")]
        for name in ("old", "new", "elsewhere")
    )
    assert (offer.kind, offer.role, want.role) == ("continuation", "offer", "want")
    assert offer.token == want.token != other.token


@pytest.mark.parametrize(
    ("created", "updated", "times"),
    [
        (1764000000123, 1764000060456, ("2025-11-24T16:00:00.123Z", "2025-11-24T16:01:00.456Z")),
        (1764000000000, 1764000000000, ("2026-01-01T00:00:02.000Z", "2026-01-01T00:00:02.000Z")),
        (1764000000000, 1764000060456, ("2025-11-24T16:01:00.456Z", "2025-11-24T16:01:00.456Z")),
    ],
    ids=["filed by Kiro", "stamped by the migration", "stamped, then saved"],
)
def test_a_row_without_times_has_those_of_its_file(
    stores: Stores, created: int, updated: int, times: tuple[str | None, str | None]
) -> None:
    stores.save_in_kiro(talk("one", ONE))
    stores.run_kiro("UPDATE conversations_v2 SET created_at = ?, updated_at = ?", created, updated)
    found = stores.look()["one"].conversation
    assert (found.started_at, found.updated_at) == times
    # The time of the migration is nobody's: what is left is when it was first seen.
    assert found.times_from == ("rireki" if created == updated else "source")


def test_what_amazon_q_lost_and_kiro_has_is_resumed_with_kiro(stores: Stores) -> None:
    stores.save(talk("one", ONE))
    stores.save_in_kiro(talk("one", ONE))
    stores.look()
    stores.save(talk("two", TWO))
    found = stores.look()["one"].conversation
    assert (found.id, found.held_by) == ("amazon-q/one", ["kiro"])
    assert AMAZON_Q.resume(found) == "cd /home/u/app && kiro-cli chat --resume-id one"


def test_a_row_that_breaks_leaves_what_it_held(stores: Stores) -> None:
    stores.save_in_kiro(talk("one", ONE))
    stores.look()
    stores.run_kiro("UPDATE conversations_v2 SET value = '{\"broken', updated_at = 2")
    reading = stores.look()["one"]
    assert (reading.conversation.upstream, words(reading)) == (
        "gone",
        ["how do I undo?", "git reset"],
    )
    stores.save_in_kiro(talk("one", ONE, TWO), at=3)
    assert stores.look()["one"].conversation.upstream == "present"


def test_an_answer_without_an_id_is_told_once_although_the_export_gave_it_one(
    stores: Stores,
) -> None:
    late = said("", "a long one", "Response timed out - message took too long to generate")
    late["assistant"]["Response"]["message_id"] = None
    stores.save_in_kiro(talk("one", ONE, late, TWO))
    stores.sessions.log(
        asked("x1", "how do I undo?"),
        answered("m1", "git reset"),
        asked("x2", "a long one"),
        answered("x3", "Response timed out - message took too long to generate"),
        asked("x4", "and push?"),
        answered("m2", "git push"),
        asked("x5", "thanks"),
        answered("m3", "Welcome."),
        name="one",
    )
    reading = stores.look()["one"]
    assert words(reading).count("a long one") == 1
    assert [m.author for m in reading.messages()].count("harness") == 1
    assert reading.conversation.turns == 4


def test_what_only_the_log_has_stands_where_it_stood(stores: Stores) -> None:
    stores.save_in_kiro(talk("one", ONE, TWO))
    stores.sessions.log(
        asked("x0", "first of all"),
        answered("y0", "Yes?"),
        asked("x1", "how do I undo?"),
        answered("m1", "git reset"),
        asked("x2", "really?"),
        answered("y2", "Really."),
        asked("x3", "and push?"),
        answered("m2", "git push"),
        name="one",
    )
    assert words(stores.look()["one"])[::2] == [
        "first of all",
        "how do I undo?",
        "really?",
        "and push?",
    ]


def test_what_the_log_alone_has_before_a_divider_is_no_copy(stores: Stores) -> None:
    stores.save_in_kiro(talk("one", ONE, TWO))
    stores.sessions.log(
        asked("x1", "how do I undo?"),
        answered("m1", "git reset"),
        asked("x2", "wait"),
        entry("Clear"),
        asked("x3", "and push?"),
        entry("Future"),
        answered("m2", "git push"),
        name="one",
    )
    told = [(m.display, *texts(m)) for m in stores.look()["one"].messages()]
    assert told[2:] == [
        ("bubble", "wait"),
        ("divider",),
        ("fold",),
        ("bubble", "and push?"),
        ("bubble", "git push"),
    ]


def test_the_folder_of_the_sessions_counts_as_looked_at_when_all_of_them_are_gone(
    kiro: Sessions,
) -> None:
    kiro.log(*TALK)
    (origin,) = READER.discover(Places.at(kiro.home)).origins
    Path(origin.place).unlink()
    assert origin.root in {looked.place for looked in READER.discover(Places.at(kiro.home)).looked}


def test_stale_rows_of_the_old_table_are_still_read(stores: Stores) -> None:
    stores.run_kiro("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
    stores.run_kiro("INSERT INTO conversations VALUES ('/w', ?)", json.dumps(talk("stale", ONE)))
    stores.run_kiro("INSERT INTO conversations VALUES ('/v', ?)", json.dumps(talk("both", ONE)))
    stores.save_in_kiro(talk("both", ONE, TWO), "/v")
    found = stores.look()
    assert found["stale"].conversation.id == "kiro/stale"
    assert found["both"].conversation.entries == 2


def test_what_only_the_copy_of_a_migration_still_has_is_gone(stores: Stores) -> None:
    stores.run_kiro("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
    stores.run_kiro("INSERT INTO conversations VALUES ('/v', ?)", json.dumps(talk("one", ONE, TWO)))
    stores.save_in_kiro(talk("one", TWO), "/v")
    reading = stores.look()["one"]
    assert words(reading, "gone") == ["how do I undo?", "git reset"]
    assert words(reading, "present") == ["and push?", "git push"]
    stores.run_kiro("DELETE FROM conversations_v2")
    assert stores.look()["one"].conversation.upstream == "gone"


@pytest.mark.parametrize("where", ["", ".kiro", ".kiro/sessions", ".kiro/sessions/cli"])
def test_a_folder_is_recognised(kiro: Sessions, where: str) -> None:
    kiro.log(*TALK)
    kiro.session()
    (kiro.folder / "s1.lock").write_text("{}")
    found = READER.recognise(kiro.home / where)
    assert sorted(Path(origin.place).suffix for origin in found) == [".json", ".jsonl"]
    assert {origin.root for origin in found} == {str(kiro.home / ".kiro")}


def test_one_session_file_brings_its_siblings(kiro: Sessions) -> None:
    kiro.log(*TALK)
    kiro.session()
    assert len(READER.recognise(kiro.folder / "s1.jsonl")) == 2


def test_the_home_can_be_elsewhere(kiro: Sessions, tmp_path: Path) -> None:
    kiro.log(*TALK)
    places = Places(tmp_path / "nobody", {"KIRO_HOME": str(kiro.home / ".kiro")})
    assert len(READER.discover(places).origins) == 1


def test_a_kiro_database_is_not_amazon_qs() -> None:
    path = FIXTURES / "kiro-1.23" / "kiro-cli" / "data.sqlite3"
    assert AMAZON_Q.recognise(path) == []
    assert [origin.source for origin in READER.recognise(path)] == ["kiro"]
    assert READER.recognise(FIXTURES / "q-1.19" / "data.sqlite3") == []


def test_a_save_file_with_kiros_fields_is_kiros(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(talk("one", ONE, user_turn_metadata={})))
    assert AMAZON_Q.recognise(path) == []
    assert [origin.source for origin in READER.recognise(path)] == ["kiro"]


kinds = st.sampled_from(
    [
        "Prompt",
        "AssistantMessage",
        "ToolResults",
        "Compaction",
        "ResetTo",
        "Clear",
        "CancelledPrompt",
    ]
)
fields = st.sampled_from(
    ["message_id", "content", "kind", "data", "results", "messages_snapshot", "target_index"]
)
values = st.recursive(
    st.none() | st.integers(-2, 9) | st.text(max_size=3) | st.sampled_from(["text", "toolUse"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(kinds, values) | values, max_size=8))
def test_no_log_makes_the_interpreter_fail(entries: list[Any]) -> None:
    replay = Replay(Pictures())
    for position, one in enumerate(entries, 1):
        replay.feed(entry(*one) if isinstance(one, tuple) else one, position)
    drafts = replay.finish(present=True)
    assert replay.entries == len(entries)
    assert all(draft.message.parts is not None for draft in drafts)


def test_every_message_has_an_id_of_its_own() -> None:
    for reading in fixture_archive().readings().values():
        ids = [one.id for one in reading.messages()]
        assert len(set(ids)) == len(ids)
        assert all(isinstance(one, Message) for one in reading.messages())


def test_text_of_an_answer_stays_in_its_blocks(kiro: Sessions) -> None:
    kiro.log(TALK[0], message("AssistantMessage", "a", ("text", "one"), ("text", "two")))
    assert kiro.look().messages()[-1].parts == [Text("one"), Text("two")]


def test_going_on_with_a_conversation(kiro: Sessions, tmp_path: Path) -> None:
    kiro.log(*TALK)
    kiro.session(cwd="/home/u/my app")
    found = kiro.look().conversation
    assert READER.resume(found) == "cd '/home/u/my app' && kiro-cli chat --resume-id s1"
    kiro.session(parent_session_id="s0", session_created_reason="subagent")
    assert READER.resume(kiro.look().conversation) is None
    row = Client(tmp_path / "q").save_and_look(talk("one", ONE)).conversation
    assert AMAZON_Q.resume(row) == "cd /home/u/app && q chat --resume"
