"""Writes Kiro's two stores of the demo home: the classic engine's database, the new one's files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from rireki.intake.demo.amazon_q import SCHEMA
from rireki.intake.demo.q_state import DemoState
from rireki.intake.demo.steps import (
    Clear,
    Clock,
    Compact,
    DemoAnswer,
    DemoCall,
    DemoConversation,
    DemoPrompt,
    Ids,
    Json,
)

__all__ = ["write_kiro_database", "write_kiro_sessions"]

#: What migration 008 adds.
_SCHEMA = """
CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));
CREATE INDEX idx_conversations_v2_key_updated ON conversations_v2(key, updated_at DESC);
CREATE INDEX idx_conversations_v2_updated_at ON conversations_v2(updated_at DESC);
"""


def write_kiro_database(home: Path, stories: Iterable[DemoConversation]) -> None:
    path = home / ".local" / "share" / "kiro-cli" / "data.sqlite3"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA + _SCHEMA)
        database.executemany(
            "INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)",
            [_row(story) for story in stories],
        )
    path.chmod(0o600)


def _row(story: DemoConversation) -> tuple[str, str, str, int, int]:
    state = DemoState(story, kiro=True)
    created = Clock(story.start).milliseconds()
    updated = state.clock.milliseconds()
    return story.project, state.ids.session, state.value(), created, updated


def write_kiro_sessions(home: Path, stories: Iterable[DemoConversation]) -> None:
    folder = home / ".kiro" / "sessions" / "cli"
    folder.mkdir(parents=True)
    for story in stories:
        log = _Log(story)
        lines = "".join(
            json.dumps(e, ensure_ascii=False, separators=(",", ":")) + "\n" for e in log.entries
        )
        (folder / f"{log.ids.session}.jsonl").write_bytes(lines.encode())
        head = json.dumps(log.head(), ensure_ascii=False, indent=2)
        (folder / f"{log.ids.session}.json").write_bytes(head.encode())


class _Log:
    """The append-only log of a session, and the head file beside it."""

    def __init__(self, story: DemoConversation) -> None:
        self.story = story
        self.ids = Ids(story.name)
        self.clock = Clock(story.start)
        self.entries: list[Json] = []
        self.messages: list[Json] = []
        self.turns: list[Json] = []
        for step in story.steps:
            match step:
                case DemoPrompt():
                    self._prompt(step)
                case DemoAnswer():
                    self._answer(step)
                case Compact():
                    self._compact(step)
                case Clear():
                    self.entries.append({"version": "v1", "kind": "Clear"})
                case _:
                    raise TypeError(f"{step} is not told in this format")

    def _enter(self, kind: str, data: Json) -> None:
        self.entries.append({"version": "v1", "kind": kind, "data": data})

    def _say(self, kind: str, role: str, content: list[Json], **more: object) -> None:
        message = self.ids.uuid()
        self.messages.append({"id": message, "role": role, "content": content})
        self._enter(kind, {"message_id": message, "content": content, **more})

    def _prompt(self, step: DemoPrompt) -> None:
        self.clock.wait(step.after)
        meta = {"timestamp": self.clock.milliseconds() // 1000}
        self._say("Prompt", "user", [_block("text", step.text)], meta=meta)

    def _answer(self, step: DemoAnswer) -> None:
        self.clock.wait(3 + len(step.text) / 50)
        content: list[Json] = []
        if step.thinking:
            thought = {"text": step.thinking, "signature": "c2ln", "redactedContent": []}
            content.append(_block("thinking", {**thought, "modelId": self.story.model}))
        if step.text:
            content.append(_block("text", step.text))
        used = [(call, self.ids.token("tooluse_")) for call in step.calls]
        for call, id in used:
            content.append(
                _block("toolUse", {"toolUseId": id, "name": call.tool, "input": call.input})
            )
        self._say("AssistantMessage", "assistant", content)
        if used:
            self.clock.wait(2)
            results = [_block("toolResult", _result(call, id)) for call, id in used]
            outcomes = {id: _outcome(call) for call, id in used}
            self._say("ToolResults", "user", results, results=outcomes)
        else:
            self._end_turn()

    def _end_turn(self) -> None:
        agent = {"name": "kiro_default", "parent_id": None, "rand": self.ids.hexadecimal(5)}
        credit = {"value": 0.07, "unit": "credit", "unitPlural": "credits"}
        self.turns.append(
            {
                "loop_id": {"agent_id": agent, "rand": len(self.turns)},
                "result": {"Ok": self.messages[-1]},
                "message_ids": [message["id"] for message in self.messages[-2:]],
                "total_request_count": 1,
                "number_of_cycles": 0,
                "builtin_tool_uses": 0,
                "turn_duration": {"secs": 4, "nanos": 0},
                "end_reason": "UserTurnEnd",
                "end_timestamp": self.clock.iso(),
                "input_token_count": 0,
                "output_token_count": 0,
                "context_usage_percentage": 4.5,
                "metering_usage": [credit],
            }
        )

    def _compact(self, step: Compact) -> None:
        self.clock.wait(20)
        strategy = {
            "message_pairs_to_exclude": 1,
            "context_window_percent_to_exclude": 2,
            "truncate_large_messages": False,
            "max_message_length": 25_000,
        }
        kept = self.messages[-2:]
        data = {"summary": step.summary, "strategy": strategy, "messages_snapshot": kept}
        self._enter("Compaction", data)

    def head(self) -> Json:
        model = {"model_name": self.story.model, "model_id": self.story.model}
        return {
            "session_id": self.ids.session,
            "cwd": self.story.project,
            "created_at": Clock(self.story.start).iso(),
            "updated_at": self.clock.iso(),
            "title": self._title(),
            "session_state": {
                "version": "v1",
                "conversation_metadata": {
                    "user_turn_metadatas": self.turns,
                    "user_turn_start_request": None,
                    "last_request": None,
                },
                "rts_model_state": {
                    "conversation_id": self.ids.session,
                    "model_info": {**model, "context_window_tokens": 200_000},
                    "context_usage_percentage": 4.5,
                },
                "permissions": {"trusted_tools": [], "denied_tools": [], "allowed_commands": []},
                "agent_name": "kiro_default",
            },
        }

    def _title(self) -> str | None:
        """The first line of the first prompt, cut to 150 bytes."""
        typed = (step.text for step in self.story.steps if isinstance(step, DemoPrompt))
        first = next(typed, "").partition("\n")[0]
        return first.encode()[:150].decode(errors="ignore") or None


def _block(kind: str, data: object) -> Json:
    return {"kind": kind, "data": data}


def _result(call: DemoCall, id: str) -> Json:
    content = _block("text" if isinstance(call.output, str) else "json", call.output)
    status = "error" if call.error else "success"
    return {"toolUseId": id, "content": [content], "status": status}


def _outcome(call: DemoCall) -> Json:
    item = {"Text": call.output} if isinstance(call.output, str) else {"Json": call.output}
    return {"tool": None, "result": {"Success": {"items": [item]}}}
