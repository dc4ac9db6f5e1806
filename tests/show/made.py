"""Hand-made conversations for the tests of this layer."""

from __future__ import annotations

from typing import Any

from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.show.text import TextOptions, render_transcript
from rireki.show.transcript import Transcript


def conversation(**facts: Any) -> Conversation:
    values: dict[str, Any] = {
        "id": "toy/0001",
        "source": "toy",
        "native_id": "0001",
        "project": "/home/dev/設定",
        "title": "設定ファイルを読む",
        "finished": True,
    }
    return Conversation(**(values | facts))


def message(id: str, author: Any = "agent", text: str = "", **facts: Any) -> Message:
    parts = [Text(text)] if text else []
    values: dict[str, Any] = {"display": "bubble", "parts": parts}
    return Message(id=id, author=author, **(values | facts))


def call(id: str, call_id: str, command: str, **facts: Any) -> Message:
    return message(id, parts=[ToolCall(call_id, "Bash", {"command": command})], **facts)


def result(id: str, call_id: str, output: str, status: Any = "ok", **facts: Any) -> Message:
    parts = [ToolResult(call_id, status, output)]
    return message(id, "tool", display="fold", parts=parts, **facts)


def told(story: Transcript, view: TextOptions | None = None) -> list[str]:
    return [
        line for block in render_transcript(story, view or TextOptions()) for line in block.lines
    ]
