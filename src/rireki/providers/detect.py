"""Whose message is this? Told by its shape alone.

Text alone looks the same with several providers; then nobody is named.
"""

from __future__ import annotations

from typing import Any

from rireki.providers.kit import items, mapping, names, string
from rireki.providers.plain import plain

__all__ = ["detect", "is_item", "unwrap"]

_ANTHROPIC = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result"}
)
_OPENAI = frozenset({"image_url", "input_audio", "file", "refusal"})
_RESPONSES = frozenset({"input_text", "output_text", "input_image", "input_file"})
_BEDROCK = names(
    "text image document video audio toolUse toolResult reasoningContent cachePoint "
    "guardContent citationsContent searchResult"
)
#: Most messages say this and nothing else.
_USUAL = frozenset({"role", "content"})
#: Kinds of Responses items; most others end with what `is_item` looks for.
_ITEMS = names(
    "message reasoning compaction compaction_trigger item_reference mcp_list_tools "
    "mcp_approval_request mcp_approval_response additional_tools configuration_update program"
)


def detect(message: Any) -> str | None:
    """The provider whose message, or whose answer as its package returns it, this is."""
    return unwrap(message)[0]


def unwrap(value: Any) -> tuple[str | None, list[Any]]:
    """The provider of a message or answer, and the messages that go into the history."""
    message = plain(value)
    if not isinstance(message, dict):
        return None, [message]
    if message.keys() == _USUAL:
        return _by_role(message["role"]) or _by_blocks(items(message["content"])), [message]
    if "role" not in message:
        # What has a role is a message itself, whatever else it has.
        provider, inner = _answered(message)
        if provider is not None:
            return provider, inner
    if message.get("type") == "message" and "stop_reason" in message:
        return "anthropic", [{"role": message.get("role"), "content": message.get("content")}]
    return _by_shape(message), [message]


def _answered(message: dict[str, Any]) -> tuple[str | None, list[Any]]:
    """The messages of an answer as a package returns it whole, if it is one."""
    if message.get("object") == "chat.completion" or "choices" in message:
        choices = items(message.get("choices"))
        return "openai", [mapping(choice).get("message") for choice in choices[:1]]
    if message.get("object") == "response" or _holds_output(message):
        return "responses", items(message.get("output"))
    if "candidates" in message:
        candidates = items(message["candidates"])
        return "gemini", [mapping(candidate).get("content") for candidate in candidates[:1]]
    answer = mapping(message.get("output")).get("message")
    if answer is not None:
        return "bedrock", [answer]
    if isinstance(message.get("message"), dict):
        return "ollama", [message["message"]]
    return None, []


def is_item(value: Any) -> bool:
    """Whether it is an item of Responses by its kind, and not a block of a message."""
    kind = mapping(value).get("type")
    if kind == "compaction":
        # Anthropic has a block of this name, which tells what it holds.
        return "content" not in value
    return isinstance(kind, str) and (kind in _ITEMS or kind.endswith(("_call", "_output")))


def _holds_output(message: dict[str, Any]) -> bool:
    """An answer without its label; what tools returned may be a list, too, but names its kind."""
    return isinstance(message.get("output"), list) and "type" not in message


def _by_shape(message: dict[str, Any]) -> str | None:
    if isinstance(message.get("parts"), list):
        return "gemini"
    if isinstance(message.get("type"), str):
        return "responses"
    if message.get("tool_call_id"):
        return "openai"
    if "tool_name" in message or "images" in message or "thinking" in message:
        return "openai" if _by_role(message.get("role")) == "openai" else "ollama"
    found = _by_role(message.get("role"))
    if found is not None:
        return found
    if message.get("tool_calls"):
        return _by_call(
            mapping(items(message["tool_calls"])[0]) if items(message["tool_calls"]) else {}
        )
    if "refusal" in message or "reasoning_content" in message or "function_call" in message:
        return "openai"
    return _by_blocks(items(message.get("content")))


def _by_role(role: Any) -> str | None:
    """Roles that one provider alone has; results without a call's id are Ollama's."""
    if role == "tool":
        return "ollama"
    return "openai" if role in ("function", "developer") else None


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
