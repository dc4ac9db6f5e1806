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
from tests.support.homes import FIXTURES, lay_out

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


def _q_ide(home: Path, change: Callable[[dict[str, Any]], None]) -> None:
    lay_out("amazon-q-ide-0.0.128", home)
    file = max((home / ".aws").rglob("chat-history-*.json"), key=lambda p: p.stat().st_size)
    database = json.loads(file.read_text("utf-8"))
    (tabs,) = [one["data"] for one in database["collections"] if one["name"] == "tabs"]
    change(tabs[0]["conversations"][0])
    file.write_text(json.dumps(database), encoding="utf-8")


def q_ide_message(home: Path) -> None:
    _q_ide(home, lambda talk: talk["messages"].append({"type": "hologram", "body": BODY}))


def q_ide_message_that_is_no_object(home: Path) -> None:
    _q_ide(home, lambda talk: talk["messages"].append([BODY]))


# ── Gemini CLI, Qwen Code ──


def _gemini_line(home: Path, value: dict[str, Any]) -> None:
    lay_out("gemini-cli-0.61.0-terminal", home)
    (file,) = (home / ".gemini").rglob("*.jsonl")
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(value) + "\n")


def gemini_line(home: Path) -> None:
    _gemini_line(home, {"$hologram": BODY})


def gemini_type(home: Path) -> None:
    _gemini_line(home, {"id": "inv-1", "timestamp": AT, "type": "hologram", "content": BODY})


def gemini_part(home: Path) -> None:
    content = [{"hologram": BODY}]
    _gemini_line(home, {"id": "inv-1", "timestamp": AT, "type": "gemini", "content": content})


def _qwen_line(home: Path, value: dict[str, Any]) -> None:
    lay_out("qwen-code-0.24.4", home)
    file = max((home / ".qwen").rglob("chats/*.jsonl"), key=lambda p: p.stat().st_size)
    about = {"uuid": "inv-1", "parentUuid": None, "sessionId": file.stem, "timestamp": AT}
    _append(file, about | value)


def qwen_type(home: Path) -> None:
    _qwen_line(home, {"type": "hologram", "body": BODY})


def qwen_system(home: Path) -> None:
    _qwen_line(home, {"type": "system", "subtype": "hologram", "systemPayload": BODY})


# ── Cline ──


def _appended(home: Path, name: str, file: str, value: Any) -> None:
    lay_out(name, home)
    path = max(home.rglob(file), key=lambda p: p.stat().st_size)
    told = json.loads(path.read_text("utf-8"))
    (told if isinstance(told, list) else told["messages"]).append(value)
    path.write_text(json.dumps(told), encoding="utf-8")


def cline_block(home: Path) -> None:
    block = {"type": "hologram", "body": BODY}
    value = {"id": "z", "role": "assistant", "content": [block], "ts": 1795024486340}
    _appended(home, "cline-3.0.65", "*.messages.json", value)


def cline_role(home: Path) -> None:
    value = {"id": "z", "role": "hologram", "content": [], "body": BODY}
    _appended(home, "cline-3.0.65", "*.messages.json", value)


def cline_record(home: Path) -> None:
    value = {"ts": 1795100099000, "type": "say", "say": "hologram", "body": BODY}
    _appended(home, "cline-composed", "ui_messages.json", value)


# ── Amp ──


def _amp(home: Path, message: dict[str, Any]) -> None:
    lay_out("amp-composed", home)
    (file,) = (home / ".local" / "share" / "amp" / "threads").iterdir()
    thread = json.loads(file.read_text("utf-8"))
    thread["messages"].append({"messageId": 99} | message)
    file.write_text(json.dumps(thread), encoding="utf-8")


def amp_block(home: Path) -> None:
    _amp(home, {"role": "assistant", "content": [{"type": "hologram"} | BODY]})


def amp_role(home: Path) -> None:
    _amp(home, {"role": "hologram", "content": [BODY]})


def amp_info(home: Path) -> None:
    _amp(home, {"role": "info", "content": [{"type": "hologram"} | BODY]})


# ── Goose ──


def _goose(home: Path, role: str, content: Any) -> None:
    lay_out("goose-composed", home)
    sessions = home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    with sqlite3.connect(sessions) as database:
        database.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
            " VALUES ('20251118_1', ?, ?, 1763429000)",
            (role, json.dumps(content)),
        )


def goose_block(home: Path) -> None:
    _goose(home, "assistant", [{"type": "hologram"} | BODY])


def goose_role(home: Path) -> None:
    _goose(home, "hologram", [BODY])


# ── Zed ──


def _zed(home: Path, message: Any) -> None:
    lay_out("zed-composed", home)
    with sqlite3.connect(home / ".local" / "share" / "zed" / "threads" / "threads.db") as database:
        database.execute(
            "UPDATE threads SET data_type = 'json', data = ?",
            (json.dumps({"messages": [message]}).encode(),),
        )


def zed_message(home: Path) -> None:
    _zed(home, {"Hologram": BODY})


def zed_block(home: Path) -> None:
    _zed(home, {"Agent": {"content": [{"Hologram": BODY}], "tool_results": {}}})


def zed_role(home: Path) -> None:
    _zed(home, {"role": "hologram", "segments": [BODY]})


# ── Crush ──


def _crush(home: Path, role: str, parts: Any) -> None:
    lay_out("crush-composed", home)
    with sqlite3.connect(home / ".crush" / "crush.db") as database:
        database.execute(
            "INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)"
            " SELECT 'zz', id, ?, ?, 1763429000, 1763429000 FROM sessions LIMIT 1",
            (role, json.dumps(parts)),
        )


def crush_part(home: Path) -> None:
    _crush(home, "assistant", [{"type": "hologram", "data": BODY}])


def crush_role(home: Path) -> None:
    _crush(home, "hologram", [BODY])


# ── opencode ──


def _opencode(home: Path, table: str, *values: Any) -> None:
    lay_out("opencode-1.18.33", home)
    session = "ses_e1065eca2ffeIqi5qbNQfBHWd7"
    with sqlite3.connect(home / ".local" / "share" / "opencode" / "opencode.db") as database:
        (message,) = database.execute(
            "SELECT max(id) FROM message WHERE session_id = ?", (session,)
        ).fetchone()
        about = {"SESSION": session, "MESSAGE": message}
        row = [json.dumps(v) if isinstance(v, dict) else about.get(v, v) for v in values]
        marks = ", ".join("?" * len(row))
        database.execute(f"INSERT INTO {table} VALUES ({marks})", row)


def opencode_part(home: Path) -> None:
    part = {"type": "hologram", "body": BODY}
    _opencode(home, "part", "prt_zz", "MESSAGE", "SESSION", 1, 1, part)


def opencode_role(home: Path) -> None:
    _opencode(home, "message", "msg_zz", "SESSION", 1, 1, {"role": "hologram", "body": BODY})


def opencode_event(home: Path) -> None:
    _opencode(home, "event", "evt_zz", "SESSION", 999, "hologram.1", {"body": BODY})


def opencode_newer_message(home: Path) -> None:
    row = ("msg_zz", "SESSION", "hologram", 1, 1, 1, {"body": BODY})
    _opencode(home, "session_message", *row)


def opencode_file(home: Path) -> None:
    lay_out("opencode-1.0.185-files", home)
    parts = home / ".local" / "share" / "opencode" / "storage" / "part"
    folder = sorted(parts.iterdir())[0]
    told = json.loads(next(folder.iterdir()).read_text()) | {"id": "prt_zz", "type": "hologram"}
    (folder / "prt_zz.json").write_text(json.dumps(told | {"body": BODY}))


# ── Claude Code ──
def cursor_bubble(home: Path) -> None:
    lay_out("cursor-composed-3.x", home)
    (path,) = home.rglob("globalStorage/state.vscdb")
    with sqlite3.connect(path) as database:
        id = "11111111-aaaa-4aaa-8aaa-000000000001"
        row = (f"bubbleId:{id}:h", json.dumps({"type": 9, "bubbleId": "h"} | BODY))
        database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", row)
    database.close()


def copilot_event(home: Path) -> None:
    lay_out("copilot-cli-1.0.24", home)
    file = sorted((home / ".copilot" / "session-state").glob("*/events.jsonl"))[0]
    _append(file, {"type": "hologram.shown", "data": BODY, "id": "h", "timestamp": AT})


def copilot_attachment(home: Path) -> None:
    lay_out("copilot-cli-1.0.24", home)
    file = sorted((home / ".copilot" / "session-state").glob("*/events.jsonl"))[0]
    data = {"content": "look", "attachments": [{"type": "hologram"} | BODY]}
    _append(file, {"type": "user.message", "data": data, "id": "h", "timestamp": AT})


def copilot_response(home: Path) -> None:
    lay_out("vscode-copilot-chat-composed-1.109", home)
    (file,) = home.rglob("chatSessions/*.jsonl")
    item = {"kind": "hologram"} | BODY
    _append(file, {"kind": 2, "k": ["requests", 0, "response"], "v": [item]})


def copilot_request(home: Path) -> None:
    lay_out("vscode-copilot-chat-composed-1.109", home)
    (file,) = home.rglob("chatSessions/*.jsonl")
    _append(file, {"kind": 2, "k": ["requests"], "v": [[BODY]]})


def _kiro_ide(home: Path, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    lay_out("kiro-ide-composed", home)
    (file,) = (home / ".config").rglob(name)
    value = json.loads(file.read_text("utf-8"))
    change(value)
    file.write_text(json.dumps(value), encoding="utf-8")


def kiro_ide_entry(home: Path) -> None:
    name = "7a11c0de-0009-4000-8000-000000000009.json"
    _kiro_ide(home, name, lambda value: value["history"].append({"hologram": BODY}))


def kiro_ide_step(home: Path) -> None:
    step = {"actionId": "h", "actionType": "hologram", "body": BODY}
    _kiro_ide(home, "45776cb1*", lambda value: value["actions"].append(step))


def kiro_ide_chat(home: Path) -> None:
    entry = {"role": "hologram", "content": BODY}
    _kiro_ide(home, "92eb5ffe*", lambda value: value["chat"].append(entry))


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


def aider_line(home: Path) -> None:
    lay_out("aider-0.86.2", home)
    with (home / "proj" / "demo-app" / ".aider.chat.history.md").open("ab") as file:
        file.write(f"<hologram>{json.dumps(BODY)}</hologram>\n".encode())


# ── Inside of what is known: a piece of a message, of a result ──


def codex_prompt_content(home: Path) -> None:
    content = [{"type": "text", "text": "look"}, {"type": "hologram"} | BODY]
    item = {"type": "UserMessage", "id": "h", "content": content}
    _codex_line(home, {"type": "event_msg", "payload": {"type": "item_completed", "item": item}})


def codex_answer_content(home: Path) -> None:
    item = {"type": "AgentMessage", "id": "h", "content": [{"type": "Hologram"} | BODY]}
    _codex_line(home, {"type": "event_msg", "payload": {"type": "item_completed", "item": item}})


def codex_message_content(home: Path) -> None:
    payload = {"type": "message", "role": "user", "content": [{"type": "hologram"} | BODY]}
    _codex_line(home, {"type": "response_item", "payload": payload})


def codex_output_content(home: Path) -> None:
    payload = {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "hologram"} | BODY],
    }
    _codex_line(home, {"type": "response_item", "payload": payload})


def gemini_result(home: Path) -> None:
    response = {"id": "c", "name": "look", "response": BODY}
    call = {"id": "c", "name": "look", "args": {}, "result": [{"functionResponse": response}]}
    _gemini_line(
        home, {"id": "m-h", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": [call]}
    )


def opencode_output(home: Path) -> None:
    state = {"status": "completed", "input": {}, "output": BODY}
    part = {"type": "tool", "callID": "c", "tool": "look", "state": state}
    _opencode(home, "part", "prt_zz", "MESSAGE", "SESSION", 1, 1, part)


def copilot_result(home: Path) -> None:
    lay_out("copilot-cli-1.0.24", home)
    file = sorted((home / ".copilot" / "session-state").glob("*/events.jsonl"))[0]
    data = {
        "toolCallId": "c",
        "success": True,
        "result": {"contents": [{"type": "hologram"} | BODY]},
    }
    _append(file, {"type": "tool.execution_complete", "data": data, "id": "h", "timestamp": AT})


def copilot_chat_result(home: Path) -> None:
    lay_out("vscode-copilot-chat-composed-1.109", home)
    (file,) = home.rglob("chatSessions/*.jsonl")
    round = {
        "id": "r",
        "response": "",
        "toolCalls": [{"id": "c", "name": "look", "arguments": "{}"}],
    }
    result = {"content": [{"$mid": 99} | BODY]}
    metadata = {"toolCallRounds": [round], "toolCallResults": {"c": result}}
    _append(file, {"kind": 1, "k": ["requests", 0, "result", "metadata"], "v": metadata})


def q_ide_result(home: Path) -> None:
    result = {"toolUseId": "c", "status": "success", "content": [{"hologram": BODY}]}
    context = {"toolResults": [result]}
    message = {"type": "prompt", "body": "", "userInputMessageContext": context}
    _q_ide(home, lambda talk: talk["messages"].append(message))


def cline_result(home: Path) -> None:
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "hologram"} | BODY]}
    _appended(
        home,
        "cline-3.0.65",
        "*.messages.json",
        {"id": "h", "role": "user", "content": [result], "ts": 1794917000000},
    )


def amp_result(home: Path) -> None:
    run = {"status": "done", "result": BODY}
    block = {"type": "tool_result", "toolUseID": "c", "run": run}
    _amp(home, {"role": "user", "messageId": 99, "content": [block]})


def goose_result(home: Path) -> None:
    value = {"content": [{"type": "hologram"} | BODY]}
    block = {"type": "toolResponse", "id": "c", "toolResult": {"status": "success", "value": value}}
    _goose(home, "user", [block])


def crush_result(home: Path) -> None:
    data = {"tool_call_id": "c", "name": "look", "content": BODY, "is_error": False}
    _crush(home, "tool", [{"type": "tool_result", "data": data}])


def kiro_3_result(home: Path) -> None:
    content = [{"type": "hologram"} | BODY]
    _kiro_3(
        home,
        {
            "id": "h",
            "timestamp": AT,
            "payload": {
                "type": "tool_result",
                "toolCallId": "c",
                "success": True,
                "content": content,
            },
        },
    )


def cursor_transcript_block(home: Path) -> None:
    lay_out("cursor-composed-transcripts", home)
    file = sorted((home / ".cursor").rglob("*.jsonl"))[0]
    _append(file, {"role": "assistant", "message": {"content": [{"type": "hologram"} | BODY]}})


def cursor_transcript_result(home: Path) -> None:
    lay_out("cursor-composed-transcripts", home)
    file = sorted((home / ".cursor").rglob("*.jsonl"))[0]
    block = {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "hologram"} | BODY]}
    _append(file, {"role": "user", "message": {"content": [block]}})


def llm_part(home: Path) -> None:
    lay_out("llm-0.36", home)
    (file,) = home.rglob("logs.db")
    with sqlite3.connect(file) as database:
        (hash, last) = database.execute("SELECT message_hash, max(id) FROM parts").fetchone()
        database.execute(
            "INSERT INTO parts (id, message_hash, position, type, payload)"
            " VALUES (?, ?, 9, 'hologram', ?)",
            (last + 1, hash, json.dumps(BODY)),
        )
    database.close()


def _exported(home: Path, name: str, change: Callable[[Any], None]) -> None:
    value = json.loads((FIXTURES / "exports" / name).read_text("utf-8"))
    change(value)
    home.mkdir(exist_ok=True)
    (home / "export.json").write_text(json.dumps(value), "utf-8")


def chatgpt_content(home: Path) -> None:
    def change(value: Any) -> None:
        mapping = value[0]["mapping"]
        message = mapping[value[0]["current_node"]]["message"]
        message["content"] = {"content_type": "hologram"} | BODY

    _exported(home, "chatgpt.json", change)


def chatgpt_part(home: Path) -> None:
    def change(value: Any) -> None:
        mapping = value[0]["mapping"]
        message = mapping[value[0]["current_node"]]["message"]
        parts = ["look", {"content_type": "hologram"} | BODY]
        message["content"] = {"content_type": "multimodal_text", "parts": parts}

    _exported(home, "chatgpt.json", change)


def claude_ai_block(home: Path) -> None:
    def change(value: Any) -> None:
        value[0]["chat_messages"][-1]["content"] = [{"type": "hologram"} | BODY]

    _exported(home, "claude-ai.json", change)


def claude_ai_result(home: Path) -> None:
    def change(value: Any) -> None:
        block = {"type": "tool_result", "name": "look", "content": [{"type": "hologram"} | BODY]}
        value[0]["chat_messages"][-1]["content"] = [block]

    _exported(home, "claude-ai.json", change)


def open_webui_content(home: Path) -> None:
    def change(value: Any) -> None:
        history = value[0]["chat"]["history"]
        history["messages"][history["currentId"]]["content"] = [{"type": "hologram"} | BODY]

    _exported(home, "open-webui.json", change)


INSIDE = [
    *(codex_prompt_content, codex_answer_content, codex_message_content, codex_output_content),
    *(gemini_result, opencode_output, copilot_result, copilot_chat_result, q_ide_result),
    *(cline_result, amp_result, goose_result, crush_result, kiro_3_result),
    *(cursor_transcript_block, cursor_transcript_result, llm_part),
    *(chatgpt_content, chatgpt_part, claude_ai_block, claude_ai_result, open_webui_content),
]

CONTAINERS = [
    aider_line,
    *(claude_type, claude_system, claude_attachment, claude_user_block, claude_answer_block),
    *(claude_result_block, claude_subagent),
    *(gemini_line, gemini_type, gemini_part, qwen_type, qwen_system),
    *(codex_type, codex_event, codex_item, codex_completed_item),
    *(q_ide_message, q_ide_message_that_is_no_object),
    *(kiro_ide_entry, kiro_ide_step, kiro_ide_chat),
    *(cline_block, cline_role, cline_record),
    *(opencode_part, opencode_role, opencode_event, opencode_newer_message, opencode_file),
    cursor_bubble,
    *(amp_block, amp_role, amp_info),
    *(goose_block, goose_role),
    *(zed_message, zed_block, zed_role),
    *(crush_part, crush_role),
    *(copilot_event, copilot_attachment, copilot_response, copilot_request),
    *(q_entry, q_entry_that_is_no_object, q_user, q_answer),
    *(kiro_kind, kiro_without_kind, kiro_block),
    *(kiro_3_payload, kiro_3_without_payload, kiro_3_payload_that_is_no_object),
    *(kiro_3_that_is_no_object, kiro_3_block, kiro_export),
    *(history_kind, history_message),
    *(bridge_kind, bridge_text, bridge_prompt, bridge_result),
    chatkit_item,
]


@pytest.mark.parametrize("invent", [*CONTAINERS, *INSIDE], ids=lambda invent: invent.__name__)
def test_an_invented_record_is_kept_shown_and_found(
    invent: Callable[[Path], None], archive: Archive, home: Path
) -> None:
    invent(home)
    paths = [path for path in [home / "export.json"] if path.exists()]
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
