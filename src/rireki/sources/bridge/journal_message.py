"""One message of a driven conversation, gathered from the lines of its journal that belong to it.

Also what was asked of a person and how it ended, in one line and in all words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from rireki.journals.session_entry import BridgeEntry
from rireki.model.activity import WORDS, state_of_ask
from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import (
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
from rireki.sources.bridge.lines import BridgeLine
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.pictures import Pictures

__all__ = ["JournalMessage", "order_of", "tool_of"]

_ALLOWED = {"allow_once": "allowed once", "allow_always": "always allowed"}
#: What a person did, told to them.
_DONE = {
    "allowed once": "You allowed once",
    "always allowed": "You always allowed",
    "answered": "You answered",
    "plan approved": "You approved the plan",
    "plan rejected": "You rejected the plan",
    "refused": "You refused",
}


def is_decided(answer: BridgeEntry | None) -> bool:
    """Whether a person decided it; what nobody answered in time, or was withdrawn, ended by itself."""
    return answer is not None and answer.text("outcome") in ("selected", "refused", "answered")


def ask_label(ask: BridgeEntry, answer: BridgeEntry | None) -> str:
    """How it stands, and what it was about."""
    stands = _stands(ask, answer)
    told = _DONE.get(stands, stands) if is_decided(answer) else stands
    return ": ".join(filter(None, [told, " ".join(ask.text("title").split())]))


def ask_parts(ask: BridgeEntry, answer: BridgeEntry | None) -> list[Part]:
    """Exactly what was asked, and exactly what was answered, by whom."""
    asked = [pretty(ask.more.get("detail")), *_questions(ask)]
    told: list[Part] = [Text(words) for words in asked if words.strip()]
    return [*told, Notice(_outcome(ask, answer))]


def pretty(value: Any) -> str:
    """A value for reading: text as it is, everything else as indented JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _stands(ask: BridgeEntry, answer: BridgeEntry | None) -> str:
    if answer is None:
        return WORDS[state_of_ask(ask.text("what"))]
    outcome = answer.text("outcome")
    if outcome in ("expired", "cancelled"):
        return outcome
    kind = _option(ask, answer).get("kind")
    refused = outcome == "refused" or kind in ("reject_once", "reject_always")
    if ask.text("what") == "plan":
        return "plan rejected" if refused else "plan approved"
    if refused:
        return "refused"
    return _ALLOWED.get(str(kind), "answered")


def _outcome(ask: BridgeEntry, answer: BridgeEntry | None) -> str:
    if answer is None:
        return "not answered yet"
    words = [_option(ask, answer).get("name"), answer.text("reason"), *_values(ask, answer)]
    said = "; ".join(word for word in words if isinstance(word, str) and word)
    by = f" by {answer.text('by')}" if answer.text("by") else ""
    return f"{_stands(ask, answer)}{by}{': ' if said else ''}{said}"


def _option(ask: BridgeEntry, answer: BridgeEntry) -> dict[str, Any]:
    """The option that was chosen; empty when none was."""
    chosen = answer.more.get("option")
    found = (one for one in _dicts(ask.more.get("options")) if one.get("id") == chosen)
    return next(found, {"name": chosen} if chosen else {})


def _questions(ask: BridgeEntry) -> Iterator[str]:
    for question in _dicts(ask.more.get("questions")):
        lines = [str(question.get("question") or "")]
        for option in _dicts(question.get("options")):
            words = [option.get("label"), option.get("description")]
            lines.append("- " + ": ".join(str(word) for word in words if word))
        yield "\n".join(lines)


def _values(ask: BridgeEntry, answer: BridgeEntry) -> Iterator[str]:
    """What was answered to each question, by its words where they are known."""
    values = answer.more.get("values")
    asked = _dicts(ask.more.get("questions"))
    names = {id: one.get("question") for one in asked if isinstance(id := one.get("id"), str)}
    for id, value in values.items() if isinstance(values, dict) else ():
        chosen = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{names.get(id) or id} {chosen}"


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


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

    def message(self, turn: int | None, pictures: Pictures) -> Message:
        try:
            return self._message(turn, pictures)
        except (TypeError, ValueError, LookupError, AttributeError):
            # A value of a sort that nobody foresaw costs its entry, not the conversation.
            self.unknown = self.unknown or {**self.more}
            self.ask = self.answer = self.notice = None
            return self._message(turn, pictures)

    def _message(self, turn: int | None, pictures: Pictures) -> Message:
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
            parts=self._parts(pictures),
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

    def _parts(self, pictures: Pictures) -> list[Part]:
        if self.unknown is not None:
            return [Unknown(self.kind, self.unknown)]
        if self.ask is not None:
            return ask_parts(self.ask, self.answer)
        if self.notice is not None:
            return [self.notice]
        if self.kind == "prompt":
            text = string(self.more, "text")
            images = [_picture(image, pictures) for image in items(self.more, "images")]
            return [*([Text(text)] if text else []), *images]
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


def _picture(image: Any, pictures: Pictures) -> Part:
    """An image that came with a prompt."""
    kind, name = str(get(image, "media_type") or ""), str(get(image, "name") or "")
    made = pictures.add_base64(get(image, "data"), kind, name)
    return made or Unknown("image that cannot be read", image)


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
