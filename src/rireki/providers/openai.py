"""OpenAI Chat Completions: calls beside the content, results as messages of role `tool`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.providers.codec import Codec, ModelProvider, UsageNames, WireNames
from rireki.providers.kit import (
    NOBODY,
    arguments,
    data_url,
    dumps,
    first,
    from_data_url,
    items,
    joined,
    leftovers,
    mapping,
    names,
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
from rireki.providers.rules import IMAGES, OPENAI_SOUNDS, PDF, Rules
from rireki.providers.typed import OpenAIRequest

__all__ = ["PROVIDER"]

_NAME = "openai"
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "user",
    "function": "user",
}
#: Where vendors that speak this form put what their models thought.
_REASONING = ("reasoning_content", "reasoning")
_KNOWN = names(
    "role content tool_calls tool_call_id type text image_url input_audio file id function custom "
    "refusal function_call audio reasoning_content reasoning"
)
_SOUNDS = {form: media_type for media_type, form in reversed(OPENAI_SOUNDS.items())}


def decode(message: Any) -> Turn:
    if not isinstance(message, dict):
        return Turn("user", [Opaque(NOBODY, message)])
    role = string(message.get("role"))
    content = message.get("content")
    sendable = role in _ROLES and (content is None or isinstance(content, str | list))
    if role in ("tool", "function"):
        parts = [_result(message)]
    else:
        parts = _content(content)
        if role == "assistant":
            calls = _calls(message)
            said = _said(message)
            sendable = sendable and whole(calls) and _says(message, said, calls)
            parts = [*_thoughts(message), *parts, *said, *calls]
    return Turn(_ROLES.get(role, "user"), parts, _NAME, message if sendable else None)


def _content(content: Any) -> list[Part]:
    parts = loose_parts(content)
    return [_part(block) for block in content] if parts is None else parts


def _part(block: Any) -> Part:
    if isinstance(block, str):
        return NeutralText(block)
    kind = string(mapping(block).get("type"))
    if not kind:
        return Opaque(NOBODY, block)
    if kind == "text":
        return NeutralText(string(block.get("text")), raw=block)
    if kind == "refusal":
        return NeutralText(string(block.get("refusal")), raw=block)
    if kind == "image_url":
        media_type, data, url = from_data_url(string(mapping(block.get("image_url")).get("url")))
        return Media("image", media_type, data, url, raw=block)
    if kind == "input_audio":
        audio = mapping(block.get("input_audio"))
        form = string(audio.get("format"))
        media_type = _SOUNDS.get(form) or f"audio/{form}"
        return Media("audio", media_type, string(audio.get("data")), raw=block)
    if kind == "file":
        return _file(block)
    return Opaque(_NAME, block)


def _file(block: dict[str, Any]) -> Part:
    file = mapping(block.get("file"))
    media_type, data, url = from_data_url(string(file.get("file_data")))
    if data is None:
        return Opaque(_NAME, block)
    return Media("document", media_type, data, url, string(file.get("filename")), raw=block)


def _thoughts(message: dict[str, Any]) -> list[Part]:
    text = first(message, *_REASONING)
    return [NeutralThinking(text, provider=_NAME)] if isinstance(text, str) and text else []


def _said(message: dict[str, Any]) -> list[Part]:
    """What an answer has beside its content: a refusal, a sound."""
    parts: list[Part] = []
    if string(message.get("refusal")):
        parts.append(NeutralText(message["refusal"]))
    if message.get("audio"):
        audio = mapping(message["audio"])
        parts.append(Opaque(_NAME, audio, string(audio.get("transcript"))))
    return parts


def _says(message: dict[str, Any], said: list[Part], calls: list[Part]) -> bool:
    """Whether there is something beside thoughts; a list of calls, if there is one, has some."""
    if not calls and message.get("tool_calls") == []:
        return False
    return message.get("content") not in (None, []) or bool(said or calls)


def _calls(message: dict[str, Any]) -> list[Part]:
    calls = [_call(call) for call in items(message.get("tool_calls"))]
    old = message.get("function_call")
    if isinstance(old, dict):
        calls.append(Call(None, string(old.get("name")), arguments(old.get("arguments"))))
    return calls


def _call(call: Any) -> Part:
    if not isinstance(call, dict):
        return Opaque(NOBODY, call)
    identity = string(call.get("id")) or None
    if call.get("type") == "custom":
        custom = mapping(call.get("custom"))
        given = {"input": string(custom.get("input"))}
        return Call(identity, string(custom.get("name")), given, raw=call)
    function = mapping(call.get("function"))
    given = arguments(function.get("arguments"))
    sendable = isinstance(function.get("arguments"), str)
    return Call(identity, string(function.get("name")), given, raw=call if sendable else None)


def _result(message: dict[str, Any]) -> Part:
    content: list[Any] = [
        part if isinstance(part, NeutralText | Media | Opaque) else Opaque(_NAME, part.raw)
        for part in _content(message.get("content"))
    ]
    identity = string(message.get("tool_call_id")) or None
    return Result(identity, string(message.get("name")) or None, content)


def encode(turn: Turn) -> list[Any]:
    if turn.role == "assistant":
        return [_answer(turn)]
    messages: list[Any] = []
    rest: list[Part] = []
    for part in turn.parts:
        if isinstance(part, Result):
            messages.append({"role": "tool", "tool_call_id": part.id, "content": _output(part)})
        else:
            rest.append(part)
    if rest or not messages:
        role = "system" if turn.role == "instructions" else turn.role
        messages.append({"role": role, "content": _blocks(rest)})
    return messages


def _answer(turn: Turn) -> dict[str, Any]:
    said: list[Part] = []
    calls: list[Any] = []
    thoughts: list[str] = []
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for part in turn.parts:
        if isinstance(part, Call):
            calls.append(_call_out(part))
        elif isinstance(part, NeutralThinking):
            thoughts.append(part.text)
        elif isinstance(part, Opaque) and "type" not in part.raw:
            # A sound; of several, the last one is named.
            message["audio"] = {"id": string(part.raw.get("id"))}
        elif not isinstance(part, Result):
            said.append(part)
    message["content"] = _words(said)
    if thoughts:
        message[_REASONING[0]] = "\n\n".join(thoughts)
    if calls:
        message["content"] = message["content"] or None
        message["tool_calls"] = calls
    return message


def _words(parts: Sequence[Part]) -> Any:
    """One string, if it can be: many servers that speak this form take nothing else here."""
    for part in parts:
        if part.raw is not None or not isinstance(part, NeutralText):
            return _blocks(parts)
    return joined(parts)


def _call_out(call: Call) -> dict[str, Any]:
    if call.raw is not None:
        return call.raw  # type: ignore[no-any-return]
    function = {"name": call.name, "arguments": dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _output(result: Result) -> Any:
    for inner in result.content:
        if inner.raw is not None:
            return [_block(one) for one in result.content]
    return result_text(result)


def _blocks(parts: Sequence[Part]) -> Any:
    """A string where there is one text and nothing else, as people write it."""
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], NeutralText) and parts[0].raw is None:
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Part) -> Any:
    if part.raw is not None:
        return part.raw
    if isinstance(part, Media):
        return _media(part)
    assert isinstance(part, NeutralText)
    return {"type": "text", "text": part.text}


def _media(part: Media) -> dict[str, Any]:
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    if part.kind == "audio":
        sound = {"data": part.data or "", "format": OPENAI_SOUNDS[part.media_type]}
        return {"type": "input_audio", "input_audio": sound}
    file = {"filename": part.name or "document.pdf", "file_data": data_url(part)}
    return {"type": "file", "file": file}


def decode_system(system: Any) -> Turn:
    return Turn("instructions", _content(system))


def extras(message: Any, deep: bool) -> list[str]:
    value = mapping(message)
    inner = [*items(value.get("content")), *items(value.get("tool_calls"))] if deep else []
    # A tool's name is part of a result; anybody else's name has no place.
    known = _KNOWN | {"name"} if value.get("role") in ("tool", "function") else _KNOWN
    return leftovers([value, *inner], known)


PROVIDER = ModelProvider(
    codec=Codec(_NAME, decode, decode_system, encode, None, extras),
    rules=Rules(
        results="consecutive",
        call_id=re.compile(r"[\s\S]{1,40}"),
        id_repeats=True,
        media=frozenset({"image", "document", "audio"}),
        by_url=frozenset({"image"}),
        types={"image": IMAGES, "document": PDF, "audio": OPENAI_SOUNDS},
    ),
    request=OpenAIRequest,
    wire=WireNames("messages", ""),
    usage=UsageNames(
        "usage.prompt_tokens",
        "usage.completion_tokens",
        "usage.prompt_tokens_details.cached_tokens",
        "",
        inclusive=True,
    ),
    client="OpenAI",
)
