"""What programs hand to a history, as the messages it keeps: dicts, objects, answers, pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rireki.errors import RirekiError
from rireki.history import late

__all__ = [
    "ModelInput",
    "checked_provider",
    "copied",
    "kind_of",
    "mended_block",
    "read_given",
    "read_result",
    "result_block",
    "with_images",
]

_KINDS = {
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
#: What only a part of Gemini's is called.
_GEMINI = frozenset(
    {"functionCall", "functionResponse", "function_call", "function_response", "inlineData"}
    | {"fileData", "executableCode", "codeExecutionResult", "thought", "thoughtSignature"}
)
#: Blocks of Bedrock's: nothing but their one name tells what they are.
_BEDROCK = frozenset(
    {"image", "document", "video", "audio", "toolUse", "toolResult", "reasoningContent"}
    | {"cachePoint", "guardContent", "citationsContent", "searchResult"}
)
#: What holds what a tool returned.
_RESPONSE = frozenset({"functionResponse", "function_response", "toolResult"})
#: Never a message; as JSON they would look like text.
_BYTES = (bytes, bytearray, memoryview)
#: How files of pictures begin.
_MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


class ModelInput(NamedTuple):
    """A message, or an answer that holds some; and whose it is, where that was found out."""

    raw: Any
    provider: str | None = None
    answer: bool = False


def read_given(message: Any, provider: str | None = None) -> list[ModelInput]:
    """What `add_raw_message` was given, as it is to be kept."""
    if type(message) is dict and "role" in message and "stop_reason" not in message:
        return [ModelInput(message)]
    value = late.providers.plain(message) if not isinstance(message, _BYTES) else None
    if isinstance(value, list) and value and all(map(_is_message, value)):
        return [given for item in value for given in read_given(item, provider)]
    if isinstance(value, str | list) or late.loose.is_prompt_json(value):
        return [ModelInput(_spoken(value, provider))]
    if not isinstance(value, dict):
        raise RirekiError("no-message", kind=type(message).__name__)
    found, inner = late.providers.unwrap(value)
    if _is_block(value) and provider != "responses":
        return [ModelInput(_spoken([value], provider))]
    return [ModelInput(value, found, answer=not (len(inner) == 1 and inner[0] is value))]


def _is_message(value: Any) -> bool:
    """Whether it is a message by itself, and not a block of one."""
    return isinstance(value, dict) and ("role" in value or late.providers.is_item(value))


def _is_block(value: dict[str, Any]) -> bool:
    """Whether it is a piece of a message, and not a message by itself."""
    if _is_message(value):
        return False
    if isinstance(value.get("type"), str) or value.keys() & _GEMINI:
        return True
    # Gemini's texts and Bedrock's look the same.
    named = (isinstance(value[name], dict) for name in value.keys() & _BEDROCK)
    return isinstance(value.get("text"), str) or any(named)


def _spoken(content: Any, provider: str | None) -> dict[str, Any]:
    """What a model said, or tools returned, without the frame that says so."""
    given = content if isinstance(content, list) else []
    blocks = [block for block in given if isinstance(block, dict)]
    returned = bool(blocks) and all(map(_is_returned, blocks))
    if blocks and (provider == "gemini" or any(block.keys() & _GEMINI for block in blocks)):
        return {"role": "user" if returned else "model", "parts": content}
    return {"role": "user" if returned else "assistant", "content": content}


def _is_returned(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_result" or bool(block.keys() & _RESPONSE)


def kind_of(given: ModelInput) -> str:
    """The kind of entry it becomes: who spoke."""
    if given.answer:
        return "assistant"
    role, kind = given.raw.get("role"), given.raw.get("type")
    if isinstance(role, str):
        return _KINDS.get(role, "user")
    return "tool" if isinstance(kind, str) and kind.endswith("_output") else "assistant"


def result_block(
    tool_use_id: str, result: Any, tool_name: str, is_error: bool, images: Iterable[Any]
) -> dict[str, Any]:
    block = {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "tool_name": tool_name,
        "content": with_images(result, images),
    }
    return {**block, "is_error": True} if is_error else block


def read_result(result: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """One of the results that `add_tool_results` was given."""
    if not isinstance(result, Mapping):
        tool_use_id, said, *name = result
        return result_block(tool_use_id, said, name[0] if name else "unknown", False, ())
    return result_block(
        result["tool_use_id"],
        result["result"] if "result" in result else result.get("content", ""),
        result.get("tool_name", "unknown"),
        bool(result.get("is_error")),
        result.get("images", ()),
    )


def mended_block(result: Any) -> dict[str, Any]:
    """The result that a repair made up for a call that was cut off."""
    said = "\n".join(part.text for part in result.content)
    return result_block(result.id or "", said, result.name or "", True, ())


def checked_provider(provider: str | None) -> None:
    if provider is None:
        return
    if provider not in late.providers.PROVIDERS:
        known = ", ".join(late.providers.PROVIDERS)
        raise RirekiError("no-provider", name=provider, names=known)


def with_images(content: Any, images: Iterable[Any]) -> Any:
    """The content as it is, or as blocks with pictures behind it."""
    pictures = [_image(image) for image in images]
    if not pictures:
        return content
    said = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return [*said, *pictures]


def _image(image: Any) -> dict[str, Any]:
    """A picture given as bytes, as (media type, bytes), or as a block."""
    if isinstance(image, Mapping):
        return dict(image)
    media_type, data = image if isinstance(image, tuple) else (None, image)
    if not isinstance(data, bytes | bytearray):
        raise RirekiError("no-picture", kind=type(data).__name__)
    media_type = media_type or _media_type(bytes(data))
    source = {
        "type": "base64",
        "media_type": media_type,
        "data": late.base64.b64encode(data).decode(),
    }
    return {"type": "image", "source": source}


def _media_type(data: bytes) -> str:
    # Sounds and films begin with RIFF as well.
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for start, media_type in _MAGIC.items():
        if data.startswith(start):
            return media_type
    raise RirekiError("which-picture", bytes=data[:4].hex())


def copied(value: Any) -> Any:
    """A copy in which nothing is shared; of JSON several times as fast as copy.deepcopy."""
    kind = type(value)
    if kind is dict:
        # Most of what there is are texts, in dicts.
        new = value.copy()
        for name, inner in value.items():
            if type(inner) is not str:
                new[name] = copied(inner)
        return new
    if kind is list:
        return [copied(inner) for inner in value]
    if kind is str or kind is int or kind is bool or kind is float or value is None:
        return value
    return late.copy.deepcopy(value)
