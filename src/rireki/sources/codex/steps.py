"""What the events beside calls tell: how a call ended, and what a script of the model did on its way."""

from __future__ import annotations

from typing import Any

from rireki.model.parts import ResultStatus
from rireki.sources.kit.fields import get, items, string, words

__all__ = ["end_of", "reviewed", "step_of"]


def end_of(event: Any) -> ResultStatus | None:
    """How a call ended, where it did not end well; None for all else."""
    if string(event, "status") == "declined":
        return "cancelled"
    ended = get(event, "result")
    failed = (
        string(event, "status") == "failed"
        or get(event, "success") is False
        or get(event, "exit_code") not in (None, 0)
        or get(ended, "Err") is not None
        or get(ended, "Ok", "isError") is True
        or get(ended, "isError") is True
    )
    return "error" if failed else None


def step_of(item: Any) -> str:
    """A step that no item of the model names: the real calls of a script. Empty for what is none."""
    match string(item, "type"):
        case "FileChange":
            changes = get(item, "changes")
            changed = changes.items() if isinstance(changes, dict) else ()
            return "\n".join(
                f"{string(one, 'type')} {path}\n{_change(one)}" for path, one in changed
            )
        case "McpToolCall":
            result = get(item, "result")
            content = items(result, "content") or items(get(result, "Ok"), "content")
            said = [string(one, "text") for one in content] or [words(get(item, "error"))]
            called = (
                f"{string(item, 'server')}.{string(item, 'tool')} {words(get(item, 'arguments'))}"
            )
            return "\n".join([called, *filter(None, said)])
        case "ImageView":
            return words(get(item, "path"))
        case "WebSearch" | "Extension":
            return string(item, "query") or string(item, "kind")
        case _:
            return ""


def reviewed(told: Any) -> str:
    """What a review was asked for, or what came of it."""
    output = get(told, "review_output")
    hint = string(told, "user_facing_hint") or string(told, "review")
    return hint or string(output, "overall_explanation") or words(output)


def _change(one: Any) -> str:
    return string(one, "unified_diff") or string(one, "content")
