"""Bedrock Converse: blocks told apart by their one key; results as blocks of the user.

Binary data is base64 text here, as in the JSON that goes over the wire. boto3 wants bytes and
encodes them itself, so what is rendered has bytes: base64 text would be encoded twice.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from rireki.providers.codec import Codec, ModelProvider, UsageNames, WireNames
from rireki.providers.kit import (
    NOBODY,
    arguments,
    dumps,
    items,
    joined,
    leftovers,
    mapping,
    names,
    standard_base64,
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
from rireki.providers.rules import ALL_MEDIA, BEDROCK_FORMATS, Rules
from rireki.providers.typed import BedrockRequest

__all__ = ["PROVIDER", "with_bytes"]

_NAME = "bedrock"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_KNOWN = names("role content text image document video audio toolUse toolResult reasoningContent")
_MEDIA = ("image", "document", "video", "audio")
#: What a format means, by kind.
_TYPES = {
    kind: {form: media_type for media_type, form in reversed(formats.items())}
    for kind, formats in BEDROCK_FORMATS.items()
}
#: Keys under which a caller's own JSON stands.
_FREE = frozenset({"input", "json"})
_BLOBS = frozenset({"bytes", "redactedContent"})
#: Blocks that may hold some.
_BINARY = frozenset({*_MEDIA, "toolResult", "reasoningContent", "guardContent", "searchResult"})


def decode(message: Any) -> Turn:
    if not isinstance(message, dict):
        return Turn("user", [Opaque(NOBODY, message)])
    role = _ROLES.get(string(message.get("role")), "user")
    content = message.get("content")
    parts = loose_parts(content)
    if parts is not None:
        return Turn(role, parts, _NAME)
    parts = [_part(block) for block in items(content)]
    sendable = string(message.get("role")) in _ROLES and whole(parts)
    return Turn(role, parts, _NAME, message if sendable else None)


def _part(block: Any) -> Part:
    if isinstance(block, str):
        return NeutralText(block)
    if not isinstance(block, dict) or not block:
        return Opaque(NOBODY, block)
    if isinstance(block.get("text"), str):
        return NeutralText(block["text"], raw=block)
    if isinstance(block.get("toolUse"), dict):
        return _call(block["toolUse"], block)
    if isinstance(block.get("toolResult"), dict):
        return _result(block["toolResult"], block)
    if isinstance(block.get("reasoningContent"), dict):
        return _thinking(block["reasoningContent"], block)
    media = _media(block)
    if media is not None:
        return media
    # Blocks are told by their names: one whose value is nothing is no block of Bedrock's.
    known = any(isinstance(value, dict) for value in block.values())
    return Opaque(_NAME if known else NOBODY, block)


def _call(use: dict[str, Any], block: dict[str, Any]) -> Part:
    if use.get("type") == "server_tool_use":
        return Opaque(_NAME, block)
    given = use.get("input")
    sendable = block if isinstance(given, dict) else None
    identity, name = string(use.get("toolUseId")) or None, string(use.get("name"))
    return Call(identity, name, arguments(given), raw=sendable)


def _result(result: dict[str, Any], block: dict[str, Any]) -> Part:
    if result.get("type"):
        return Opaque(_NAME, block)
    content = [_inner(inner) for inner in items(result.get("content"))]
    identity = string(result.get("toolUseId")) or None
    return Result(identity, None, content, result.get("status") == "error", raw=block)


def _inner(block: Any) -> NeutralText | Media | Opaque:
    value = mapping(block)
    if "json" in value:
        return NeutralText(dumps(value["json"]), raw=block)
    if isinstance(value.get("text"), str):
        return NeutralText(value["text"], raw=block)
    return _media(value) or Opaque(_NAME, block)


def _thinking(content: dict[str, Any], block: dict[str, Any]) -> Part:
    if "redactedContent" in content:
        return NeutralThinking("", None, string(content["redactedContent"]), _NAME, raw=block)
    told = mapping(content.get("reasoningText"))
    signature = string(told.get("signature")) or None
    return NeutralThinking(string(told.get("text")), signature, None, _NAME, raw=block)


def _media(block: dict[str, Any]) -> Media | None:
    kind = next((kind for kind in _MEDIA if isinstance(block.get(kind), dict)), None)
    if kind is None:
        return None
    media = block[kind]
    form = string(media.get("format"))
    media_type = _TYPES[kind].get(form) or (
        f"{'application' if kind == 'document' else kind}/{form}"
    )
    source = mapping(media.get("source"))
    data = source.get("bytes")
    url = string(mapping(source.get("s3Location")).get("uri")) or None
    if not isinstance(data, str) and url is None:
        return None
    given = data if isinstance(data, str) else None
    return Media(kind, media_type, given, url, string(media.get("name")), raw=block)  # type: ignore[arg-type]


def encode(turn: Turn) -> list[Any]:
    return [{"role": turn.role, "content": [_block(part) for part in turn.parts]}]


def settle(messages: list[Any]) -> list[Any]:
    """Messages whose documents have names of their own, and a text beside them."""
    return [
        _settled(message) if any(map(_holds_document, message["content"])) else message
        for message in messages
    ]


def _holds_document(block: dict[str, Any]) -> bool:
    if "toolResult" in block:
        return any(map(_holds_document, map(mapping, _returned(block))))
    return isinstance(block.get("document"), dict)


def _returned(block: dict[str, Any]) -> list[Any]:
    return items(mapping(block["toolResult"]).get("content"))


def _settled(message: dict[str, Any]) -> dict[str, Any]:
    taken: set[str] = set()
    blocks = [_named(block, taken) for block in message["content"]]
    if _needs_text(blocks):
        blocks.append({"text": "(document)"})
    return message if blocks == message["content"] else {**message, "content": blocks}


def _named(block: Any, taken: set[str]) -> Any:
    """The block, its documents called as no other one is in the message."""
    if not _holds_document(mapping(block)):
        return block
    if "toolResult" in block:
        inner = [_named(one, taken) for one in _returned(block)]
        return {**block, "toolResult": {**block["toolResult"], "content": inner}}
    given = name = string(block["document"].get("name")) or "document"
    again = 2
    while name in taken:
        name = f"{given[:190]} ({again})"
        again += 1
    taken.add(name)
    return {**block, "document": {**block["document"], "name": name}}


def _needs_text(blocks: Sequence[Any]) -> bool:
    """A document must come with a text."""
    found = False
    for block in blocks:
        if "text" in block:
            return False
        found = found or "document" in block
    return found


def _block(part: Part) -> Any:
    if part.raw is not None:
        return part.raw
    if isinstance(part, NeutralText):
        return {"text": part.text}
    if isinstance(part, Call):
        use = {"toolUseId": part.id, "name": part.name, "input": part.arguments}
        return {"toolUse": use}
    if isinstance(part, Result):
        return {"toolResult": _result_out(part)}
    if isinstance(part, Media):
        return {part.kind: _media_out(part)}
    assert isinstance(part, NeutralThinking)
    told = {"text": part.text} | ({"signature": part.signature} if part.signature else {})
    return {"reasoningContent": {"reasoningText": told}}


def _result_out(part: Result) -> dict[str, Any]:
    result: dict[str, Any] = {
        "toolUseId": part.id,
        "content": [_block(inner) for inner in part.content],
    }
    if part.is_error:
        result["status"] = "error"
    return result


def _media_out(media: Media) -> dict[str, Any]:
    form = BEDROCK_FORMATS[media.kind][media.media_type]
    source = {"bytes": media.data or ""}
    out: dict[str, Any] = {"format": form, "source": source}
    if media.kind == "document":
        out["name"] = _document_name(media.name)
    return out


def _document_name(name: str) -> str:
    """A name with the characters that Converse allows."""
    allowed = re.sub(r"[^a-zA-Z0-9\s()\[\]-]", "-", name)
    return re.sub(r"\s+", " ", allowed).strip()[:200] or "document"


def decode_system(system: Any) -> Turn:
    parts = loose_parts(system)
    return Turn(
        "instructions",
        [_part(block) for block in items(system)] if parts is None else parts,
        _NAME,
        system if isinstance(system, list) else None,
    )


def encode_system(turns: Sequence[Turn]) -> Any:
    return [{"text": joined(turn.parts)} for turn in turns]


def with_bytes(value: Any) -> Any:
    """The messages as boto3 wants them: binary data as bytes. What has bytes already stays."""
    if isinstance(value, list):
        return [with_bytes(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _value_with_bytes(key, inner) for key, inner in value.items()}


def _value_with_bytes(key: str, value: Any) -> Any:
    if key in _FREE:
        return value
    return _bytes(value) if key in _BLOBS and isinstance(value, str) else with_bytes(value)


def _bytes(text: str) -> bytes:
    """What base64 says; a text that is none was never binary. (Lines of it may be broken.)"""
    try:
        return base64.b64decode(standard_base64("".join(text.splitlines())), validate=True)
    except ValueError:
        return text.encode()


def extras(message: Any, deep: bool) -> list[str]:
    blocks = items(mapping(message).get("content")) if deep else []
    return leftovers([message, *blocks], _KNOWN)


def _for_boto3(value: Any) -> Any:
    """A message, or the system prompt, for boto3; by far the most hold no binary data."""
    blocks = value.get("content") if isinstance(value, dict) else value
    return (
        with_bytes(value)
        if any(mapping(block).keys() & _BINARY for block in blocks or ())
        else value
    )


PROVIDER = ModelProvider(
    codec=Codec(
        _NAME, decode, decode_system, encode, encode_system, extras, settle, for_package=_for_boto3
    ),
    rules=Rules(
        results="next",
        error_flag=True,
        empty_result=False,
        empty_error=False,
        call_id=re.compile(r"[a-zA-Z0-9_.:-]{1,64}"),
        empty_text=False,
        alternate=True,
        starts="user",
        ends_with_user=True,
        system="outside",
        media=ALL_MEDIA,
        result_media=frozenset({"image", "document", "video"}),
        types=BEDROCK_FORMATS,
    ),
    families=(
        (
            r"anthropic|claude",
            {"signed_thinking": True, "ends_with_thinking": False, "foreign_thinking": "drop"},
        ),
        (
            r"llama|mi[sx]tral|magistral|devstral|pixtral",
            {"results": "alone", "error_flag": False, "result_media": frozenset()},
        ),
    ),
    request=BedrockRequest,
    wire=WireNames("messages", "system"),
    usage=UsageNames(
        "usage.inputTokens",
        "usage.outputTokens",
        "usage.cacheReadInputTokens",
        "usage.cacheWriteInputTokens",
    ),
    client="Bedrock",
)
