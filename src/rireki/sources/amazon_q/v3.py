"""Kiro's third engine, leniently: its messages as other tools have described them.

Known second hand only. What is not recognised is kept and shown folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rireki.model.conversation import Trouble
from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import Notice, Part, Text, Thinking, ToolCall, Unknown
from rireki.model.strand import Ref
from rireki.model.times import from_iso
from rireki.sources.amazon_q.draft import Draft, prompt, result, short_hash, unknown
from rireki.sources.amazon_q.outputs import output_of, says_error
from rireki.sources.kit.decode import NotReadable, fit_loosely, load, text_of

__all__ = ["Telling", "V3Session", "open_v3_session"]

_HINT = "It is kept as it was found; the other lines are not affected."
#: What the engine notes for itself.
PROGRAM = "notice of the program"
_NOTES = ("session_start", "turn_start", "turn_end", "session_metadata", "usage_summary")
#: Words in the reason why a turn stopped that mean it was broken off. Not every reason is known.
_BROKEN_OFF = ("error", "fail", "cancel", "abort", "interrupt")


class V3Session(msgspec.Struct, frozen=True):
    """`session.json` beside the messages."""

    id: str | None = None
    title: str | None = None
    workspace_paths: list[str] | None = msgspec.field(default=None, name="workspacePaths")
    model: str | None = msgspec.field(default=None, name="modelId")
    status: Any = None
    created_at: str | None = msgspec.field(default=None, name="createdAt")
    modified_at: str | None = msgspec.field(default=None, name="lastModifiedAt")


@dataclass(slots=True)
class Telling:
    """Fed with the lines of `messages.jsonl` in order."""

    place: str
    drafts: list[Draft] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    entries: int = 0
    _seen: set[str] = field(default_factory=set)

    def feed_line(
        self, line: bytes, position: int, held: bool = True, refs: Sequence[Ref] = ()
    ) -> None:
        if not line.strip():
            return
        try:
            value = load(line)
        except NotReadable as error:
            self.troubles.append(Trouble(f"{self.place}:{position}", str(error), _HINT))
            return
        fields = value if isinstance(value, dict) else {}
        payload = fields.get("payload")
        self.entries += 1
        if isinstance(payload, dict):
            draft = self._draft(fields, payload, position)
        else:
            draft = unknown(self._name(fields, value), "line", value, position)
        draft.group = draft.message.id
        draft.refs += refs
        draft.message.at = from_iso(fields.get("timestamp"))
        draft.message.upstream = "present" if held else "gone"
        self.drafts.append(draft)

    def _draft(self, value: dict[str, Any], payload: dict[str, Any], position: int) -> Draft:
        name = self._name(value, value)
        kind = payload.get("type")
        content = payload.get("content")
        if kind == "user":
            draft = prompt(name, output_of(content or ""), None, position, ("user",))
            extra = [(what, payload[what]) for what in ("images", "documents") if payload.get(what)]
            draft.message.parts += [Unknown(what, raw) for what, raw in extra]
            return draft
        if kind == "assistant":
            text = output_of(content or "")
            thinks = payload.get("operationType") == "Reasoning"
            said: Part = Thinking(text) if thinks else Text(text)
            answer = _draft(name, "agent", "bubble", [said], position, "assistant", "answer")
            # Who only thought has not had their say.
            answer.ends = not thinks
            return answer
        if kind == "tool_call":
            call = ToolCall(
                str(payload.get("toolCallId")), str(payload.get("toolName")), payload.get("args")
            )
            return _draft(name, "agent", "bubble", [call], position, "assistant", "answer")
        if kind == "tool_result":
            failed = payload.get("success") is False or says_error(content)
            outcome = result(str(payload.get("toolCallId")), output_of(content or ""), failed)
            return _draft(name, "tool", "fold", [outcome], position, "user", "tool results")
        if kind in _NOTES:
            note = Notice(f"{kind}: {text_of({**payload, 'type': kind})}")
            draft = _draft(name, "harness", "hidden", [note], position, "note", PROGRAM)
            draft.ends = False if _is_broken_off(payload) else None
            return draft
        return unknown(name, str(kind), value, position)

    def _name(self, fields: dict[str, Any], value: Any) -> str:
        name = fields.get("id")
        name = name if isinstance(name, str) and name else f"v{short_hash(text_of(value))}"
        while name in self._seen:
            name += "+"
        self._seen.add(name)
        return name


def _is_broken_off(payload: dict[str, Any]) -> bool:
    reason = str(payload.get("stopReason") or "").lower()
    return payload.get("type") == "turn_end" and any(word in reason for word in _BROKEN_OFF)


def _draft(
    name: str,
    author: Author,
    display: Display,
    parts: list[Part],
    position: int,
    role: str,
    rule: str,
) -> Draft:
    message = Message(
        id=name, author=author, display=display, parts=parts, entry=Entry(position, role, (), rule)
    )
    return Draft(message, ends=False)


def open_v3_session(value: Any) -> V3Session:
    opened, _ = fit_loosely(value, V3Session)
    return opened
