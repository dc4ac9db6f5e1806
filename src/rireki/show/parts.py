"""A part of a message as plain words, whatever it is; control characters are the caller's matter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

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
from rireki.show.words import size

__all__ = [
    "Preview",
    "attachment_words",
    "gist",
    "line_of",
    "part_text",
    "pretty",
    "preview",
    "tell",
    "tool_name",
    "untold",
]


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


# The argument that says what a call is about; the first one that is there.
_SUBJECTS = (
    ("command", "cmd", "script"),
    ("file_path", "path", "notebook_path", "filename", "file", "directory", "image_paths"),
    ("pattern", "query", "regex", "search", "q"),
    ("url", "uri"),
    ("skill", "description", "task", "title", "name", "subject"),
    ("prompt", "question", "message", "text", "content", "summary", "plan"),
)
#: Translates what we say ourselves.
Say: TypeAlias = Callable[[str], str]
_MCP = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)")


def tool_name(name: str) -> str:
    """`mcp__github__search` and `github___search` are the tool `search` of `github`."""
    if found := _MCP.fullmatch(name):
        return f"{found['server']}: {found['tool']}"
    server, separator, tool = name.partition("___")
    return f"{server}: {tool}" if separator and server and tool else name


def tell(call: ToolCall, say: Say = str) -> str:
    """The call in one line: the tool and what it was asked to do.

    Goes by the names of the arguments rather than by the names of the tools: agents rename their
    tools more often than what they hand to them.
    """
    return one_line(f"{tool_name(call.name)}  {_subject(call.arguments, say)}")


def _subject(arguments: Any, say: Say) -> str:
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return "" if arguments is None else _compact(arguments)
    shown = {key: value for key, value in arguments.items() if not key.startswith("__")}
    return _special(shown, say) or _first_subject(shown) or _pairs(shown)


def _special(arguments: dict[str, Any], say: Say) -> str:
    """Shapes whose meaning is not in one plain argument."""
    command, path = arguments.get("command"), arguments.get("path")
    if isinstance(command, str) and isinstance(path, str):
        return f"{command} {path}"
    if isinstance(arguments.get("pattern"), str) and isinstance(path, str):
        return f"{arguments['pattern']} in {path}"
    for name in ("operations", "questions", "todos", "edits", "tasks"):
        items = arguments.get(name)
        if isinstance(items, list) and items:
            return _many(items, _first_subject(arguments), say)
    return ""


def _many(items: list[Any], subject: str, say: Say) -> str:
    first = items[0]
    if not subject and isinstance(first, dict):
        mode = first.get("mode") if isinstance(first.get("mode"), str) else ""
        subject = " ".join(filter(None, [mode, _subject(first, say)]))
    more = say(f"(and {len(items) - 1} more)") if len(items) > 1 else ""
    return f"{subject or _compact(first)} {more}"


def _first_subject(arguments: dict[str, Any]) -> str:
    for names in _SUBJECTS:
        for name in names:
            value = arguments.get(name)
            if isinstance(value, str) and value.strip():
                return value
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                return " ".join(value)
    return ""


def _pairs(arguments: dict[str, Any]) -> str:
    return " ".join(
        f"{key}={value if isinstance(value, str) else _compact(value)}"
        for key, value in arguments.items()
    )


def _compact(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return "…"


class Preview(NamedTuple):
    lines: list[str]
    #: How many lines were left out.
    more: int


def preview(text: str, limit: int | None) -> Preview:
    """The first lines of a text, safe to print; all of them without a limit."""
    lines = safe(text).strip("\n").split("\n") if text.strip() else []
    # Leaving out a single line would take a line to say so.
    if limit is None or len(lines) <= limit + 1:
        return Preview(lines, 0)
    return Preview(lines[:limit], len(lines) - limit)
