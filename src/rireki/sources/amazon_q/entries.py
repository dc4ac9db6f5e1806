"""One history entry (what went to the model and what came back) as messages.

An entry has a user side and an assistant side. Here each becomes the messages a
person sees; in which order the entries stand, and which of them the source
still has, is decided elsewhere. Fields have the source's own names; all are optional,
and those that say nothing to people are left out: the raw bytes are the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

from rireki.model.message import Entry
from rireki.model.parts import Part, Text, ToolCall, Unknown
from rireki.model.times import from_iso, from_ms
from rireki.sources.amazon_q.pending import (
    PUT_IN,
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
from rireki.sources.kit.decode import NotReadable, fit_loosely, load, text_of
from rireki.sources.kit.digests import digest_of_json
from rireki.sources.kit.fields import get
from rireki.sources.kit.pending import NOT_UNDERSTOOD, RESULTS
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.rules import TextRule

__all__ = ["RequestMetadata", "Said", "drafts_of", "open_entry", "user_drafts"]

_MARKS = ("--- CONTEXT ENTRY BEGIN ---", "--- CONTEXT ENTRY END ---")


class RequestMetadata(msgspec.Struct, frozen=True):
    """What the client noted about one request, from 1.13 on. There are no token counts."""

    request_start_timestamp_ms: int | None = None
    stream_end_timestamp_ms: int | None = None
    model_id: str | None = None
    message_meta_tags: list[str] | None = None


class EnvState(msgspec.Struct, frozen=True):
    operating_system: str | None = None
    current_working_directory: str | None = None


class EnvContext(msgspec.Struct, frozen=True):
    env_state: EnvState | None = None


class ImageBytes(msgspec.Struct, frozen=True):
    #: A JSON list of integers, one per byte.
    bytes: list[int] | UnsetType = field(default=UNSET, name="Bytes")


class SavedImage(msgspec.Struct, frozen=True):
    format: str = "Png"
    source: ImageBytes | str = ""


class ResultBlock(msgspec.Struct, frozen=True):
    """A piece of a tool's output: exactly one of the two."""

    text: Any = field(default=UNSET, name="Text")
    json: Any = field(default=UNSET, name="Json")


class ToolUseResult(msgspec.Struct, frozen=True):
    tool_use_id: str | None = None
    content: list[ResultBlock] | None = None
    status: str | None = "Success"


class ToolUseResults(msgspec.Struct, frozen=True):
    """Of calls that were made, or cancelled: then with what was typed instead."""

    prompt: str | None = None
    tool_use_results: list[ToolUseResult] | None = None


class PromptContent(msgspec.Struct, frozen=True):
    prompt: str | None = None


class UserContent(msgspec.Struct, frozen=True):
    """What the user side holds: exactly one of the three."""

    prompt: PromptContent | UnsetType = field(default=UNSET, name="Prompt")
    results: ToolUseResults | UnsetType = field(default=UNSET, name="ToolUseResults")
    cancelled: ToolUseResults | UnsetType = field(default=UNSET, name="CancelledToolUses")


class UserMessage(msgspec.Struct, frozen=True):
    content: UserContent = UserContent()
    #: Output of per-prompt hooks; nobody typed it.
    additional_context: str | None = ""
    env_context: EnvContext | None = None
    #: From 1.13.2: UTC first, with local offset from 1.15; often null.
    timestamp: str | None = None
    images: list[SavedImage] | None = None


class SavedThinking(msgspec.Struct, frozen=True):
    text: str | None = ""
    redacted_content: Any = None


class SavedToolUse(msgspec.Struct, frozen=True):
    """A call. `name` and `args` are what the backend sees, and get rewritten later."""

    id: str | None = None
    name: str | None = None
    orig_name: str | None = None
    args: Any = None
    orig_args: Any = UNSET


class Response(msgspec.Struct, frozen=True):
    """Both kinds of answer; a plain one has no `tool_uses`. The id is null where the client made it up."""

    message_id: str | UnsetType | None = UNSET
    content: str | None = ""
    tool_uses: list[SavedToolUse] | None = None
    thinking: SavedThinking | None = None


class AssistantMessage(msgspec.Struct, frozen=True):
    """Exactly one of the two."""

    response: Response | UnsetType = field(default=UNSET, name="Response")
    tool_use: Response | UnsetType = field(default=UNSET, name="ToolUse")


@dataclass
class Said:
    """A history entry, opened."""

    digest: bytes
    user: Any
    assistant: Any
    metadata: RequestMetadata
    #: Whether anything was noted of a request for it.
    requested: bool
    answer: str | None

    @cached_property
    def identity(self) -> str:
        """What stays the same when the source rewrites the entry.

        A newer client rewrites old pairs as objects, so an entry without an id is
        known by what was said, not by its shape.
        """
        if self.answer is not None:
            return self.answer
        content = self.user.get("content") if isinstance(self.user, dict) else self.user
        return f"e{digest_of_json(text_of([content, self.assistant]).encode()).hex()[:8]}"

    @property
    def at(self) -> str | None:
        return _from_ms(self.metadata.stream_end_timestamp_ms)

    @property
    def in_tangent(self) -> bool:
        return "TangentMode" in (self.metadata.message_meta_tags or ())

    @property
    def is_response(self) -> bool:
        return isinstance(self.assistant, dict) and "Response" in self.assistant


#: An object from 1.13 on; up to 1.12 a list of the same, mostly a pair.
_SIDES = ("user", "assistant", "request_metadata")


def open_entry(data: bytes, digest: bytes | None = None) -> Said:
    """Pair or object, whichever version wrote it; what is neither is all user side."""
    try:
        value = load(data)
    except NotReadable as error:
        value = {"user": f"{error}: {data[:2000].decode('utf-8', 'replace')}"}
    user, assistant, noted = value, None, None
    if isinstance(value, list):
        user, assistant, noted, *_ = [*value, None, None, None]
    elif isinstance(value, dict) and ("user" in value or "assistant" in value):
        user, assistant, noted = (get(value, name) for name in _SIDES)
    metadata, _ = fit_loosely(noted, RequestMetadata)
    return Said(
        digest if digest is not None else digest_of_json(data),
        user,
        assistant,
        metadata,
        isinstance(noted, dict) and any(one is not None for one in noted.values()),
        _answer_of(assistant),
    )


def _answer_of(assistant: Any) -> str | None:
    """The backend's id of the answer."""
    if not isinstance(assistant, dict):
        return None
    for side in assistant.values():
        found = side.get("message_id") if isinstance(side, dict) else None
        if isinstance(found, str) and found:
            return found
    return None


def drafts_of(said: Said, name: str, position: int, pictures: Pictures) -> list[SavedMessage]:
    """The messages of an entry; `name` is unique to it and stable."""
    at = _from_ms(said.metadata.request_start_timestamp_ms)
    place = PUT_IN if _is_put_in(said) else None
    drafts = user_drafts(said.user, name, position, pictures, at, place)
    drafts.append(_answer(said, name, position, place))
    for draft in drafts:
        draft.group = name
    return drafts


def _is_put_in(said: Said) -> bool:
    """Whether no request was made for it: a prompt of a tool server (`@name`) brought both sides.

    Every version gives an id to each answer of a model, and null to what no model said. The texts
    that the client then writes itself, to what somebody did type, are known.
    """
    if said.answer is not None:
        return False
    assistant, _ = fit_loosely(said.assistant, AssistantMessage)
    side = assistant.response
    return (
        side is not UNSET
        and side.message_id in (None, "")
        and rule_of_answer(side.content or "") is None
        and not said.requested
    )


def user_drafts(
    value: Any,
    name: str,
    position: int,
    pictures: Pictures,
    at: str | None = None,
    place: TextRule | None = None,
) -> list[SavedMessage]:
    """The user side: hook output, tool results, and what was typed."""
    user, misfits = fit_loosely(value, UserMessage)
    at = at or from_iso(user.timestamp)
    content = user.content
    drafts: list[SavedMessage] = []
    context = _hook_text(user.additional_context or "")
    if context:
        drafts.append(hook(f"{name}-h", context, at, position, "additional_context"))
    flags = ("hook context",) if context else ()
    if content.prompt is not UNSET:
        text = content.prompt.prompt or ""
        drafts.append(prompt(f"{name}-u", text, at, position, (*flags, "Prompt"), place))
    elif content.results is not UNSET:
        results = content.results.tool_use_results
        drafts.append(_results(f"{name}-u", results, at, position, (*flags, "ToolUseResults")))
    elif content.cancelled is not UNSET:
        drafts += _cancelled(content.cancelled, name, at, position, (*flags, "CancelledToolUses"))
    else:
        misfits = {"user": value}
        drafts.append(_plain(f"{name}-u", "user", [], position))
    parts = drafts[-1].message.parts
    parts += [_picture(image, pictures) for image in user.images or ()]
    parts += [Unknown(what, raw) for what, raw in misfits.items()]
    for draft in drafts:
        draft.directory = _directory(user)
    return drafts


def _cancelled(
    content: ToolUseResults,
    name: str,
    at: str | None,
    position: int,
    flags: tuple[str, ...],
) -> list[SavedMessage]:
    results = _results(f"{name}-r", content.tool_use_results, at, position, flags, cancelled=True)
    if content.prompt is None:
        return [results]
    return [results, prompt(f"{name}-u", content.prompt, at, position, flags)]


def _results(
    name: str,
    results: list[ToolUseResult] | None,
    at: str | None,
    position: int,
    flags: tuple[str, ...],
    cancelled: bool = False,
) -> SavedMessage:
    parts: list[Part] = [
        result(
            item.tool_use_id or "",
            "\n".join(_block(block) for block in item.content or ()),
            item.status not in ("Success", None) or _says_error(item),
            cancelled,
        )
        for item in results or ()
    ]
    entry = Entry(position, "user", flags, "cancelled tool uses" if cancelled else RESULTS)
    return make(name, "tool", "fold", parts, entry, at=at, ends=False)


def _says_error(item: ToolUseResult) -> bool:
    return any(says_error(block.json) for block in item.content or ())


def _block(block: ResultBlock) -> str:
    return output_of(block.json if block.text is UNSET else block.text)


def _hook_text(context: str) -> str:
    lines = [line for line in context.split("\n") if line not in _MARKS]
    return "\n".join(lines).strip()


def _answer(said: Said, name: str, position: int, place: TextRule | None) -> SavedMessage:
    assistant, misfits = fit_loosely(said.assistant, AssistantMessage)
    side = assistant.tool_use if assistant.tool_use is not UNSET else assistant.response
    if side is UNSET:
        return _plain(f"{name}-a", "assistant", [Unknown("assistant", said.assistant)], position)
    text = side.content or ""
    thought = side.thinking or SavedThinking()
    parts = thinking(thought.text, thought.redacted_content)
    parts += [Text(text)] if text else []
    parts += [_call(use) for use in side.tool_uses or ()]
    parts += [Unknown(what, raw) for what, raw in misfits.items()]
    made_up = rule_of_answer(text) or place
    # Where the id is not even null, someone left it out: that tells nothing about the answer.
    synthetic = made_up is not None or side.message_id in (None, "")
    draft = answer(
        name if said.answer else f"{name}-a",
        parts,
        position,
        text=text,
        names=[_tool(use) for use in side.tool_uses or ()],
        made_up=made_up,
        synthetic=synthetic,
        at=said.at,
        model=said.metadata.model_id,
    )
    draft.ends, draft.answer = said.is_response, said.answer
    return draft


def _call(use: SavedToolUse) -> Part:
    arguments = use.args if use.orig_args is UNSET or use.orig_args is None else use.orig_args
    return ToolCall(use.id or "", _tool(use), arguments)


def _tool(use: SavedToolUse) -> str:
    return use.orig_name or use.name or ""


def _picture(image: SavedImage, pictures: Pictures) -> Part:
    if isinstance(image.source, str) or image.source.bytes is UNSET:
        return Unknown("picture", text_of(image.source if isinstance(image.source, str) else ""))
    return pictures.add_numbers(image.source.bytes, f"image/{image.format.lower()}")


def _plain(name: str, role: str, parts: list[Part], position: int) -> SavedMessage:
    entry = Entry(position, role, (), NOT_UNDERSTOOD)
    ends = role == "assistant" or None
    return make(name, "harness", "fold", parts, entry, label="not understood", ends=ends)


def _directory(user: UserMessage) -> str | None:
    env = user.env_context.env_state if user.env_context else None
    return env.current_working_directory if env else None


def _from_ms(moment: int | None) -> str | None:
    return from_ms(moment) if moment else None
