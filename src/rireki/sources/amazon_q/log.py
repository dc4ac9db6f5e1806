"""Replays the logs of Kiro's second engine, in the order in which they were written.

Logs are only appended to. Some entries of the second engine take others out of the live view
(Compaction, ResetTo, Clear, CancelledPrompt); what they took out is still in the file, so all of it
is told, and marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from rireki.model.parts import Notice, Text, Unknown
from rireki.model.strand import Ref
from rireki.sources.amazon_q.blocks import LogMessage, drafts_of_message
from rireki.sources.amazon_q.pending import (
    SavedMessage,
    divider,
    short_hash,
    unknown,
)
from rireki.sources.kit.decode import fit, fit_loosely, text_of
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.pictures import Pictures

__all__ = ["Replay"]


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
