"""Gemini: contents of parts; results are objects and name their function; signatures on any part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.providers.codec import Codec, ModelProvider, UsageNames, WireNames
from rireki.providers.kit import (
    NOBODY,
    arguments,
    dumps,
    first,
    items,
    joined,
    leftovers,
    mapping,
    media_kind,
    names,
    only,
    result_text,
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
from rireki.providers.rules import ALL_MEDIA, Rules
from rireki.providers.typed import GeminiRequest

__all__ = ["PROVIDER"]

_NAME = "gemini"
_ROLES: dict[str, Role] = {"model": "assistant", "assistant": "assistant", "system": "system"}
_KNOWN = names(
    "role parts text thought functionCall function_call functionResponse function_response "
    "inlineData inline_data fileData file_data executableCode codeExecutionResult toolCall "
    "toolResponse"
)


def decode(content: Any) -> Turn:
    if not isinstance(content, dict):
        return Turn("user", [Opaque(NOBODY, content)])
    role = _ROLES.get(string(content.get("role")), "user")
    if "parts" not in content:
        parts = loose_parts(content.get("content"))
        return Turn(role, parts if parts is not None else [Opaque(NOBODY, content)], _NAME)
    parts = [_part(part) for part in items(content["parts"])]
    known = content.get("role") in (None, "user", "model")
    sendable = known and isinstance(content["parts"], list) and whole(parts)
    return Turn(role, parts, _NAME, content if sendable else None)


def _part(part: Any) -> Part:
    if isinstance(part, str):
        return NeutralText(part)
    if not isinstance(part, dict) or not part:
        return Opaque(NOBODY, part)
    call = first(part, "functionCall", "function_call")
    if isinstance(call, dict):
        return _call(call, part)
    response = first(part, "functionResponse", "function_response")
    if isinstance(response, dict):
        return _result(response, part)
    if isinstance(part.get("text"), str):
        if part.get("thought"):
            return NeutralThinking(part["text"], _signature(part), None, _NAME, raw=part)
        return NeutralText(part["text"], raw=part)
    media = _media(part)
    if media is not None:
        return media
    # Parts are told by their names: one whose value is nothing is no part of Gemini's.
    known = any(isinstance(part.get(name), dict) for name in part)
    return Opaque(_NAME if known else NOBODY, part, _told(part))


def _signature(part: dict[str, Any]) -> str | None:
    return string(first(part, "thoughtSignature", "thought_signature")) or None


def _call(call: dict[str, Any], part: dict[str, Any]) -> Part:
    given = call.get("args")
    sendable = part if given is None or isinstance(given, dict) else None
    identity, name = string(call.get("id")) or None, string(call.get("name"))
    return Call(identity, name, arguments(given), _signature(part), raw=sendable)


def _result(response: dict[str, Any], part: dict[str, Any]) -> Part:
    given = mapping(response.get("response"))
    is_error = "error" in given and "output" not in given
    content: list[Any] = [NeutralText(_words(given))] if given else []
    for inner in items(response.get("parts")):
        media = _media(mapping(inner))
        content.append(media or Opaque(_NAME, inner))
    name = string(response.get("name")) or None
    return Result(string(response.get("id")) or None, name, content, is_error, raw=part)


def _words(response: dict[str, Any]) -> str:
    """A response says its one thing, or all of it as JSON."""
    if len(response) == 1:
        (key, value) = next(iter(response.items()))
        if key in ("output", "error", "result"):
            return value if isinstance(value, str) else dumps(value)
    return dumps(response)


def _media(part: dict[str, Any]) -> Media | None:
    blob = first(part, "inlineData", "inline_data")
    if isinstance(blob, dict):
        media_type = string(first(blob, "mimeType", "mime_type"))
        data = standard_base64(string(blob.get("data")))
        name = string(first(blob, "displayName", "display_name"))
        return Media(media_kind(media_type), media_type, data, None, name, raw=part)
    file = first(part, "fileData", "file_data")
    if isinstance(file, dict):
        media_type = string(first(file, "mimeType", "mime_type"))
        url = string(first(file, "fileUri", "file_uri"))
        return Media(media_kind(media_type), media_type, None, url, raw=part)
    return None


def _told(part: dict[str, Any]) -> str:
    """What other models can be told of code that Gemini ran itself."""
    code = mapping(first(part, "executableCode", "executable_code"))
    ran = mapping(first(part, "codeExecutionResult", "code_execution_result"))
    return string(code.get("code")) or string(ran.get("output"))


def encode(turn: Turn) -> list[Any]:
    role = "model" if turn.role == "assistant" else "user"
    return [{"role": role, "parts": [_part_out(part) for part in turn.parts]}]


def _part_out(part: Part) -> Any:
    if part.raw is not None:
        return part.raw
    if isinstance(part, NeutralText):
        return {"text": part.text}
    if isinstance(part, Call):
        return _call_out(part)
    if isinstance(part, Result):
        return {"functionResponse": _response(part)}
    if isinstance(part, Media):
        return _media_out(part)
    assert isinstance(part, NeutralThinking)
    return {"text": part.text, "thought": True}


def _call_out(call: Call) -> dict[str, Any]:
    function: dict[str, Any] = {"name": call.name, "args": call.arguments}
    if call.id is not None:
        function["id"] = call.id
    part: dict[str, Any] = {"functionCall": function}
    if call.signature is not None:
        part["thoughtSignature"] = call.signature
    return part


def _response(result: Result) -> dict[str, Any]:
    key = "error" if result.is_error else "output"
    response: dict[str, Any] = {"name": result.name, "response": {key: result_text(result)}}
    if result.id is not None:
        response["id"] = result.id
    if media := only(result.content, Media):
        response["parts"] = [_media_out(one) for one in media]
    return response


def _media_out(media: Media) -> dict[str, Any]:
    if media.raw is not None:
        return media.raw  # type: ignore[no-any-return]
    if media.url is not None:
        file = {"fileUri": media.url}
        if media.media_type:
            file["mimeType"] = media.media_type
        return {"fileData": file}
    return {"inlineData": {"mimeType": media.media_type, "data": media.data or ""}}


def decode_system(system: Any) -> Turn:
    content = system if isinstance(system, dict) else {"parts": system}
    parts = [NeutralText(system)] if isinstance(system, str) else decode(content).parts
    return Turn("instructions", parts, _NAME, system)


def encode_system(turns: Sequence[Turn]) -> Any:
    return {"parts": [{"text": joined(turn.parts)} for turn in turns]}


def extras(content: Any, deep: bool) -> list[str]:
    parts = items(mapping(content).get("parts")) if deep else []
    return leftovers([content, *parts], _KNOWN)


PROVIDER = ModelProvider(
    codec=Codec(_NAME, decode, decode_system, encode, encode_system, extras),
    rules=Rules(
        results="alone",
        result_name=True,
        error_flag=True,
        call_id=re.compile(r"[\s\S]+"),
        id_optional=True,
        id_repeats=True,
        name=re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
        empty_text=False,
        starts="not a call",
        ends_with_user=True,
        system="outside",
        sign="foreign",
        media=ALL_MEDIA,
        answer_media=ALL_MEDIA,
        by_url=ALL_MEDIA,
    ),
    families=(
        (r"gemini-([3-9]|\d\d)", {"sign": "all", "result_media": frozenset({"image", "document"})}),
        (r"gemini-2\.5", {"sign": "all"}),
    ),
    request=GeminiRequest,
    wire=WireNames("contents", "systemInstruction"),
    usage=UsageNames(
        "usageMetadata.promptTokenCount",
        "usageMetadata.candidatesTokenCount",
        "usageMetadata.cachedContentTokenCount",
        "",
        inclusive=True,
        thoughts="usageMetadata.thoughtsTokenCount",
    ),
    client="Gemini",
)
