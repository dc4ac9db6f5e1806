"""The output of a tool: any JSON value, as people read it.

A shell and the servers of tools each have a form of their own, which is told as plain
text; what else stands beside it is told too.
"""

from __future__ import annotations

from typing import Any

from rireki.sources.kit.decode import text_of

__all__ = ["output_of", "says_error"]


def output_of(value: Any) -> str:
    """A tool's JSON output as people read it."""
    if isinstance(value, str):
        return value
    if _is_shell(value):
        return _with_rest(_shell(value), value, "stdout", "stderr", "exit_status")
    if _is_answer(value):
        text = "\n".join(_content(item) for item in value["content"])
        known = ["content", *(["isError"] if isinstance(value.get("isError"), bool) else [])]
        return _with_rest(text, value, *known)
    return text_of(value)


def says_error(value: Any) -> bool:
    """Whether a tool's server itself says that the call failed: the client calls that a success."""
    return isinstance(value, dict) and value.get("isError") is True


def _is_shell(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in value and isinstance(value[name], str | None) for name in ("stdout", "stderr")
    )


def _shell(value: dict[str, Any]) -> str:
    lines = [value[name].rstrip("\n") for name in ("stdout", "stderr") if value[name]]
    status = value.get("exit_status")
    if status not in (None, "", 0, "0", "exit status: 0"):
        lines.append(f"[{status}]")
    return "\n".join(lines)


def _is_answer(value: Any) -> bool:
    """Whether it is what a server of tools answers: a list of blocks, each with its type."""
    content = value.get("content") if isinstance(value, dict) else None
    return isinstance(content, list) and all(
        isinstance(item, dict) and ("type" in item or "text" in item) for item in content
    )


def _content(item: dict[str, Any]) -> str:
    if not isinstance(item.get("text"), str):
        return text_of(item)
    known = ["text", *(["type"] if item.get("type") == "text" else [])]
    return _with_rest(item["text"], item, *known)


def _with_rest(text: str, value: dict[str, Any], *told: str) -> str:
    """The text, and on a line of its own whatever the value says besides."""
    rest = {name: item for name, item in value.items() if name not in told and item is not None}
    return "\n".join(filter(None, [text, text_of(rest) if rest else ""]))
