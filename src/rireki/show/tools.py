"""A tool call told in one line, and the first lines of what came back.

Goes by the names of the arguments rather than by the names of the tools: agents
rename their tools more often than what they hand to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from rireki.model.parts import ToolCall
from rireki.show.safe import one_line, safe

__all__ = ["Preview", "preview", "tell", "tool_name"]

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
    """The call in one line: the tool and what it was asked to do."""
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
