"""Messages of Kiro's second engine: lists of content blocks, as messages of ours."""

from __future__ import annotations

from typing import Any

import msgspec

from rireki.model.message import Entry, Message
from rireki.model.parts import Notice, Part, Text, Thinking, ToolCall, Unknown
from rireki.model.times import from_ms
from rireki.sources.amazon_q.draft import Draft, PictureStore, prompt, result
from rireki.sources.amazon_q.outputs import output_of, says_error
from rireki.sources.amazon_q.synthetic import rule_of_answer
from rireki.sources.kit.decode import fit

__all__ = ["ContentBlock", "LogMessage", "drafts_of_message"]


class ContentBlock(msgspec.Struct, frozen=True):
    kind: str = ""
    data: Any = None


class Meta(msgspec.Struct, frozen=True):
    #: Unix seconds.
    timestamp: float | None = None
    additional_context: str | None = msgspec.field(default=None, name="additionalContext")


class LogMessage(msgspec.Struct, frozen=True):
    """A message in the log, or in the snapshot that a compaction took."""

    message_id: str | None = None
    id: str | None = None
    role: str | None = None
    content: list[ContentBlock] = []
    meta: Meta | None = None
    #: By call id: what the engine itself knows of each result.
    results: dict[str, Any] | None = None

    @property
    def name(self) -> str | None:
        return self.message_id or self.id

    @property
    def at(self) -> str | None:
        moment = self.meta.timestamp if self.meta else None
        return from_ms(moment * 1000) if moment else None


class ToolUseBlock(msgspec.Struct, frozen=True):
    id: str = msgspec.field(default="", name="toolUseId")
    name: str = ""
    input: Any = None


class ToolResultBlock(msgspec.Struct, frozen=True):
    id: str = msgspec.field(default="", name="toolUseId")
    content: list[ContentBlock] = []
    status: str = "success"


class ImageSource(msgspec.Struct, frozen=True):
    kind: str = ""
    data: list[int] = []


class ImageBlock(msgspec.Struct, frozen=True):
    source: ImageSource
    format: str = "png"


class Thought(msgspec.Struct, frozen=True):
    text: str | None = ""
    signature: Any = None
    redacted: Any = msgspec.field(default=None, name="redactedContent")
    model: str | None = msgspec.field(default=None, name="modelId")


def drafts_of_message(
    message: LogMessage, role: str, name: str, position: int, pictures: PictureStore
) -> list[Draft]:
    if role == "assistant":
        drafts = [_answer(message, name, position, pictures)]
    elif message.results or any(block.kind == "toolResult" for block in message.content):
        drafts = _results(message, name, position, pictures)
    else:
        drafts = _prompt(message, name, position, pictures)
    for draft in drafts:
        draft.group = name
    return drafts


def _prompt(message: LogMessage, name: str, position: int, pictures: PictureStore) -> list[Draft]:
    context = message.meta.additional_context if message.meta else None
    flags = ("hook context", "Prompt") if context else ("Prompt",)
    typed = prompt(name, _text(message.content), message.at, position, flags)
    typed.message.parts += _others(message.content, pictures)
    return [*([_hook(f"{name}-h", context, message, position)] if context else []), typed]


def _hook(name: str, context: str, message: LogMessage, position: int) -> Draft:
    return Draft(
        Message(
            id=name,
            author="harness",
            display="chip",
            label="hook context",
            at=message.at,
            parts=[Text(context)],
            entry=Entry(position, "context", ("additionalContext",), "hook context"),
        )
    )


def _results(message: LogMessage, name: str, position: int, pictures: PictureStore) -> list[Draft]:
    """Results of calls, and what a person typed instead of allowing them."""
    text = _text(message.content)
    flags = ("ToolResults",)
    parts: list[Part] = []
    told: set[str] = set()
    for block in message.content:
        if block.kind == "toolResult":
            parts += _result(block, message.results or {}, told, pictures)
    parts += _untold(message.results or {}, told)
    parts += _others(message.content, pictures)
    drafts = [
        Draft(
            Message(
                id=f"{name}-r" if text else name,
                author="tool",
                display="fold",
                at=message.at,
                parts=parts,
                entry=Entry(position, "user", flags, "tool results"),
            ),
            ends=False,
        )
    ]
    return [*drafts, prompt(name, text, message.at, position, flags)] if text else drafts


def _result(
    block: ContentBlock, known: dict[str, Any], told: set[str], pictures: PictureStore
) -> list[Part]:
    found = fit(block.data, ToolResultBlock)
    if found is None:
        return [Unknown(block.kind, block.data)]
    told.add(found.id)
    output = "\n".join(
        output_of(item.data) for item in found.content if item.kind in ("text", "json")
    )
    cancelled = _engine_result(known.get(found.id)) == "Cancelled"
    failed = found.status != "success" or any(says_error(item.data) for item in found.content)
    return [
        result(found.id, output, failed, cancelled),
        *_others(found.content, pictures),
    ]


def _untold(known: dict[str, Any], told: set[str]) -> list[Part]:
    """Results that only the engine's own list holds."""
    return [
        _engine_told(call, _engine_result(value))
        for call, value in known.items()
        if call not in told
    ]


def _engine_result(value: Any) -> Any:
    return value.get("result") if isinstance(value, dict) else None


def _engine_told(call: str, value: Any) -> Part:
    items = _items(value)
    failed = (isinstance(value, dict) and "Error" in value) or any(map(says_error, items))
    return result(call, "\n".join(map(output_of, items)), failed, value == "Cancelled")


def _items(value: Any) -> list[Any]:
    """The outputs inside `{"Success": {"items": [{"Text": …}]}}`."""
    success = value.get("Success") if isinstance(value, dict) else None
    items = success.get("items") if isinstance(success, dict) else None
    if not isinstance(items, list):
        return [value]
    return [next(iter(item.values()), "") if isinstance(item, dict) else item for item in items]


def _answer(message: LogMessage, name: str, position: int, pictures: PictureStore) -> Draft:
    text = _text(message.content)
    made_up = rule_of_answer(text)
    parts: list[Part] = []
    model: str | None = None
    names: list[str] = []
    for block in message.content:
        if block.kind == "text":
            parts += [Text(block.data)] if isinstance(block.data, str) and block.data else []
        elif block.kind == "toolUse" and (use := fit(block.data, ToolUseBlock)) is not None:
            names.append(use.name)
            parts.append(ToolCall(use.id, use.name, use.input))
        elif block.kind == "thinking" and (thought := fit(block.data, Thought)) is not None:
            model = thought.model or model
            parts += _thinking(thought)
        else:
            parts += _others([block], pictures)
    return Draft(
        Message(
            id=name,
            author="harness" if made_up else "agent",
            display="chip" if made_up else "bubble",
            label=made_up.label if made_up else None,
            at=message.at,
            model=model,
            parts=parts,
            entry=Entry(position, "assistant", (), made_up.name if made_up else "answer"),
        ),
        ends=not names,
        witness=("agent", text or ",".join(names)),
        answer=message.name,
    )


def _thinking(thought: Thought) -> list[Part]:
    if thought.text:
        return [Thinking(thought.text)]
    return [Notice("The provider withheld the thinking.")] if thought.redacted else []


def _text(content: list[ContentBlock]) -> str:
    return "\n".join(
        block.data for block in content if block.kind == "text" and isinstance(block.data, str)
    )


def _others(content: list[ContentBlock], pictures: PictureStore) -> list[Part]:
    """Pictures, and blocks that we do not know."""
    parts: list[Part] = []
    for block in content:
        if block.kind == "image" and (image := fit(block.data, ImageBlock)) is not None:
            parts.append(pictures.add(image.source.data, image.format))
        elif block.kind not in ("text", "json", "toolResult"):
            parts.append(Unknown(block.kind or "block without a kind", block.data))
    return parts
