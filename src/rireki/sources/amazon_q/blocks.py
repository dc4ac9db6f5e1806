"""What Kiro's second engine writes: messages of content blocks, and the session file, as types.

Every field of the session file is optional. A `session_state` of a version we do not know stays
closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rireki.model.conversation import Answer
from rireki.model.message import Entry, Usage
from rireki.model.parts import Part, Text, ToolCall, Unknown
from rireki.model.times import from_iso, from_ms
from rireki.sources.amazon_q.pending import (
    SavedMessage,
    answer,
    hook,
    make,
    output_of,
    prompt,
    result,
    rule_of_answer,
    says_error,
    thinking,
)
from rireki.sources.kit.decode import fit, fit_loosely
from rireki.sources.kit.fields import amount, get, items, string
from rireki.sources.kit.pending import RESULTS
from rireki.sources.kit.pictures import Pictures

__all__ = [
    "KiroSession",
    "LogMessage",
    "credit_answer",
    "credits_in",
    "drafts_of_message",
    "open_session",
]

#: What Kiro counts in place of tokens.
CREDIT = "credit"


class TurnMetadata(msgspec.Struct, frozen=True):
    """One turn, as the engine summed it up when it ended."""

    result: Any = None
    end_timestamp: str | None = None
    #: Often 0 although a model answered.
    input_token_count: int | None = None
    output_token_count: int | None = None
    metering_usage: Any = None

    @property
    def answer(self) -> str | None:
        """The id of the message that ended the turn."""
        return string(get(self.result, "Ok"), "id") or None

    @property
    def credits(self) -> float:
        metered = self.metering_usage if isinstance(self.metering_usage, list) else []
        return credits_in(metered, "value")

    @property
    def usage(self) -> Usage | None:
        tokens = (_plausible(self.input_token_count), _plausible(self.output_token_count))
        return Usage(*tokens) if any(tokens) else None


def credits_in(metered: Sequence[Any], name: str) -> float:
    """The credits of entries that say what was used, and in which unit."""
    return sum(amount(one, name) for one in metered if string(one, "unit") == CREDIT)


def credit_answer(run: str, model: str, at: str | None, credits: float) -> Answer:
    """Credits of a run, whose tokens nobody counted. The same run may stand in several stores."""
    return Answer(f"credits:{run}", model, Usage(), at, unit=CREDIT, amount=credits)


def _plausible(count: int | None) -> int:
    return count if count is not None and 0 <= count < 1 << 53 else 0


class KiroSession(msgspec.Struct, frozen=True):
    session_id: str | None = None
    cwd: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    title: str | None = None
    exported_from_v1: bool | None = None
    parent_session_id: str | None = None
    session_created_reason: str | None = None
    session_state: Any = None

    @property
    def state(self) -> Any:
        """The inner state, where its version is one we know."""
        return self.session_state if get(self.session_state, "version") == "v1" else None

    @property
    def model(self) -> str | None:
        return string(get(self.state, "rts_model_state", "model_info"), "model_id") or None

    @property
    def turns(self) -> list[TurnMetadata]:
        told = items(get(self.state, "conversation_metadata"), "user_turn_metadatas")
        return [fit_loosely(one, TurnMetadata)[0] for one in told]

    @property
    def is_subagent(self) -> bool:
        return bool(self.parent_session_id) and self.session_created_reason == "subagent"

    def answers(self, conversation: str) -> list[Answer]:
        """The turns whose tokens or credits were counted."""
        return [
            Answer(
                turn.answer or f"{conversation}:{number}",
                self.model or "",
                turn.usage or Usage(),
                from_iso(turn.end_timestamp),
                unit=CREDIT if turn.credits else "",
                amount=turn.credits,
            )
            for number, turn in enumerate(self.turns, 1)
            if turn.usage is not None or turn.credits
        ]


def open_session(value: Any) -> KiroSession:
    opened, _ = fit_loosely(value, KiroSession)
    return opened


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
    redacted: Any = msgspec.field(default=None, name="redactedContent")
    model: str | None = msgspec.field(default=None, name="modelId")


def drafts_of_message(
    message: LogMessage, role: str, name: str, position: int, pictures: Pictures
) -> list[SavedMessage]:
    if role == "assistant":
        drafts = [_answer(message, name, position, pictures)]
    elif message.results or any(block.kind == "toolResult" for block in message.content):
        drafts = _results(message, name, position, pictures)
    else:
        drafts = _prompt(message, name, position, pictures)
    for draft in drafts:
        draft.group = name
    return drafts


def _prompt(
    message: LogMessage, name: str, position: int, pictures: Pictures
) -> list[SavedMessage]:
    context = message.meta.additional_context if message.meta else None
    flags = ("hook context", "Prompt") if context else ("Prompt",)
    typed = prompt(name, _text(message.content), message.at, position, flags)
    typed.message.parts += _others(message.content, pictures)
    if not context:
        return [typed]
    return [hook(f"{name}-h", context, message.at, position, "additionalContext"), typed]


def _results(
    message: LogMessage, name: str, position: int, pictures: Pictures
) -> list[SavedMessage]:
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
    entry = Entry(position, "user", flags, RESULTS)
    own = f"{name}-r" if text else name
    drafts = [make(own, "tool", "fold", parts, entry, at=message.at, ends=False)]
    return [*drafts, prompt(name, text, message.at, position, flags)] if text else drafts


def _result(
    block: ContentBlock, known: dict[str, Any], told: set[str], pictures: Pictures
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


def _answer(message: LogMessage, name: str, position: int, pictures: Pictures) -> SavedMessage:
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
            parts += thinking(thought.text, thought.redacted)
        else:
            parts += _others([block], pictures)
    draft = answer(
        name,
        parts,
        position,
        text=text,
        names=names,
        made_up=made_up,
        synthetic=made_up is not None,
        at=message.at,
        model=model,
    )
    draft.ends, draft.answer = not names, message.name
    return draft


def _text(content: list[ContentBlock]) -> str:
    return "\n".join(
        block.data for block in content if block.kind == "text" and isinstance(block.data, str)
    )


def _others(content: list[ContentBlock], pictures: Pictures) -> list[Part]:
    """Pictures, and blocks that we do not know."""
    parts: list[Part] = []
    for block in content:
        if block.kind == "image" and (image := fit(block.data, ImageBlock)) is not None:
            parts.append(pictures.add_numbers(image.source.data, f"image/{image.format.lower()}"))
        elif block.kind not in ("text", "json", "toolResult"):
            parts.append(Unknown(block.kind or "block without a kind", block.data))
    return parts
