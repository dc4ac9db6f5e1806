"""Composed transcripts for the tests of the Claude Code reader: one short call per line."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.sources.claude_code import READER
from tests.support.memory import Memory

SESSION = "aaaaaaaa-0000-4000-8000-000000000000"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"


class Transcript:
    """Lines in a chain, each the child of the one before unless told otherwise."""

    def __init__(self, session: str = SESSION) -> None:
        self.session = session
        self.lines: list[bytes] = []
        self.last: str | None = None
        self.count = 0

    def add(self, kind: str, parent: str | None = "last", **fields: Any) -> str:
        self.count += 1
        uuid = fields.pop("uuid", f"{self.count:08d}-0000-4000-8000-000000000000")
        line = {
            "parentUuid": self.last if parent == "last" else parent,
            "isSidechain": False,
            "type": kind,
            "uuid": uuid,
            "timestamp": f"2026-11-15T10:00:{self.count:02d}.000Z",
            "userType": "external",
            "cwd": "/home/dev/app",
            "sessionId": self.session,
            "version": "2.1.197",
            **fields,
        }
        self.raw(json.dumps(line, ensure_ascii=False).encode())
        self.last = uuid
        return str(uuid)

    def raw(self, data: bytes) -> None:
        self.lines.append(data + b"\n")

    def meta(self, kind: str, **fields: Any) -> None:
        self.raw(json.dumps({"type": kind, "sessionId": self.session, **fields}).encode())

    def user(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def answer(self, *blocks: Any, id: str = "", **fields: Any) -> str:
        """Text as a string, or a content block."""
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        message = {
            "id": id or f"msg_{self.count + 1}",
            "model": fields.pop("model", "claude-test"),
            "role": "assistant",
            "content": content,
            "stop_reason": fields.pop("stop_reason", "end_turn"),
            "usage": {"input_tokens": 10, "output_tokens": fields.pop("output", 20)},
        }
        return self.add("assistant", message=message, **fields)

    def call(self, call: str, tool: str = "Bash", **fields: Any) -> str:
        given = fields.pop("input", {})
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        return self.answer(block, stop_reason="tool_use", **fields)

    def result(self, call: str, content: Any = "done", error: bool = False, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if error:
            block["is_error"] = True
        return self.user([block], **fields)

    def attach(self, kind: str, attached: dict[str, Any], **fields: Any) -> str:
        return self.add("attachment", attachment={"type": kind, **attached}, **fields)

    def system(self, subtype: str, **fields: Any) -> str:
        return self.add("system", subtype=subtype, **fields)

    def bytes(self) -> bytes:
        return b"".join(self.lines)


def lay(home: Path, data: bytes, name: str = SESSION, folder: str = "-home-dev-app") -> Path:
    """Put a transcript where Claude Code would."""
    path = home / ".claude" / "projects" / folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@cache
def fixtures(version: str) -> dict[str, Reading]:
    return read(FIXTURES / version)


def read(home: Path) -> dict[str, Reading]:
    """Everything a home holds, by native id."""
    memory = Memory(READER)
    memory.import_home(home)
    return {reading.conversation.native_id: reading for reading in memory.readings().values()}


def tell(home: Path, transcript: Transcript) -> Reading:
    lay(home, transcript.bytes())
    return read(home)[SESSION]


def fixture(version: str, prefix: str) -> Reading:
    """A conversation of the fixtures, by the beginning of its id."""
    (found,) = [
        reading
        for native_id, reading in fixtures(version).items()
        if native_id.startswith(prefix) and "/" not in native_id
    ]
    return found


def words(message: Message) -> str:
    texts = (getattr(part, "text", None) or getattr(part, "output", "") for part in message.parts)
    return "\n".join(text for text in texts if text)


def row(messages: list[Message], rule: str) -> Message:
    """The first message that this row of the table decided."""
    return next(m for m in messages if m.entry is not None and m.entry.rule == rule)
