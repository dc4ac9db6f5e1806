"""Entries in the order they were written, and what of them a model is shown now.

Every entry follows another one; a `branch` follows an earlier one than the last, and what came
between is left. The view at any entry is the fold of those that lead to it. Knows no file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from rireki.journals.history_entry import MESSAGES, JournalEntry

__all__ = ["SAID", "Edit", "EntryLog", "Item", "ModelView"]

#: Kinds whose messages come after those that are there.
SAID = MESSAGES - {"repair"}
#: A message and the entry it came with.
Item: TypeAlias = "tuple[JournalEntry, Any]"


class Edit(JournalEntry):
    """Messages that a program put in place of what was there; happens in memory only."""

    __slots__ = ("items",)

    def __init__(self, id: str, items: list[Item]) -> None:
        super().__init__(id, "edit")
        self.items = items


class ModelView:
    """The messages that a model is shown, each with its entry."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        #: The same messages alone: the very list that users of the library see.
        self.messages: list[Any] = []
        #: Calls that wait for a person, with the entry up to which they stand: the same id may come
        #: again later, for another call.
        self.waiting: dict[str, str] = {}
        #: Raised by every change that is more than messages at the end.
        self.revision = 0

    def apply(self, entry: JournalEntry) -> None:
        kind = entry.kind
        if kind in SAID:
            for message in entry.messages:
                self.items.append((entry, message))
                self.messages.append(message)
        elif kind == "repair":
            self._insert(entry)
        elif kind == "summary":
            lead = [item for item in self.lead() if item[0].kind == "system"]
            self._shorten([*lead, (entry, entry.messages[0]), *self._kept(entry)])
        elif kind == "trim":
            self._shorten([*self.lead(), *self._kept(entry)])
        elif kind == "clear":
            self._shorten([])
        elif isinstance(entry, Edit):
            self.show(entry.items)
        elif kind == "waiting":
            self.waiting[entry.text("call") or ""] = self.items[-1][0].id if self.items else ""

    def lead(self) -> list[Item]:
        """What stays at the top: instructions, and the summary of what went before."""
        count = 0
        for entry, _ in self.items:
            if entry.kind not in ("system", "summary"):
                break
            count += 1
        return self.items[:count]

    def show(self, items: Iterable[Item]) -> None:
        """Other messages, in the same lists."""
        self.revision += 1
        self.items[:] = items
        self.messages[:] = [message for _, message in self.items]

    def _shorten(self, items: list[Item]) -> None:
        """Some of the messages: what waits stands up to the last one that is left, if any is."""
        left = {entry.id for entry, _ in items}
        before = [entry.id for entry, _ in self.items]
        for call, last in list(self.waiting.items()):
            until = before[: before.index(last) + 1] if last in before else []
            if anchor := next((id for id in reversed(until) if id in left), None):
                self.waiting[call] = anchor
            else:
                del self.waiting[call]
        self.show(items)

    def _insert(self, entry: JournalEntry) -> None:
        """After the entry it names: where its calls stand."""
        self.revision += 1
        after = entry.text("after")
        ends = [place for place, (one, _) in enumerate(self.items) if one.id == after]
        place = ends[-1] + 1 if ends else len(self.items)
        new = [(entry, message) for message in entry.messages]
        self.items[place:place] = new
        self.messages[place:place] = [message for _, message in new]

    def _kept(self, entry: JournalEntry) -> list[Item]:
        """From the entry that is named as the first to keep; of nothing named, nothing."""
        keep = entry.text("keep")
        for place, (one, _) in enumerate(self.items):
            if one.id == keep:
                return self.items[max(place, len(self.lead())) :]
        return []


class EntryLog:
    def __init__(self, entries: Iterable[JournalEntry] = ()) -> None:
        self.entries: dict[str, JournalEntry] = {}
        #: What each entry follows: always one that was written before it.
        self.parents: dict[str, str | None] = {}
        self.head: str | None = None
        self.view = ModelView()
        for entry in entries:
            self.add(entry)

    def add(self, entry: JournalEntry) -> None:
        """An entry that follows the last one, or, if it is a branch, the one it names."""
        if entry.id in self.entries:
            # Two of one id would make a ring of what follows what.
            entry.id = f"{entry.id}~{len(self.entries)}"
        id, kind, parent = entry.id, entry.kind, self.head
        if kind in SAID and "answer" not in entry.more:
            # By far the most: thousands of them, when a long history is gone on with.
            self.view.items.append((entry, entry.raw))
            self.view.messages.append(entry.raw)
        elif kind == "branch" and self.knows(entry.parent):
            parent = entry.parent
            self._go_back(parent)
        else:
            self.view.apply(entry)
        self.entries[id] = entry
        self.parents[id] = parent
        self.head = id

    def knows(self, id: str | None) -> bool:
        """Whether one can go back there; None is the beginning."""
        return id is None or id in self.entries

    def chain(self, id: str | None) -> list[JournalEntry]:
        """The entries that lead to one, the first one first."""
        found: list[JournalEntry] = []
        while id is not None:
            found.append(self.entries[id])
            id = self.parents[id]
        return found[::-1]

    def _go_back(self, id: str | None) -> None:
        then = ModelView()
        for entry in self.chain(id):
            if entry.kind != "branch":
                then.apply(entry)
        self.view.show(then.items)
        self.view.waiting = then.waiting
