"""OpenAI Responses: a flat list of items, each a message, a thought, a call or an output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rireki.providers.codec import Codec, ModelProvider, UsageNames, WireNames
from rireki.providers.kit import (
    NOBODY,
    arguments,
    data_url,
    dumps,
    from_data_url,
    items,
    joined,
    leftovers,
    mapping,
    names,
    result_text,
    string,
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
from rireki.providers.own_tools import OUTPUTS, output_like, own_call, own_result, without_halves
from rireki.providers.rules import IMAGES, PDF, Rules
from rireki.providers.typed import ResponsesRequest

__all__ = ["PROVIDER"]

_NAME = "responses"
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
#: What the server's own ids begin with; an item with another id is rejected.
_PREFIXES = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_"}
_KNOWN = names(
    "type role content id status text summary encrypted_content call_id name arguments input output "
    "image_url file_data filename file_url detail refusal phase action operation"
)


def decode(item: Any) -> Turn:
    if not isinstance(item, dict):
        return Turn("user", [Opaque(NOBODY, item)])
    kind = string(item.get("type")) or "message"
    if kind == "message":
        return _message(item)
    part = _part(kind, item if _own_id(kind, item) else _without_id(item))
    role: Role = "user" if kind.endswith("_output") else "assistant"
    return Turn(role, [part], _NAME, part.raw)


def _without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "id"}


def _own_id(kind: str, item: dict[str, Any]) -> bool:
    identity = item.get("id")
    return identity is None or string(identity).startswith(_PREFIXES.get(kind, ""))


def _message(item: dict[str, Any]) -> Turn:
    content = item.get("content")
    role = _ROLES.get(string(item.get("role")), "user")
    parts = loose_parts(content)
    if parts is None:
        parts = [_block(block) for block in items(content)]
    known = string(item.get("role")) in _ROLES and _own_id("message", item)
    sendable = known and isinstance(content, str | list)
    return Turn(role, parts, _NAME, item if sendable else None)


def _block(block: Any) -> Part:
    if isinstance(block, str):
        return NeutralText(block)
    kind = string(mapping(block).get("type"))
    if not kind:
        return Opaque(NOBODY, block)
    if kind in ("input_text", "output_text", "text"):
        return NeutralText(string(block.get("text")), raw=block)
    if kind == "refusal":
        return NeutralText(string(block.get("refusal")), raw=block)
    if kind == "input_image" and block.get("image_url"):
        media_type, data, url = from_data_url(string(block.get("image_url")))
        return Media("image", media_type, data, url, raw=block)
    if kind == "input_file" and (block.get("file_data") or block.get("file_url")):
        given = string(block.get("file_data")) or string(block.get("file_url"))
        media_type, data, url = from_data_url(given)
        return Media("document", media_type, data, url, string(block.get("filename")), raw=block)
    return Opaque(_NAME, block)


def _part(kind: str, item: dict[str, Any]) -> Part:
    read = _ITEMS.get(kind)
    return read(item) if read is not None else Opaque(_NAME, item, _told(item))


def _reasoning(item: dict[str, Any]) -> Part:
    blocks = items(item.get("summary")) or items(item.get("content"))
    text = "\n\n".join(string(mapping(block).get("text")) for block in blocks)
    if "id" not in item:
        # Reasoning is nothing but what the server keeps under its id.
        return NeutralThinking(text)
    return NeutralThinking(
        text, string(item.get("encrypted_content")) or None, None, _NAME, raw=item
    )


def _call(item: dict[str, Any]) -> Part:
    identity = string(item.get("call_id")) or None
    given = item.get("arguments")
    sendable = item if isinstance(given, str) else None
    return Call(identity, string(item.get("name")), arguments(given), raw=sendable)


def _result(item: dict[str, Any]) -> Result:
    output = item.get("output")
    content: list[Any] = loose_parts(output) or [_block(block) for block in items(output)]
    return Result(string(item.get("call_id")) or None, None, content, raw=item)


_ITEMS: dict[str, Callable[[dict[str, Any]], Part]] = {
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": own_call,
    "shell_call": own_call,
    "local_shell_call": own_call,
    "apply_patch_call": own_call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "shell_call_output": own_result,
    "local_shell_call_output": own_result,
    "apply_patch_call_output": own_result,
}
_ANSWERS = frozenset(OUTPUTS.values())


def _told(item: dict[str, Any]) -> str:
    """What other models can be told of an item that the server's own tools made."""
    if item.get("type") == "mcp_call":
        return (
            f"[tool {string(item.get('name'))}({string(item.get('arguments'))})]\n"
            f"{string(item.get('output'))}"
        )
    if item.get("type") == "code_interpreter_call":
        return string(item.get("code"))
    return ""


def encode(turn: Turn) -> list[Any]:
    return list(_items(turn))


def _items(turn: Turn) -> Iterator[Any]:
    said: list[Part] = []
    for part in turn.parts:
        if isinstance(part, (NeutralText, Media)) or _is_block(part):
            said.append(part)
            continue
        yield from _said(turn.role, said)
        said = []
        yield _item(part)
    yield from _said(turn.role, said)


def _is_block(part: Part) -> bool:
    kind = string(mapping(part.raw).get("type")) if isinstance(part, Opaque) else ""
    return kind.startswith("input_")


def _said(role: Role, parts: list[Part]) -> Iterator[Any]:
    if not parts:
        return
    role_out = "system" if role == "instructions" else role
    if role == "assistant":
        # The server's own ids are gone; only this plain form does without them.
        yield {"role": role_out, "content": joined(parts)}
    else:
        yield {"role": role_out, "content": [_block_out(part) for part in parts]}


def _item(part: Part) -> Any:
    if part.raw is not None:
        return part.raw
    if isinstance(part, Call):
        given = dumps(part.arguments)
        return {
            "type": "function_call",
            "call_id": part.id,
            "name": part.name,
            "arguments": given,
        }
    assert isinstance(part, Result)
    media = any(not isinstance(inner, NeutralText) for inner in part.content)
    output = [_block_out(inner) for inner in part.content] if media else result_text(part)
    return {"type": "function_call_output", "call_id": part.id, "output": output}


def _block_out(part: Part) -> Any:
    if part.raw is not None:
        return part.raw
    if isinstance(part, NeutralText):
        return {"type": "input_text", "text": part.text}
    assert isinstance(part, Media)
    if part.kind == "image":
        return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
    if part.url is not None:
        return {"type": "input_file", "file_url": part.url}
    name = part.name or "document.pdf"
    return {"type": "input_file", "filename": name, "file_data": data_url(part)}


def settle(messages: list[Any]) -> list[Any]:
    """Outputs of the kind that their calls ask for: who answered may not have known it."""
    wanted: dict[str, str] = {}
    settled: list[Any] = []
    for item in messages:
        kind, identity = string(item.get("type")), string(item.get("call_id"))
        if kind in OUTPUTS:
            wanted[identity] = OUTPUTS[kind]
        elif kind in _ANSWERS and (target := wanted.get(identity, kind)) != kind:
            item = output_like(target, _ITEMS[kind](item), item.get("output"))  # type: ignore[arg-type]
        settled.append(item)
    return settled


def decode_system(system: Any) -> Turn:
    return Turn("instructions", loose_parts(system) or [], _NAME, system)


def encode_system(turns: Sequence[Turn]) -> Any:
    return "\n\n".join(joined(turn.parts) for turn in turns)


def extras(item: Any, deep: bool) -> list[str]:
    blocks = items(mapping(item).get("content")) if deep else []
    return leftovers([item, *blocks], _KNOWN)


PROVIDER = ModelProvider(
    codec=Codec(
        _NAME, decode, decode_system, encode, encode_system, extras, settle, without_halves
    ),
    rules=Rules(
        results="anywhere",
        call_id=re.compile(r"[\s\S]{1,64}"),
        join=frozenset(),
        thinking_leads=True,
        thinking_elsewhere=True,
        media=frozenset({"image", "document"}),
        result_media=frozenset({"image", "document"}),
        by_url=frozenset({"image", "document"}),
        types={"image": IMAGES, "document": PDF},
    ),
    request=ResponsesRequest,
    wire=WireNames("input", "instructions"),
    usage=UsageNames(
        "usage.input_tokens",
        "usage.output_tokens",
        "usage.input_tokens_details.cached_tokens",
        "",
        inclusive=True,
    ),
    client="Responses",
)
