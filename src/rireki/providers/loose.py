"""Shapes of content that no provider documents, but histories hold: strings and prompt JSON.

Small agents ask a model without tool calling for `{"thought", "tool_call" | "response"}` and
keep the answer as it is.
"""

from __future__ import annotations

from typing import Any

from rireki.providers.kit import NOBODY, arguments, dumps, first, mapping, string
from rireki.providers.neutral import Call, NeutralText, NeutralThinking, Opaque, Part

__all__ = ["is_prompt_json", "loose_parts"]

_KEYS = frozenset({"thought", "tool_call", "response"})


def is_prompt_json(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and value.keys() <= _KEYS


def loose_parts(content: Any) -> list[Part] | None:
    """The parts of a string, of nothing, of one block or of prompt JSON; None for a list of blocks."""
    if isinstance(content, str):
        return [NeutralText(content)] if content else []
    if content is None:
        return []
    if is_prompt_json(content):
        return _prompt_json(content)
    if isinstance(content, list):
        return None
    return [Opaque(NOBODY, content)]


def _prompt_json(content: dict[str, Any]) -> list[Part]:
    parts: list[Part] = []
    if content.get("thought"):
        parts.append(NeutralThinking(_words(content["thought"])))
    if content.get("response"):
        parts.append(NeutralText(_words(content["response"])))
    call = mapping(content.get("tool_call"))
    if call:
        given = arguments(first(call, "arguments", "args", "input", "parameters"))
        parts.append(Call(string(call.get("id")) or None, string(call.get("name")), given))
    return parts


def _words(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)
