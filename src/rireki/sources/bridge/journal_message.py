"""One message of a driven conversation, gathered from the lines of its journal that belong to it."""

from __future__ import annotations

import base64
import binascii
from hashlib import sha256
from typing import Any

import msgspec

from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.model.strand import Ref
from rireki.model.times import from_iso
from rireki.sources.bridge.asks import ask_label, ask_parts, is_decided, pretty
from rireki.sources.bridge.entry import BridgeEntry
from rireki.sources.bridge.lines import BridgeLine
from rireki.sources.kit.fields import string

__all__ = ["JournalMessage", "order_of", "picture", "tool_of"]

#: The role under which an entry would stand in a transcript; others stand under their kind.
_ROLES = {"prompt": "user", "text": "assistant", "thought": "assistant", "call": "assistant"}
_WHO: dict[str, tuple[Author, Display]] = {
    "prompt": ("person", "bubble"),
    "text": ("agent", "bubble"),
    "thought": ("agent", "bubble"),
    "call": ("agent", "bubble"),
    "result": ("tool", "fold"),
    "plan": ("agent", "fold"),
}
_MARKS = {"completed": "x", "in_progress": "~"}


class JournalMessage(msgspec.Struct, gc=False):
    """The lines of a journal that make up one message, and what they came to so far."""

    id: str
    kind: str
    #: The number of the entry that gave it its place.
    place: int
    at: str
    position: int
    #: The prompt in whose turn it came; None outside of any.
    turn: str | None = None
    model: str | None = None
    present: bool = False
    refs: list[Ref] = msgspec.field(default_factory=list)
    #: What its entries say, later ones over earlier ones; their stretches of text in a list.
    more: dict[str, Any] = msgspec.field(default_factory=dict)
    stretches: list[str] = msgspec.field(default_factory=list)
    ask: BridgeEntry | None = None
    answer: BridgeEntry | None = None
    #: A prompt that was neither given nor withdrawn.
    waiting: bool = False
    withdrawn: bool = False
    given: bool = False
    #: A prompt whose turn did not come to its end.
    cut: bool = False
    #: Words for a chip: its label, what is told behind it, how grave it is.
    label: str | None = None
    notice: Notice | None = None
    #: What nobody could make anything of.
    unknown: dict[str, Any] | None = None

    def take(self, line: BridgeLine) -> None:
        """A further line that belongs to it."""
        self.refs.append(line.ref)
        self.present = self.present or line.present

    def is_empty(self) -> bool:
        spoken = self.kind in ("text", "thought") and self.unknown is None
        return spoken and not "".join(self.stretches).strip()

    def message(self, turn: int | None) -> Message:
        try:
            return self._message(turn)
        except (TypeError, ValueError, LookupError, AttributeError):
            # A value of a sort that nobody foresaw costs its entry, not the conversation.
            self.unknown = self.unknown or {**self.more}
            self.ask = self.answer = self.notice = None
            return self._message(turn)

    def _message(self, turn: int | None) -> Message:
        author, display = _WHO.get(self.kind, ("harness", "chip"))
        if self.ask is not None and is_decided(self.answer):
            author = "person"
        if self.unknown is not None:
            author, display = "harness", "fold"
        return Message(
            id=self.id,
            author=author,
            display="fold" if self.withdrawn else display,
            label=self._label(),
            at=from_iso(self.at),
            model=self.model if author == "agent" else None,
            turn=turn,
            upstream="present" if self.present else "gone",
            parts=self._parts(),
            entry=Entry(self.position, _ROLES.get(self.kind, self.kind), self._flags(), self.kind),
        )

    def _flags(self) -> tuple[str, ...]:
        flags = {"given": self.given, "cut": self.cut, "provisional": self.more.get("provisional")}
        return tuple(name for name, stands in flags.items() if stands)

    def _label(self) -> str | None:
        if self.unknown is not None:
            return self.kind
        if self.ask is not None:
            return ask_label(self.ask, self.answer)
        if self.kind == "prompt":
            return "withdrawn" if self.withdrawn else "queued" if self.waiting else None
        return self.label or ("plan" if self.kind == "plan" else None)

    def _parts(self) -> list[Part]:
        if self.unknown is not None:
            return [Unknown(self.kind, self.unknown)]
        if self.ask is not None:
            return ask_parts(self.ask, self.answer)
        if self.notice is not None:
            return [self.notice]
        if self.kind == "prompt":
            text = string(self.more, "text")
            return [*([Text(text)] if text else []), *_pictures(self.more)]
        if self.kind == "text":
            return [Text("".join(self.stretches))]
        if self.kind == "thought":
            return [Thinking("".join(self.stretches))]
        if self.kind == "call":
            return [ToolCall(string(self.more, "call"), tool_of(self.more), _arguments(self.more))]
        if self.kind == "result":
            return [_result(self.more)]
        return [Text(_plan(self.more))]


def order_of(draft: JournalMessage) -> tuple[bool, int]:
    """What was not given yet stands behind everything; put first, before what waits as well."""
    first = draft.waiting and draft.more.get("first") is True
    return draft.waiting, -draft.place if first else draft.place


def picture(image: Any) -> tuple[Attachment, bytes] | None:
    """An image that came with a prompt; None when it cannot be one."""
    try:
        data = base64.b64decode(image["data"], validate=True)
        kind, name = str(image.get("media_type") or ""), str(image.get("name") or "")
    except (binascii.Error, KeyError, TypeError, ValueError, AttributeError):
        return None
    return Attachment(kind, sha256(data).hexdigest(), name, len(data)), data


def _pictures(more: dict[str, Any]) -> list[Part]:
    images = more.get("images")
    found: list[Part] = []
    for image in images if isinstance(images, list) else []:
        made = picture(image)
        found.append(made[0] if made else Unknown("image that cannot be read", image))
    return found


def tool_of(more: dict[str, Any]) -> str:
    return next(filter(None, (string(more, name) for name in ("name", "title", "tool"))), "tool")


def _arguments(more: dict[str, Any]) -> Any:
    """What the tool is given; where the agent does not say, what it says it will change."""
    arguments = more.get("arguments")
    if arguments:
        return arguments
    told = more.get("diffs")
    diffs = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
    edits = [
        {"path": one.get("path"), "old_text": one.get("old") or "", "new_text": one.get("new")}
        for one in diffs
    ]
    if len(edits) == 1:
        return edits[0]
    return (
        {"edits": edits} if edits else ({"title": title} if (title := more.get("title")) else None)
    )


def _result(more: dict[str, Any]) -> ToolResult:
    status = more.get("status")
    call, output = string(more, "call"), pretty(more.get("output"))
    if status == "error":
        return ToolResult(call, "error", output)
    return ToolResult(call, "cancelled" if status == "cancelled" else "ok", output)


def _plan(more: dict[str, Any]) -> str:
    entries = more.get("entries")
    steps = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    return "\n".join(
        f"- [{_MARKS.get(str(step.get('status')), ' ')}] {step.get('content') or ''}"
        for step in steps
    )
