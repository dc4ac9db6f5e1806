"""A record nobody knows yet, in every container of every source: kept, shown folded, and found."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.model.message import Message
from rireki.search.search import Search
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

WORD = "zyxwonder"
BODY = {"inside": [{"of": "it"}, {"words": f"a {WORD} nobody expected"}]}
AT = "2026-11-15T19:00:00.000Z"


def _append(path: Path, *values: Any) -> None:
    with path.open("ab") as file:
        for value in values:
            file.write(json.dumps(value).encode() + b"\n")


# ── Claude Code ──


def _claude(home: Path) -> Path:
    lay_out("claude-code-2.1.197", home)
    return max((home / ".claude" / "projects").glob("*/*.jsonl"), key=lambda p: p.stat().st_size)


def _claude_line(home: Path, value: dict[str, Any]) -> None:
    file = _claude(home)
    about = {"uuid": "inv-1", "parentUuid": None, "sessionId": file.stem, "timestamp": AT}
    _append(file, about | value)


def _codex_line(home: Path, value: dict[str, Any]) -> None:
    lay_out("codex-0.150.0", home)
    file = max((home / ".codex" / "sessions").rglob("*.jsonl"), key=lambda p: p.stat().st_size)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps({"timestamp": AT} | value) + "\n")


def codex_type(home: Path) -> None:
    _codex_line(home, {"type": "hologram", "payload": BODY})


def codex_event(home: Path) -> None:
    _codex_line(home, {"type": "event_msg", "payload": {"type": "hologram"} | BODY})


def codex_item(home: Path) -> None:
    _codex_line(home, {"type": "response_item", "payload": {"type": "hologram"} | BODY})


def codex_completed_item(home: Path) -> None:
    item = {"type": "hologram", "id": "h"} | BODY
    _codex_line(home, {"type": "event_msg", "payload": {"type": "item_completed", "item": item}})


def claude_type(home: Path) -> None:
    _claude_line(home, {"type": "hologram", "body": BODY})


def claude_system(home: Path) -> None:
    _claude_line(home, {"type": "system", "subtype": "hologram", "body": BODY})


def claude_attachment(home: Path) -> None:
    _claude_line(home, {"type": "attachment", "attachment": {"type": "hologram", "body": BODY}})


def claude_user_block(home: Path) -> None:
    message = {"role": "user", "content": [{"type": "hologram", "body": BODY}]}
    _claude_line(home, {"type": "user", "message": message})


def claude_answer_block(home: Path) -> None:
    message = {"role": "assistant", "id": "m1", "content": [{"type": "hologram", "body": BODY}]}
    _claude_line(home, {"type": "assistant", "message": message})


def claude_result_block(home: Path) -> None:
    block = {"type": "hologram", "body": BODY}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
    _claude_line(home, {"type": "user", "message": {"role": "user", "content": [result]}})


def claude_subagent(home: Path) -> None:
    file = _claude(home)
    agent = file.with_suffix("") / "subagents" / "agent-abc1234.jsonl"
    agent.parent.mkdir(parents=True, exist_ok=True)
    about = {"sessionId": file.stem, "agentId": "abc1234", "isSidechain": True, "timestamp": AT}
    said = {"type": "user", "uuid": "s1", "message": {"role": "user", "content": "look"}}
    _append(agent, about | said, about | {"type": "hologram", "uuid": "s2", "body": BODY})


# ── Amazon Q and Kiro ──


def _row(home: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lay_out("amazon-q-1.19", home)
    with sqlite3.connect(home / ".local" / "share" / "amazon-q" / "data.sqlite3") as database:
        found = database.execute("SELECT rowid, value FROM conversations").fetchall()
        rowid, value = max(found, key=lambda row: len(row[1] or ""))
        opened = json.loads(value)
        change(opened)
        database.execute(
            "UPDATE conversations SET value = ? WHERE rowid = ?", (json.dumps(opened), rowid)
        )


def q_entry(home: Path) -> None:
    _row(home, lambda value: value["history"].append({"hologram": BODY}))


def q_entry_that_is_no_object(home: Path) -> None:
    _row(home, lambda value: value["history"].append([BODY]))


def q_user(home: Path) -> None:
    entry = {
        "user": {"content": {"Hologram": BODY}},
        "assistant": {"Response": {"message_id": "i1", "content": "fine"}},
    }
    _row(home, lambda value: value["history"].append(entry))


def q_answer(home: Path) -> None:
    entry = {
        "user": {"content": {"Prompt": {"prompt": "and?"}}},
        "assistant": {"Hologram": BODY},
    }
    _row(home, lambda value: value["history"].append(entry))


def _kiro(home: Path, value: Any) -> None:
    lay_out("kiro", home)
    _append(sorted((home / ".kiro" / "sessions" / "cli").glob("*.jsonl"))[0], value)


def kiro_kind(home: Path) -> None:
    _kiro(home, {"version": "v1", "kind": "Hologram", "data": BODY})


def kiro_without_kind(home: Path) -> None:
    _kiro(home, {"version": "v1", "hologram": BODY})


def kiro_block(home: Path) -> None:
    block = {"kind": "hologram", "data": BODY}
    data = {"message_id": "i1", "content": [block]}
    _kiro(home, {"version": "v1", "kind": "AssistantMessage", "data": data})


def _kiro_3(home: Path, value: Any) -> None:
    folder = home / ".kiro" / "sessions" / "abc" / "sess_s3"
    folder.mkdir(parents=True)
    said = {"id": "1", "timestamp": AT, "payload": {"type": "user", "content": "hello"}}
    _append(folder / "messages.jsonl", said, value)


def kiro_3_payload(home: Path) -> None:
    _kiro_3(home, {"id": "2", "timestamp": AT, "payload": {"type": "hologram", "body": BODY}})


def kiro_3_without_payload(home: Path) -> None:
    _kiro_3(home, {"id": "2", "timestamp": AT, "hologram": BODY})


def kiro_3_payload_that_is_no_object(home: Path) -> None:
    _kiro_3(home, {"id": "2", "timestamp": AT, "payload": [BODY]})


def kiro_3_that_is_no_object(home: Path) -> None:
    _kiro_3(home, [BODY])


def kiro_3_block(home: Path) -> None:
    content = [{"type": "hologram", "body": BODY}]
    _kiro_3(
        home, {"id": "2", "timestamp": AT, "payload": {"type": "assistant", "content": content}}
    )


def kiro_export(home: Path) -> None:
    from tests.support.homes import FIXTURES

    saved = FIXTURES / "amazon-q" / "exports" / "kiro-session-export-v1.json"
    value = json.loads(saved.read_text())
    value["log_entries"].append({"version": "v1", "kind": "Hologram", "data": BODY})
    home.mkdir(exist_ok=True)
    (home / "export.json").write_text(json.dumps(value))


# ── ours ──


def history_kind(home: Path) -> None:
    lay_out("rireki", home)
    entry = {"v": 1, "id": "inv1", "parent": None, "seq": 99, "at": AT, "kind": "hologram", **BODY}
    _append(home / ".local" / "share" / "rireki" / "histories" / "weather.jsonl", entry)


def history_message(home: Path) -> None:
    lay_out("rireki", home)
    raw = {"role": "user", "content": [{"type": "hologram", "body": BODY}]}
    entry = {"v": 1, "id": "inv1", "parent": None, "seq": 99, "at": AT, "kind": "user", "raw": raw}
    _append(home / ".local" / "share" / "rireki" / "histories" / "weather.jsonl", entry)


def _bridge(home: Path, **entry: Any) -> None:
    lay_out("bridge", home)
    (file,) = (home / ".local" / "share" / "rireki" / "bridge").glob("5d1c*.jsonl")
    _append(file, {"v": 1, "n": 1794869200500000, "at": AT, **entry})


def bridge_kind(home: Path) -> None:
    _bridge(home, kind="hologram", body=BODY)


def bridge_text(home: Path) -> None:
    _bridge(home, kind="text", block="b-new", text=BODY)


def bridge_prompt(home: Path) -> None:
    _bridge(home, kind="prompt", id=7, text=BODY)


def bridge_result(home: Path) -> None:
    _bridge(home, kind="result", call="c-new", output=BODY)


# ── ChatKit ──


def chatkit_item(home: Path) -> None:
    folder = home / ".local" / "share" / "rireki" / "chatkit"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "app.sqlite3") as database:
        database.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, user_id, created_at, data)")
        database.execute(
            "CREATE TABLE items (id TEXT PRIMARY KEY, thread_id, user_id, created_at, data)"
        )
        thread = {"id": "thr_1", "created_at": AT, "metadata": {}}
        database.execute(
            "INSERT INTO threads VALUES ('thr_1', 'u', ?, ?)", (AT, json.dumps(thread))
        )
        item = {"id": "i1", "thread_id": "thr_1", "created_at": AT, "type": "hologram"} | BODY
        database.execute(
            "INSERT INTO items VALUES ('i1', 'thr_1', 'u', ?, ?)", (AT, json.dumps(item))
        )


CONTAINERS = [
    *(claude_type, claude_system, claude_attachment, claude_user_block, claude_answer_block),
    *(claude_result_block, claude_subagent),
    *(codex_type, codex_event, codex_item, codex_completed_item),
    *(q_entry, q_entry_that_is_no_object, q_user, q_answer),
    *(kiro_kind, kiro_without_kind, kiro_block),
    *(kiro_3_payload, kiro_3_without_payload, kiro_3_payload_that_is_no_object),
    *(kiro_3_that_is_no_object, kiro_3_block, kiro_export),
    *(history_kind, history_message),
    *(bridge_kind, bridge_text, bridge_prompt, bridge_result),
    chatkit_item,
]


@pytest.mark.parametrize("invent", CONTAINERS, ids=lambda invent: invent.__name__)
def test_an_invented_record_is_kept_shown_and_found(
    invent: Callable[[Path], None], archive: Archive, home: Path
) -> None:
    invent(home)
    paths = [home / "export.json"] if invent is kiro_export else []
    import_history(archive, places=Places.at(home), paths=paths)
    showing = [message for message in _messages(archive) if WORD in str(message.parts)]
    assert showing, "it is shown"
    assert all(message.display != "hidden" for message in showing)
    results = Search(archive).find(WORD)
    found = {hit.message for talk in results.talks for hit in talk.hits}
    assert found & {message.id for message in showing}, "and found"
    assert verify(archive) == []


def _messages(archive: Archive) -> list[Message]:
    every = archive.conversations(Filter(subagents=True))
    return [m for c in every for m in read_conversation(archive, archive.find(c.id)).messages()]
