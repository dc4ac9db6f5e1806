"""Whose message is this? Told by its shape alone.

Text alone looks the same with several providers; then nobody is named.
"""

from __future__ import annotations

from typing import Any

from rireki.providers.kit import items, mapping, names, string
from rireki.providers.plain import plain

__all__ = ["detect", "unwrap"]

_ANTHROPIC = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result"}
)
_OPENAI = frozenset({"image_url", "input_audio", "file", "refusal"})
_RESPONSES = frozenset({"input_text", "output_text", "input_image", "input_file"})
_BEDROCK = names(
    "text image document video audio toolUse toolResult reasoningContent cachePoint "
    "guardContent citationsContent searchResult"
)


def detect(message: Any) -> str | None:
    """The provider whose message, or whose answer as its package returns it, this is."""
    return unwrap(message)[0]


def unwrap(value: Any) -> tuple[str | None, list[Any]]:
    """The provider of a message or answer, and the messages that go into the history."""
    message = plain(value)
    if not isinstance(message, dict):
        return None, [message]
    if message.get("object") == "chat.completion" or "choices" in message:
        choices = items(message.get("choices"))
        return "openai", [mapping(choice).get("message") for choice in choices[:1]]
    if message.get("object") == "response" or isinstance(message.get("output"), list):
        return "responses", items(message.get("output"))
    if "candidates" in message:
        candidates = items(message["candidates"])
        return "gemini", [mapping(candidate).get("content") for candidate in candidates[:1]]
    answer = mapping(message.get("output")).get("message")
    if answer is not None:
        return "bedrock", [answer]
    if isinstance(message.get("message"), dict) and "role" not in message:
        return "ollama", [message["message"]]
    if message.get("type") == "message" and "stop_reason" in message:
        return "anthropic", [{"role": message.get("role"), "content": message.get("content")}]
    return _by_shape(message), [message]


def _by_shape(message: dict[str, Any]) -> str | None:
    if isinstance(message.get("parts"), list):
        return "gemini"
    if isinstance(message.get("type"), str):
        return "responses"
    if message.get("tool_call_id") or message.get("role") in ("function", "developer"):
        return "openai"
    if "tool_name" in message or "images" in message or "thinking" in message:
        return "ollama"
    if message.get("role") == "tool":
        return "ollama"
    if message.get("tool_calls"):
        return _by_call(
            mapping(items(message["tool_calls"])[0]) if items(message["tool_calls"]) else {}
        )
    if "refusal" in message or "reasoning_content" in message or "function_call" in message:
        return "openai"
    return _by_blocks(items(message.get("content")))


def _by_call(call: dict[str, Any]) -> str:
    given = mapping(call.get("function")).get("arguments")
    return "ollama" if isinstance(given, dict) else "openai"


def _by_blocks(blocks: list[Any]) -> str | None:
    for block in map(mapping, blocks):
        kind = string(block.get("type"))
        if kind in _ANTHROPIC or kind.endswith(("tool_use", "tool_result")):
            return "anthropic"
        if kind == "image":
            return "anthropic"
        if kind in _OPENAI:
            return "openai"
        if kind in _RESPONSES:
            return "responses"
        if not kind and block.keys() & _BEDROCK:
            return "bedrock"
    return None
