"""Replays the logs of Kiro's second and third engine, in the order in which they were written.

Logs are only appended to. Some entries of the second engine take others out of the live view
(Compaction, ResetTo, Clear, CancelledPrompt); what they took out is still in the file, so all of it
is told, and marked. The third engine is known second hand only: what is not recognised is kept and
shown folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from rireki.model.message import Author, Display, Entry
from rireki.model.parts import Notice, Part, Text, Thinking, ToolCall, Unknown
from rireki.model.strand import Ref
from rireki.model.times import from_iso
from rireki.sources.amazon_q.blocks import LogMessage, drafts_of_message
from rireki.sources.amazon_q.pending import (
    SavedMessage,
    divider,
    make,
    output_of,
    prompt,
    result,
    says_error,
    short_hash,
    unknown,
)
from rireki.sources.kit.decode import fit, fit_loosely, text_of
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.records import DecodedLine

__all__ = ["Replay", "Telling", "V3Session", "open_v3_session"]


_MESSAGES = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "user"}


class Compaction(msgspec.Struct, frozen=True):
    summary: str = ""
    strategy: Any = None
    messages_snapshot: list[LogMessage] = []


class ResetTo(msgspec.Struct, frozen=True):
    target_index: int


@dataclass(slots=True, eq=False)
class LogItem:
    """One entry of the log as it is told."""

    drafts: list[SavedMessage]
    digest: bytes = b""
    role: str = ""
    live: bool = False
    replaced: bool = False


#: The live view as a chain: the newest item and the view before it. Going back costs nothing.
View: TypeAlias = "tuple[LogItem, View] | None"


@dataclass(slots=True)
class Replay:
    """Fed with the entries of a log in order."""

    pictures: Pictures
    items: list[LogItem] = field(default_factory=list)
    #: Entries that could be read, whatever their kind.
    entries: int = 0
    #: The view after each entry of a known kind; the first is the empty one.
    _views: list[View] = field(default_factory=lambda: [None])
    _by_id: dict[str, LogItem] = field(default_factory=dict)

    def feed(self, value: Any, position: int, held: bool = True, refs: Sequence[Ref] = ()) -> None:
        """An entry; `refs` are the records it stands in."""
        known = len(self.items)
        self._feed(value, position, held)
        for item in self.items[known:]:
            for draft in item.drafts:
                draft.refs += refs

    def _feed(self, value: Any, position: int, held: bool) -> None:
        kind = value.get("kind") if isinstance(value, dict) else None
        self.entries += 1
        understood = isinstance(kind, str) and self._apply(kind, value.get("data"), position, held)
        if not understood:
            name = f"l{short_hash(text_of(value))}.{position}"
            self.items.append(
                LogItem([unknown(name, str(kind or "line"), value, position)], live=True)
            )

    def finish(self, present: bool) -> list[SavedMessage]:
        """Everything in the order of the log, marked live or not."""
        view = self._views[-1]
        while view is not None:
            view[0].live = True
            view = view[1]
        for item in self.items:
            for draft in item.drafts:
                if not (item.live and present) or item.replaced:
                    draft.message.upstream = "gone"
        return [draft for item in self.items for draft in item.drafts]

    def _apply(self, kind: str, data: Any, position: int, held: bool) -> bool:
        """Whether the entry was understood."""
        view = self._views[-1]
        if kind in _MESSAGES:
            message, misfits = fit_loosely(data, LogMessage)
            if not isinstance(data, dict) or "content" in misfits:
                return False
            item = self._item(message, _MESSAGES[kind], position)
            item.drafts[-1].message.parts += [Unknown(*misfit) for misfit in misfits.items()]
            view = (item, view)
        elif kind == "Compaction":
            compaction = fit(data, Compaction)
            if compaction is None:
                return False
            view = self._compact(compaction, position)
        elif kind == "ResetTo":
            reset = fit(data, ResetTo)
            if reset is None or reset.target_index < 0:
                return False
            view = self._views[min(reset.target_index, len(self._views) - 1)]
            self._divide("went back to an earlier point", position)
        elif kind == "Clear":
            view = None
            self._divide("conversation cleared", position)
        elif kind == "CancelledPrompt":
            view = self._cancel(view)
        else:
            return False
        # A line that the file no longer has tells what was said, but steers nothing.
        if held:
            self._views.append(view)
        return True

    def _item(self, message: LogMessage, role: str, position: int) -> LogItem:
        digest = digest_of_bytes(text_of(message.content).encode())
        name = message.name or f"l{digest.hex()[:8]}"
        known = self._by_id.get(name)
        if known is not None and known.digest == digest:
            return known
        item = LogItem(
            drafts_of_message(message, role, name, position, self.pictures), digest, role
        )
        if known is not None:
            self._replace(known, name)
        self._by_id[name] = item
        self.items.append(item)
        return item

    def _replace(self, old: LogItem, name: str) -> None:
        """The same message came again with other content: the earlier one is a version of it."""
        number = sum(1 for other in self._by_id if other.startswith(f"{name}~")) + 1
        self._by_id[f"{name}~{number}"] = old
        for draft in old.drafts:
            draft.message.replaced_by = draft.message.id
            draft.message.id = f"{draft.message.id}~{number}"
        old.replaced = True

    def _compact(self, compaction: Compaction, position: int) -> View:
        """The live view is now what the compaction kept; what it held before stays in the story."""
        name = f"c{short_hash(compaction.summary)}.{position}"
        heading = divider(name, "context compacted", [Text(compaction.summary)])
        self.items.append(LogItem([heading], live=True))
        view: View = None
        for message in compaction.messages_snapshot:
            view = (self._kept(message, position), view)
        return view

    def _kept(self, message: LogMessage, position: int) -> LogItem:
        known = self._by_id.get(message.name or "")
        if known is not None:
            return known
        item = self._item(message, message.role or "user", position)
        for draft in item.drafts:
            draft.typed = False
            draft.message.label = draft.message.label or "kept by compaction"
        return item

    def _cancel(self, view: View) -> View:
        if view is None or view[0].role != "user":
            return view
        for draft in view[0].drafts:
            draft.message.label = draft.message.label or "cancelled before it was answered"
        return view[1]

    def _divide(self, label: str, position: int) -> None:
        name = f"d{position}"
        self.items.append(LogItem([divider(name, label, [Notice(label)])], live=True))


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

    drafts: list[SavedMessage] = field(default_factory=list)
    entries: int = 0
    _seen: set[str] = field(default_factory=set)

    def feed(self, line: DecodedLine) -> None:
        value = line.value
        fields = value if isinstance(value, dict) else {}
        payload = fields.get("payload")
        self.entries += 1
        if isinstance(payload, dict):
            draft = self._draft(fields, payload, line.position)
        else:
            draft = unknown(self._name(fields, value), "line", value, line.position)
        draft.group = draft.message.id
        draft.refs += line.refs
        draft.message.at = from_iso(fields.get("timestamp"))
        draft.message.upstream = "present" if line.present else "gone"
        self.drafts.append(draft)

    def _draft(self, value: dict[str, Any], payload: dict[str, Any], position: int) -> SavedMessage:
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
) -> SavedMessage:
    return make(name, author, display, parts, Entry(position, role, (), rule), ends=False)


def open_v3_session(value: Any) -> V3Session:
    opened, _ = fit_loosely(value, V3Session)
    return opened
