"""Anthropic Messages: blocks with a `type`, results as blocks of the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from rireki.providers.codec import Codec, ModelProvider, UsageNames, WireNames
from rireki.providers.kit import (
    NOBODY,
    arguments,
    items,
    joined,
    leftovers,
    mapping,
    names,
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
from rireki.providers.rules import IMAGES, PDF, Rules
from rireki.providers.typed import AnthropicRequest

__all__ = ["PROVIDER"]

_NAME = "anthropic"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_KNOWN = names(
    "role content type text thinking signature data id name input tool_use_id is_error source "
    "title tool_name"
)
#: What a message that Anthropic takes has, and nothing else.
_USUAL = frozenset({"role", "content"})
#: Written into results by the histories of small agents; Anthropic rejects keys it does not know.
_PRIVATE = "tool_name"


def decode(message: Any) -> Turn:
    if not isinstance(message, dict):
        return Turn("user", [Opaque(NOBODY, message)])
    role = _ROLES.get(string(message.get("role")), "user")
    content = message.get("content")
    parts = loose_parts(content)
    if parts is not None:
        sendable = isinstance(content, str) and _sendable(message)
        return Turn(role, parts, _NAME, message if sendable else None)
    parts = [_part(block) for block in items(content)]
    return Turn(role, parts, _NAME, message if _sendable(message) and whole(parts) else None)


def _sendable(message: dict[str, Any]) -> bool:
    return message.keys() == _USUAL and string(message["role"]) in _ROLES


def _part(block: Any) -> Part:
    if isinstance(block, str):
        return NeutralText(block)
    kind = string(block.get("type")) if isinstance(block, dict) else ""
    if not kind:
        return Opaque(NOBODY, block)
    read = _BLOCKS.get(kind)
    return read(block) if read is not None else Opaque(_NAME, block, _told(block))


def _text(block: dict[str, Any]) -> Part:
    return NeutralText(string(block.get("text")), raw=block)


def _thinking(block: dict[str, Any]) -> Part:
    signature = string(block.get("signature")) or None
    return NeutralThinking(string(block.get("thinking")), signature, provider=_NAME, raw=block)


def _redacted(block: dict[str, Any]) -> Part:
    return NeutralThinking("", redacted=string(block.get("data")), provider=_NAME, raw=block)


def _call(block: dict[str, Any]) -> Part:
    given = block.get("input")
    return Call(
        string(block.get("id")) or None,
        string(block.get("name")),
        arguments(given),
        raw=block if isinstance(given, dict) else None,
    )


def _result(block: dict[str, Any]) -> Part:
    content = block.get("content")
    inner: list[Any] = loose_parts(content) or [_inner(one) for one in items(content)]
    name = block.get(_PRIVATE)
    return Result(
        string(block.get("tool_use_id")) or None,
        name if isinstance(name, str) and name != "unknown" else None,
        inner,
        bool(block.get("is_error")),
        raw=None if _PRIVATE in block else block,
    )


def _inner(block: Any) -> NeutralText | Media | Opaque:
    part = _part(block)
    return part if isinstance(part, NeutralText | Media | Opaque) else Opaque(_NAME, block)


def _media(block: dict[str, Any]) -> Part:
    source = mapping(block.get("source"))
    kind = "image" if block["type"] == "image" else "document"
    media_type = string(source.get("media_type")) or ("application/pdf" if kind != "image" else "")
    name = string(block.get("title"))
    if source.get("type") == "base64":
        data = string(source.get("data"))
        return Media(kind, media_type, data, None, name, raw=block)  # type: ignore[arg-type]
    if source.get("type") == "url":
        url = string(source.get("url"))
        return Media(kind, media_type, None, url, name, raw=block)  # type: ignore[arg-type]
    return Opaque(_NAME, block, string(source.get("data")))


_BLOCKS: dict[str, Callable[[dict[str, Any]], Part]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "tool_result": _result,
    "image": _media,
    "document": _media,
}


def _told(block: dict[str, Any]) -> str:
    """What other models can be told of a block of Anthropic's own tools."""
    if block.get("type") == "search_result":
        found = items(block.get("content"))
        return joined([NeutralText(string(mapping(one).get("text"))) for one in found])
    return ""


def encode(turn: Turn) -> list[Any]:
    content = [_block(part) for part in turn.parts]
    if len(content) == 1 and content[0].keys() == {"type", "text"}:
        return [{"role": turn.role, "content": content[0]["text"]}]
    return [{"role": turn.role, "content": content}]


def _block(part: Part) -> dict[str, Any]:
    if part.raw is not None:
        return part.raw  # type: ignore[no-any-return]
    if isinstance(part, NeutralText):
        return {"type": "text", "text": part.text}
    if isinstance(part, Call):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
    if isinstance(part, Result):
        return _result_block(part)
    if isinstance(part, Media):
        return _media_block(part)
    if isinstance(part, NeutralThinking) and part.redacted is not None:
        return {"type": "redacted_thinking", "data": part.redacted}
    assert isinstance(part, NeutralThinking)
    return {"type": "thinking", "thinking": part.text, "signature": part.signature or ""}


def _result_block(part: Result) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": part.id}
    inner = [_block(one) for one in part.content]
    if len(inner) == 1 and inner[0].keys() == {"type", "text"}:
        block["content"] = inner[0]["text"]
    elif inner:
        block["content"] = inner
    if part.is_error:
        block["is_error"] = True
    return block


def _media_block(part: Media) -> dict[str, Any]:
    source: dict[str, Any]
    if part.url is not None:
        source = {"type": "url", "url": part.url}
    else:
        source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    block: dict[str, Any] = {"type": part.kind, "source": source}
    if part.name and part.kind == "document":
        block["title"] = part.name
    return block


def decode_system(system: Any) -> Turn:
    return Turn("instructions", decode({"role": "user", "content": system}).parts, _NAME, system)


def encode_system(turns: Sequence[Turn]) -> Any:
    return "\n\n".join(joined(turn.parts) for turn in turns)


def extras(message: Any, deep: bool) -> list[str]:
    blocks = items(mapping(message).get("content")) if deep else []
    return leftovers([message, *blocks], _KNOWN)


PROVIDER = ModelProvider(
    codec=Codec(_NAME, decode, decode_system, encode, encode_system, extras),
    rules=Rules(
        results="next",
        error_flag=True,
        empty_error=False,
        call_id=re.compile(r"[a-zA-Z0-9_-]+"),
        name=re.compile(r"[a-zA-Z0-9_-]{1,128}"),
        empty_text=False,
        join=frozenset({"assistant", "user"}),
        starts="user",
        trailing_space=False,
        system="outside",
        foreign_thinking="drop",
        signed_thinking=True,
        ends_with_thinking=False,
        media=frozenset({"image", "document"}),
        result_media=frozenset({"image", "document"}),
        by_url=frozenset({"image", "document"}),
        types={"image": IMAGES, "document": PDF},
        types_checked=True,
    ),
    families=((r"(opus|sonnet|haiku)-(4-[6-9]|[5-9])", {"ends_with_user": True}),),
    request=AnthropicRequest,
    wire=WireNames("messages", "system"),
    usage=UsageNames(
        "usage.input_tokens",
        "usage.output_tokens",
        "usage.cache_read_input_tokens",
        "usage.cache_creation_input_tokens",
    ),
    client="Anthropic",
)
