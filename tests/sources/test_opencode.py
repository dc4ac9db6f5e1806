"""opencode: JSON files, a database, both at once, and what its client does to them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message, Usage
from rireki.model.parts import Attachment, Notice, Text, ToolCall, ToolResult
from rireki.show.figures import answers_once, tokens_by_model
from rireki.sources.kit.places import Places
from rireki.sources.opencode import KILO, READER
from tests.support.homes import FIXTURES, lay_out

CHECKED = sorted((FIXTURES / "opencode").glob("*/hand-checked.json"))
SES, FORK = "ses_e16941068ffeYAfvaKbLkMt67v", "ses_e1691224effe8gcMPtBkIQvYCX"
#: Of 1.18: one with removed messages, and one that was left in the middle of /undo.
REMOVED, REVERTED = "ses_e1066390cffeETymIwYU8nm0zj", "ses_e1065eca2ffeIqi5qbNQfBHWd7"
SECRET = "sk-canary-77ab"
SCHEMA = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT,
  title TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
  time_updated INTEGER, data TEXT);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
  time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE session_input (id TEXT PRIMARY KEY, session_id TEXT, prompt TEXT, promoted_seq INTEGER);
CREATE TABLE account (id TEXT, access_token TEXT);
CREATE TABLE session_share (session_id TEXT, secret TEXT);
"""


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str, source: str = "opencode") -> list[Message]:
    return read_conversation(archive, archive.find(f"{source}/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [
        text_of(m)
        for m in said
        if m.author == "person" and m.display == "bubble" and m.upstream == "present"
    ]


def storage(home: Path) -> Path:
    return home / ".local" / "share" / "opencode"


@pytest.fixture
def store(home: Path) -> Iterator[sqlite3.Connection]:
    """A database of a running client: all that is in it is still in its log."""
    storage(home).mkdir(parents=True)
    with closing(sqlite3.connect(storage(home) / "opencode.db", isolation_level=None)) as made:
        made.executescript("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;")
        made.executescript(SCHEMA)
        add(made, "session", "ses_1", "p", None, "/src/app", "A title", None, 1000, 1000)
        yield made


def add(store: sqlite3.Connection, table: str, *values: Any) -> None:
    spelled = [json.dumps(value) if isinstance(value, dict) else value for value in values]
    marks = ", ".join("?" * len(values))
    store.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", spelled)


def say(store: sqlite3.Connection, number: int, role: str, *parts: Any, **more: Any) -> None:
    """A message of the session, with its parts; a text stands for a part with that text."""
    at = 1000 + number
    value = {"role": role, "time": {"created": at, "completed": at}} | more
    add(store, "message", f"msg_{number}", "ses_1", at, at, value)
    for place, part in enumerate(parts):
        told = {"type": "text", "text": part} if isinstance(part, str) else part
        add(store, "part", f"prt_{number}_{place}", f"msg_{number}", "ses_1", at, at, told)


def tool(status: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "callID": "c1", "tool": "bash", "state": {"status": status} | state}


# ── what real clients wrote ──


@pytest.mark.parametrize("checked", CHECKED, ids=lambda path: path.parent.name)
def test_every_session_says_what_was_typed_answered_and_called(
    checked: Path, archive: Archive, home: Path
) -> None:
    lay_out(f"opencode-{checked.parent.name}", home)
    found = take_in(archive, home)
    wanted = {one["native_id"]: one for one in json.loads(checked.read_text())["conversations"]}
    assert found.keys() == wanted.keys()
    for id, one in wanted.items():
        said = messages(archive, id)
        parts = [part for m in said for part in m.parts]
        assert prompts(said) == one["prompts"]
        agents = [
            part.text
            for m in said
            if m.author == "agent" and m.upstream == "present"
            for part in m.parts
            if isinstance(part, Text)
        ]
        assert agents == one["agent_messages"]
        calls = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
        assert calls == [(call["id"], call["name"]) for call in one["tool_calls"]]
        ended = [call for call in one["tool_calls"] if call["status"] in ("completed", "error")]
        results = [part.call_id for part in parts if isinstance(part, ToolResult)]
        assert results == [call["id"] for call in ended]
        dividers = [m for m in said if m.label == "context compacted"]
        assert len(dividers) == one.get("compactions", 0)
        asked = one.get("prompts_from_parent_agent", [])
        assert [text_of(m) for m in said if m.entry and m.entry.rule.startswith("task")] == asked
        assert (found[id].title, found[id].project) == (one["title"], one["project"])
        assert found[id].models == one["models"]
        used, tokens = found[id].usage or Usage(), one["token_totals"]
        assert used.input_tokens == tokens["input"]
        assert used.output_tokens == tokens["output"]
        assert used.cache_read_tokens == tokens["cache_read"]
        parents = {link.kind: link.id for link in found[id].links if link.side == "parent"}
        wants = {"fork": one.get("forked_from"), "subagent": one.get("sub_agent_of")}
        assert parents == {kind: f"opencode/{to}" for kind, to in wants.items() if to}


def test_a_fork_shows_what_it_took_over_folded_and_its_tokens_count_once(
    archive: Archive, home: Path
) -> None:
    lay_out("opencode-1.2.27", home)
    found = take_in(archive, home)
    fork = found[FORK]
    assert (fork.turns, fork.started_at) == (1, "2026-11-17T12:15:19.474Z")
    copied = [m for m in messages(archive, FORK) if m.label and "forked" in m.label]
    assert [m.display for m in copied] == ["fold"] * 5
    assert fork.usage is not None
    assert fork.usage.output_tokens == 28
    both = [pair for pair in archive.answers() if pair[0].endswith((SES, FORK))]
    assert tokens_by_model(answers_once(both))["gpt-lab"]["output_tokens"] == 28
    # Its own tool calls: it made none, and shows the one that was made before.
    assert (fork.tools, fork.tool_calls) == ({}, 1)


def test_answers_without_a_time_are_counted_each(archive: Archive, home: Path) -> None:
    lay_out("opencode-1.0.185-files", home)
    for file in (storage(home) / "storage" / "message").rglob("*.json"):
        message = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({**message, "time": {}}), "utf-8")
    used = take_in(archive, home)["ses_e1686bf65ffeTwnbAHjzt39Ogo"].usage
    assert used is not None
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens) == (842, 21, 12)


def test_a_session_in_both_stores_is_there_once(archive: Archive, home: Path) -> None:
    lay_out("opencode-1.0.185-files", home)
    before = {id: messages(archive, id) for id in take_in(archive, home)}
    with closing(sqlite3.connect(storage(home) / "opencode.db", isolation_level=None)) as database:
        database.executescript(SCHEMA)
        migrate(storage(home) / "storage", database)
    found = take_in(archive, home)
    assert found.keys() == before.keys()
    for id, said in before.items():
        now = messages(archive, id)
        assert [(m.id, m.parts, m.display) for m in now] == [
            (m.id, m.parts, m.display) for m in said
        ]
    shutil.rmtree(storage(home) / "storage")
    assert {c.upstream for c in take_in(archive, home).values()} == {"present"}


def migrate(files: Path, database: sqlite3.Connection) -> None:
    """What the first start of 1.2 does: rows with the same ids, and the files stay."""
    for path in files.glob("session/*/*.json"):
        value = json.loads(path.read_text())
        about = (value["projectID"], value.get("parentID"), value["directory"], value["title"])
        times = (value["time"]["created"], value["time"]["updated"])
        add(database, "session", value["id"], *about, None, *times)
    for path in files.glob("message/*/*.json"):
        value = json.loads(path.read_text())
        id, session = value.pop("id"), value.pop("sessionID")
        add(database, "message", id, session, *(value["time"]["created"],) * 2, value)
    for path in files.glob("part/*/*.json"):
        value = json.loads(path.read_text())
        ids = (value.pop("id"), value.pop("messageID"), value.pop("sessionID"))
        add(database, "part", *ids, 1, 1, value)


def test_messages_that_a_prompt_after_undo_removed_are_in_the_log(
    archive: Archive, home: Path
) -> None:
    lay_out("opencode-1.18.33", home)
    found = take_in(archive, home)
    said = messages(archive, REMOVED)
    gone = [(m.author, text_of(m), m.abandoned) for m in said if m.upstream == "gone"]
    assert ("person", "A wrong question", True) in gone
    assert ("agent", "Plain answer to A wrong question ", True) in gone
    assert found[REMOVED].upstream == "changed"


def test_what_was_undone_is_abandoned(archive: Archive, home: Path) -> None:
    lay_out("opencode-1.18.33", home)
    take_in(archive, home)
    said = [m for m in messages(archive, REVERTED) if m.display == "bubble"]
    assert [m.abandoned for m in said] == [False, False, True, True]
    assert messages(archive, REVERTED)[-1].label == "went back to an earlier point"


def test_a_command_typed_with_an_exclamation_mark_is_the_persons_act(
    archive: Archive, home: Path
) -> None:
    lay_out("opencode-1.18.33", home)
    take_in(archive, home)
    said = messages(archive, "ses_e1065d2a7ffeR5DHnCfm2XZgU5")
    (shell,) = [m for m in said if m.label == "! echo hi"]
    assert (shell.author, shell.display) == ("person", "chip")
    (stopped,) = [m for m in said if m.label == "interrupted"]
    assert stopped.parts == [Notice("The turn was interrupted.", "warning")]


def test_pictures_come_back(archive: Archive, home: Path) -> None:
    lay_out("opencode-1.18.33", home)
    take_in(archive, home)
    reading = read_conversation(archive, archive.find(f"opencode/{REMOVED}"))
    found = [part for m in reading.messages() for part in m.parts if isinstance(part, Attachment)]
    assert [one.name for one in found] == ["dot.png", "README.md"]
    assert (reading.attachment(found[0].digest) or b"").startswith(b"\x89PNG")


# ── what its client does ──


def test_what_is_only_in_the_log_of_the_database_is_read(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    say(store, 1, "user", "hello")
    say(store, 2, "assistant", "hi", finish="stop")
    assert (storage(home) / "opencode.db").stat().st_size <= 4096
    found = take_in(archive, home)["ses_1"]
    assert (found.turns, found.finished, found.title) == (1, True, "A title")
    say(store, 3, "user", "and now?")
    found = take_in(archive, home)["ses_1"]
    assert (found.turns, found.finished) == (2, False)


def test_a_deleted_session_stays_once(
    store: sqlite3.Connection, archive: Archive, home: Path, tmp_path: Path
) -> None:
    say(store, 1, "user", "hello")
    take_in(archive, home)
    for table in ("session", "message", "part"):
        store.execute(f"DELETE FROM {table}")
    found = take_in(archive, home)["ses_1"]
    assert (found.upstream, found.turns) == ("gone", 1)
    (back,) = restore(archive, archive.find("opencode/ses_1"), tmp_path / "back")
    rows = json.loads(back.read_bytes())
    assert rows["part"][0]["data"] == {"type": "text", "text": "hello"}


def test_events_of_what_is_no_session_are_no_conversation(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    say(store, 1, "user", "hello")
    store.execute(
        "CREATE TABLE event (id TEXT, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT)"
    )
    add(store, "event", "evt_1", "prj_1", 1, "project.updated.1", {"name": "app"})
    assert take_in(archive, home).keys() == {"ses_1"}


def test_rows_that_vanish_and_texts_that_change_are_kept(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    say(store, 1, "user", "hello")
    say(store, 2, "assistant", tool("running"), {"type": "text", "text": "The first words"})
    say(store, 3, "user", "to be undone")
    take_in(archive, home)
    store.execute("DELETE FROM part WHERE message_id = 'msg_3'")
    store.execute("DELETE FROM message WHERE id = 'msg_3'")
    say(store, 2, "assistant", tool("completed", output="x"), {"type": "text", "text": "Others"})
    store.execute("UPDATE part SET time_updated = 9999 WHERE message_id = 'msg_2'")
    say(store, 4, "user", "instead")
    found = take_in(archive, home)["ses_1"]
    assert (found.tool_calls, found.tool_results) == (1, 1)
    said = messages(archive, "ses_1")
    assert prompts(said) == ["hello", "instead"]
    (undone,) = [m for m in said if text_of(m) == "to be undone"]
    assert (undone.upstream, undone.abandoned) == ("gone", True)
    (earlier,) = [m for m in said if m.label == "earlier version"]
    assert (text_of(earlier), earlier.replaced_by) == ("The first words", "msg_2")


def test_who_typed_what_is_told_by_the_part(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    added = {"type": "text", "text": "Called the Read tool with …", "synthetic": True}
    unsent = {"type": "text", "text": "a note of a plugin", "ignored": True}
    reminder = "<system-reminder>\nplan mode\n</system-reminder>"
    say(store, 1, "user", "read @a", added, unsent, reminder, system="be brief")
    take_in(archive, home)
    said = messages(archive, "ses_1")
    assert prompts(said) == ["read @a"]
    assert [(m.label, m.display) for m in said if m.author == "harness"] == [
        ("system prompt", "hidden"),
        ("file", "fold"),
        ("not sent to the model", "fold"),
        ("reminder", "hidden"),
    ]


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (tool("completed", output="a", metadata={"exit": 0}), "ok"),
        (tool("completed", output="a", metadata={"exit": 2}), "error"),
        (tool("error", error="no such file"), "error"),
        (tool("error", error="The user rejected permission to use this …"), "cancelled"),
    ],
)
def test_how_a_tool_ended(
    state: dict[str, Any], status: str, store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    say(store, 1, "assistant", state)
    take_in(archive, home)
    parts = [part for m in messages(archive, "ses_1") for part in m.parts]
    assert [part.status for part in parts if isinstance(part, ToolResult)] == [status]


def test_a_name_that_the_client_made_up_is_no_title(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    store.execute("UPDATE session SET title = 'New session - 2026-11-18T16:58:00.864Z'")
    say(store, 1, "user", "What is here?")
    assert take_in(archive, home)["ses_1"].title == "What is here?"


def test_messages_of_the_newer_engine_are_read(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    call = {"type": "tool", "id": "t1", "name": "read"}
    ended = {"status": "completed", "input": {}, "content": [{"type": "text", "text": "lines"}]}
    content = [{"type": "text", "text": "I look."}, call | {"state": ended}]
    answer = {"model": {"id": "m1"}, "content": content, "time": {"created": 1002}}
    for seq, (kind, data) in enumerate(
        (
            ("agent-switched", {"agent": "build"}),
            ("user", {"text": "look", "time": {"created": 1001}}),
            ("assistant", answer),
            ("shell", {"command": "ls", "output": "a", "callID": "s1"}),
            ("compaction", {"summary": "we looked"}),
            ("hologram", {"text": "?"}),
        )
    ):
        add(store, "session_message", f"msg_{seq}", "ses_1", kind, seq, 1001, 1001, data)
    add(store, "session_input", "inp_1", "ses_1", {"text": "and then?"}, None)
    found = take_in(archive, home)["ses_1"]
    assert (found.turns, found.tool_calls, found.tool_results) == (1, 2, 2)
    said = messages(archive, "ses_1")
    assert prompts(said) == ["look"]
    labels = [m.label for m in said if m.label]
    assert labels == [
        "! ls",
        "context compacted",
        "added by the program",
        "message",
        "queued prompt",
    ]


# ── where it looks ──


def test_no_token_is_ever_in_the_archive(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    say(store, 1, "user", "hello")
    add(store, "account", "a", SECRET)
    add(store, "session_share", "ses_1", SECRET)
    (storage(home) / "auth.json").write_text(json.dumps({"lab": {"key": SECRET}}))
    (storage(home) / "storage" / "share").mkdir(parents=True)
    (storage(home) / "storage" / "share" / "ses_1.json").write_text(SECRET)
    take_in(archive, home)
    for group in archive.groups():
        for strand in archive.strands(group.family, group.conversation):
            assert SECRET.encode() not in strand.document()
    assert all("auth" not in one.place for one in READER.discover(Places.at(home)).origins)


def test_other_places_are_named_by_variables(tmp_path: Path) -> None:
    lay_out("opencode-1.2.27", tmp_path)
    share, named = tmp_path / ".local" / "share", tmp_path / "other.db"
    shutil.copy(share / "opencode" / "opencode.db", named)
    shutil.copy(named, share / "opencode" / "opencode-beta.db")
    settings = {"XDG_DATA_HOME": str(share), "OPENCODE_DB": str(named)}
    found = READER.discover(Places(tmp_path / "nobody", settings)).origins
    assert [Path(one.place).name for one in found] == [
        "opencode-beta.db",
        "opencode.db",
        "other.db",
    ]


def test_a_folder_or_a_file_may_be_named(tmp_path: Path) -> None:
    lay_out("opencode-1.0.185-files", tmp_path)
    root = tmp_path / ".local" / "share" / "opencode"
    assert len(READER.recognise(root)) == len(READER.recognise(tmp_path)) == 159
    file = next((root / "storage" / "session" / "global").iterdir())
    assert [one.place for one in READER.recognise(file)] == [str(file)]
    (tmp_path / "x.json").write_text("{}")
    assert READER.recognise(tmp_path / "x.json") == []


def test_kilo_keeps_the_same_database(archive: Archive, home: Path) -> None:
    lay_out("opencode-1.2.27", home)
    (home / ".local" / "share" / "kilo").mkdir()
    shutil.move(storage(home) / "opencode.db", home / ".local" / "share" / "kilo" / "kilo.db")
    found = take_in(archive, home)[SES]
    assert (found.id, found.turns) == (f"kilo/{SES}", 2)
    assert KILO.resume(found) == f"cd /home/dev/proj/demo-app && kilo --session {SES}"


def test_it_is_resumed_where_it_was_and_comes_back_by_its_own_import(
    store: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    say(store, 1, "user", "hello")
    found = take_in(archive, home)["ses_1"]
    assert READER.resume(found) == "cd /src/app && opencode --session ses_1"
    steps = (READER.revive(found) or "").split(" && ")
    assert steps[2:3] == ["opencode import DIR/import.json"]
