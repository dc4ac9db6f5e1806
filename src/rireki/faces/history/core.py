"""The log behind a history, in memory or on disk: the one way in which it changes."""

from __future__ import annotations

import os
from threading import RLock
from typing import TYPE_CHECKING, Any

from rireki.sources.native.entry import Entry
from rireki.sources.native.log import Edit, Item, Log

if TYPE_CHECKING:
    from rireki.faces.history.store import Store
    from rireki.faces.history.window import Window
    from rireki.providers import Turn

__all__ = ["Core"]


class Core:
    def __init__(self) -> None:
        self._log = Log()
        self._lock = RLock()
        #: The files of a history on disk.
        self._store: Store | None = None

    @property
    def id(self) -> str | None:
        """The name under which it can be opened again; None in memory."""
        return self._store.journal.conversation if self._store else None

    @property
    def _name(self) -> str:
        return f"the history {self.id}" if self._store else "this history"

    def _add(self, kind: str, raw: Any = None, more: dict[str, Any] | None = None) -> None:
        self._record([self._entry(kind, raw, None, more)])

    def _entry(
        self,
        kind: str,
        raw: Any = None,
        provider: str | None = None,
        more: dict[str, Any] | None = None,
    ) -> Entry:
        return Entry(os.urandom(6).hex(), kind, raw, provider, more)

    def _record(self, entries: list[Entry]) -> None:
        """Keep entries, all of them or none, and then act upon them."""
        with self._lock:
            self._settle()
            if self._store is not None:
                entries = self._store.write(entries, self._log)
            for entry in entries:
                self._log.add(entry)

    def _settle(self) -> None:
        """Take note of what a program changed in the list of messages itself."""
        view = self._log.view
        if len(view.messages) == len(view.items) and (
            not view.items or view.messages[-1] is view.items[-1][1]
        ):
            return
        known = {id(message): entry for entry, message in view.items}
        items = []
        for message in view.messages:
            entry = known.get(id(message)) or self._entry("user", message)
            items.append((entry, message))
        self._log.add(Edit(self._entry("edit").id, items))

    def _ever(self) -> list[Item]:
        """Every message that was in it at some time, once."""
        self._settle()
        found: dict[int, Item] = {}
        for entry in self._log.entries.values():
            items = entry.items if isinstance(entry, Edit) else [(entry, m) for m in entry.messages]
            found |= {id(message): (owner, message) for owner, message in items}
        return list(found.values())

    def _window(self) -> Window:
        from rireki.faces.history.window import Window

        self._settle()
        return Window(self._log.view.items)

    def _turns(self) -> list[Turn]:
        return self._window().turns
