"""Ollama: content is a string, arguments are objects, calls have no ids; results pair by order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.providers.codec import Codec, ModelProvider, UsageNames, WireNames
from rireki.providers.kit import (
    NOBODY,
    arguments,
    first,
    items,
    joined,
    leftovers,
    mapping,
    names,
    only,
    result_text,
    string,
    whole,
)
from rireki.providers.loose import loose_parts
from rireki.providers.neutral import (
    Call,
    Media,
    NeutralText,
    NeutralThinking,
    Opaque,
    Part,
    Result,
    Role,
    Turn,
)
from rireki.providers.rules import Rules
from rireki.providers.typed import OllamaRequest

__all__ = ["PROVIDER"]

_NAME = "ollama"
_ROLES: dict[str, Role] = {"assistant": "assistant", "system": "system"}
_KNOWN = names(
    "role content thinking images tool_calls tool_name name tool_call_id id type function"
)


def decode(message: Any) -> Turn:
    if not isinstance(message, dict):
        return Turn("user", [Opaque(NOBODY, message)])
    role = string(message.get("role"))
    content = message.get("content")
    parts: list[Part] = loose_parts(content) or [_text(block) for block in items(content)]
    pictures = [_image(image) for image in items(message.get("images"))]
    sendable = content is None or isinstance(content, str)
    if role == "tool":
        name = string(first(message, "tool_name", "name")) or None
        identity = string(message.get("tool_call_id")) or None
        inner: list[Any] = [*parts, *pictures]
        parts = [Result(identity, name, inner)]
    else:
        thinking = string(message.get("thinking"))
        thoughts: list[Part] = [NeutralThinking(thinking, provider=_NAME)] if thinking else []
        calls = [_call(call) for call in items(message.get("tool_calls"))]
        parts = [*thoughts, *parts, *pictures, *calls]
        sendable = sendable and whole(calls)
    return Turn(_ROLES.get(role, "user"), parts, _NAME, message if sendable else None)


def _text(block: Any) -> Part:
    text = mapping(block).get("text")
    return NeutralText(text) if isinstance(text, str) else Opaque(NOBODY, block)


#: How the bytes of a picture begin, in base64; Ollama does not tell the type.
_MAGIC = {"iVBOR": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def _image(image: Any) -> Part:
    if not isinstance(image, str):
        return Opaque(NOBODY, image)
    starts = [kind for start, kind in _MAGIC.items() if image.startswith(start)]
    return Media("image", starts[0] if starts else "image/jpeg", image)


def _call(call: Any) -> Part:
    function = mapping(mapping(call).get("function"))
    if not function:
        return Opaque(NOBODY, call)
    identity = string(call.get("id")) or None
    given = function.get("arguments")
    sendable = call if isinstance(given, dict) else None
    return Call(identity, string(function.get("name")), arguments(given), raw=sendable)


def encode(turn: Turn) -> list[Any]:
    messages: list[Any] = []
    rest: list[Part] = []
    for part in turn.parts:
        if type(part) is Result:
            messages.append(_result(part))
        else:
            rest.append(part)
    if rest or not messages:
        messages.append(_message(turn.role, rest))
    return messages


def _result(part: Result) -> dict[str, Any]:
    return {"role": "tool", "content": result_text(part), "tool_name": part.name or "unknown"}


def _message(role: Role, parts: Sequence[Part]) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "system" if role == "instructions" else role,
        "content": joined(parts),
    }
    if len(parts) == 1 and type(parts[0]) is NeutralText:
        # Most messages are one text and nothing else.
        return message
    if thoughts := [part.text for part in only(parts, NeutralThinking)]:
        message["thinking"] = "\n\n".join(thoughts)
    if images := [part.data for part in only(parts, Media)]:
        message["images"] = images
    if calls := only(parts, Call):
        message["tool_calls"] = [_call_out(call) for call in calls]
    return message


def _call_out(call: Call) -> Any:
    if call.raw is not None:
        return call.raw
    return {"function": {"name": call.name, "arguments": call.arguments}}


def decode_system(system: Any) -> Turn:
    return Turn("instructions", loose_parts(system) or [_text(block) for block in items(system)])


def extras(message: Any, deep: bool) -> list[str]:
    calls = items(mapping(message).get("tool_calls")) if deep else []
    return leftovers([message, *calls], _KNOWN)


PROVIDER = ModelProvider(
    codec=Codec(_NAME, decode, decode_system, encode, None, extras),
    rules=Rules(
        results="consecutive",
        answered=False,
        in_order=True,
        result_name=True,
        name=re.compile(r"[\s\S]+"),
        foreign_thinking="keep",
        media=frozenset({"image"}),
    ),
    request=OllamaRequest,
    wire=WireNames("messages", ""),
    usage=UsageNames("prompt_eval_count", "eval_count", "", ""),
    client="Ollama",
)
