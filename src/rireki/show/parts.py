"""A part of a message as plain words, whatever it is; control characters are the caller's matter."""

from __future__ import annotations

import json
from typing import Any

from rireki.model.message import Message
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.show.safe import one_line, safe
from rireki.show.tools import tell
from rireki.show.words import size

__all__ = ["attachment_words", "gist", "line_of", "part_text", "pretty", "untold"]


def part_text(part: Part) -> str:
    """Everything there is to read in a part."""
    if isinstance(part, Text | Thinking | Notice):
        return part.text
    if isinstance(part, ToolCall):
        return tell(part)
    if isinstance(part, ToolResult):
        return part.output
    if isinstance(part, Attachment):
        return attachment_words(part)
    return f"{part.what}: {pretty(part.raw)}"


def attachment_words(part: Attachment) -> str:
    words = [part.name, part.media_type, size(part.size) if part.size else ""]
    return f"[attachment: {', '.join(word for word in words if word)}]"


def pretty(value: Any) -> str:
    """A raw value for reading: text as it is, everything else as indented JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except RecursionError:
        return "(nested too deeply to be shown; --raw has it)"


def gist(message: Message) -> str:
    """The first words of a message, or what kind of thing it holds where it has none."""
    for part in message.parts:
        if isinstance(part, Text | Notice) and part.text.strip():
            return part.text.strip()[:500]
    for part in message.parts:
        if isinstance(part, ToolResult):
            return f"(result) {part.output.strip()[:500]}"
        if isinstance(part, Unknown):
            return f"({part.what})"
        if words := part_text(part).strip():
            return words[:500]
    return ""


def line_of(message: Message) -> str:
    """What a message says where it has a single line."""
    return one_line(message.label or gist(message))


def untold(message: Message, line: str) -> list[Part]:
    """The parts that such a line does not tell as they are; calls and results it only names."""
    return [
        part
        for part in message.parts
        if isinstance(part, ToolCall | ToolResult) or not _tells(line, part_text(part))
    ]


def _tells(line: str, text: str) -> bool:
    """`/compact`, `/compact (only in the log)` and `remember: tabs` leave nothing to be said."""
    words = safe(text).strip()
    said = line == words or line.startswith(f"{words} (") or line.endswith(f": {words}")
    return said or not words
