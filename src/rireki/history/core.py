"""The log behind a history, in memory or on disk: the one way in which it changes, and back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_, itemgetter
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from rireki.errors import RirekiError
from rireki.history import late
from rireki.history.inputs import ModelInput, copied, kind_of
from rireki.journals.history_entry import JournalEntry
from rireki.journals.history_log import SAID, Edit, EntryLog, Item, ModelView

if TYPE_CHECKING:
    from rireki.history.sharing import Lease
    from rireki.history.store import HistoryStore
    from rireki.history.window import Window
    from rireki.providers import Turn
    from rireki.providers.prefix import PrefixRenderer

__all__ = ["Core", "HistoryNote"]

#: Deeper than any provider nests; what is kept on disk is not deeper either.
DEPTH = 200
#: Providers and models for which what was rendered is kept.
RENDERERS = 8
#: Entries that change what is shown without being a message: going back would undo them.
_HIDING = frozenset({"trim", "summary", "repair", "edit"})


class HistoryNote(NamedTuple):
    """Something that a program noted, and where: `branch(at)` goes back to just behind it."""

    at: str
    value: Any


class _Known:
    """The messages of a view in the neutral form, as far as they were read."""

    def __init__(self, view: ModelView, revision: int) -> None:
        self.view = view
        self.revision = revision
        #: How many messages that are.
        self.count = 0
        self.turns: list[Turn] = []


class Core:
    def __init__(self) -> None:
        self._log = EntryLog()
        self._lock = RLock()
        #: The files of a history on disk.
        self._store: HistoryStore | None = None
        #: This handle's part in them: others of the process may have theirs.
        self._lease: Lease | None = None
        #: What a transaction has gathered so far.
        self._gathered: list[JournalEntry] | None = None
        #: The messages as they were when last looked at, to notice what a program changed in them;
        #: and the revision of the view that they belong to.
        self._seen: list[Any] = []
        self._seen_at = 0
        self._known: _Known | None = None
        self._renderers: dict[tuple[str, str | None], PrefixRenderer] = {}

    @property
    def id(self) -> str | None:
        """The name under which it can be opened again; None in memory."""
        return self._store.conversation if self._store else None

    @property
    def _asks_a_server(self) -> bool:
        """Whether even reading may have to wait for somebody."""
        return self._store is not None and self._store.is_shared

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is added within is kept at its end: all of it or, after an error, nothing.

        Until then the history stays as it was, and others wait: threads, and on a database other
        processes, too.
        """
        with self._lock:
            if self._gathered is not None:
                # Within another one, which ends later.
                yield
                return
            with self._alone():
                gathered = self._gathered = []
                try:
                    yield
                finally:
                    self._gathered = None
                self._record(gathered)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """For what hangs on what is there: nobody else adds anything before it ends."""
        with self._lock:
            if self._store is None or self._gathered is not None or not self._is_held:
                self._settle()
                yield
            else:
                with self._store.alone():
                    yield

    @property
    def _is_held(self) -> bool:
        return self._lease is not None and self._lease.is_held

    def add_note(self, name: str, value: Any) -> None:
        """Something a program wants to find again in the history; no model is shown it."""
        _refuse_endless([value])
        self._add("note", more={"name": name, "value": copied(value)})

    def notes(self, name: str, ever: bool = False) -> list[HistoryNote]:
        """What was noted under a name, in order; with `ever`, also where the history was left."""
        with self._lock:
            self._refresh()
            log = self._log
            entries = list(log.entries.values()) if ever else log.chain(log.head)
            found = [e for e in entries if e.kind == "note" and e.more.get("name") == name]
            return [HistoryNote(entry.id, copied(entry.more.get("value"))) for entry in found]

    def checkpoint(self) -> str:
        """Where the history stands now, for `branch`."""
        with self._lock:
            self._settle()
            return self._log.head or ""

    def branch(self, at: str) -> None:
        """Go on from a checkpoint; what came after it is left, and stays in the archive."""
        with self._alone():
            if not self._log.knows(at or None):
                raise RirekiError("no-checkpoint", checkpoint=at, name=self._name)
            entry = self._entry("branch")
            entry.parent = at or None
            self._record([entry])

    def pop_message(self) -> Any | None:
        """Take the latest message back, and return it; None if there is none."""
        with self._alone():
            log = self._ahead()
            if not log.view.items:
                return None
            latest, message = log.view.items[-1]
            if latest.id not in log.entries:
                # Put into the list by the program itself, in memory: taken out the same way.
                self._record([Edit(self._entry("edit").id, log.view.items[:-1])])
                return message
            later = log.chain(log.head)
            if any(entry.kind in _HIDING for entry in later[later.index(latest) :]):
                raise RirekiError("message-not-taken-back", name=self._name)
            # An answer that was kept whole may hold several messages.
            others = [m for entry, m in log.view.items if entry is latest and m is not message]
            back = self._entry("branch")
            back.parent = log.parents[latest.id]
            again = [self._entry(latest.kind, other, latest.provider) for other in others]
            self._record([back, *again])
            return copied(message)

    def _ahead(self) -> EntryLog:
        """The log as it will be at the end of the transaction, if there is one."""
        if not self._gathered:
            return self._log
        return EntryLog([*self._log.entries.values(), *self._gathered])

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
    ) -> JournalEntry:
        return JournalEntry(os.urandom(6).hex(), kind, raw, provider, more)

    def _record(self, entries: list[JournalEntry]) -> None:
        """Keep entries, all of them or none, and then act upon them."""
        with self._lock:
            if self._store is None:
                _refuse_endless([entry.raw for entry in entries])
            if self._gathered is not None:
                self._gathered += entries
                return
            if self._store is None:
                self._notice(at_end={entry.kind for entry in entries} <= SAID)
                for entry in entries:
                    self._log.add(entry)
            elif entries:
                if not self._is_held:
                    raise self._store.closed()
                self._store.write(entries)

    def _settle(self) -> None:
        """Take note of what others wrote, or a program changed in the messages themselves."""
        if self._store is None:
            self._notice()
        else:
            self._refresh()

    def _refresh(self) -> None:
        if self._store is not None and self._store.is_shared and self._is_held:
            self._store.refresh()

    def _notice(self, at_end: bool = False) -> None:
        """What a program changed in the messages themselves, which it may in memory.

        `at_end` looks at the end of the list alone: enough for what comes behind it, and as quick
        in a long history as in a short one.
        """
        view = self._log.view
        if not (_ends_alike(view) and (at_end or _are_alike(view))):
            self._log.add(Edit(self._entry("edit").id, self._found()))
        if at_end:
            return
        seen = self._seen if self._seen_at == view.revision else []
        # All at once: one by one takes several times as long in a long history.
        if seen != view.messages[: len(seen)]:
            seen = []
        for entry, message in view.items[len(seen) :]:
            if entry.seen != entry.messages:
                _refuse_endless(entry.messages)
                # One that is looked at for the first time is new: nothing was made of it yet.
                view.revision += entry.seen is not None
                entry.reread(_snapshot(entry.messages))
            seen.append(_seen_of(entry, message))
        self._seen, self._seen_at = seen, view.revision

    def _found(self) -> list[Item]:
        """The messages of the list as it is, those that a program put there with entries of their own."""
        view = self._log.view
        known = {id(message): entry for entry, message in view.items}
        return [(known.get(id(m)) or self._entry(_kind(m), m), m) for m in view.messages]

    def _ever(self) -> list[Item]:
        """Every message that was in it at some time, once."""
        self._settle()
        found: dict[int, Item] = {}
        for entry in self._log.entries.values():
            items = entry.items if isinstance(entry, Edit) else [(entry, m) for m in entry.messages]
            found |= {id(message): (owner, message) for owner, message in items}
        return list(found.values())

    def _providers(self) -> list[str | None]:
        """Whose each message is, where it was said or can be told."""
        with self._lock:
            self._settle()
            return [
                entry.provider or late.providers.detect(message)
                for entry, message in self._log.view.items
            ]

    def _window(self) -> Window:
        self._settle()
        return late.window.Window(self._log.view.items)

    def _turns(self) -> list[Turn]:
        """All messages in the neutral form: a window without the places where it may be cut.

        Those that were read before are kept, as long as messages only came at the end.
        """
        self._settle()
        view = self._log.view
        known = self._known
        if known is None or known.view is not view or known.revision != view.revision:
            known = self._known = _Known(view, view.revision)
        own_turns = late.window.own_turns
        for item in view.items[known.count :]:
            known.turns += own_turns(item)
        known.count = len(view.items)
        return known.turns

    def _renderer(self, provider: str, model: str | None) -> PrefixRenderer:
        """What renders for a model; few of them are kept, because a history has few models."""
        known = self._renderers.pop((provider, model), None)
        made = known or late.prefix.PrefixRenderer(provider, model)
        self._renderers[provider, model] = made
        if len(self._renderers) > RENDERERS:
            del self._renderers[next(iter(self._renderers))]
        return made


def _ends_alike(view: ModelView) -> bool:
    items, messages = view.items, view.messages
    return len(messages) == len(items) and (not items or messages[-1] is items[-1][1])


def _are_alike(view: ModelView) -> bool:
    """Whether the list still has the very objects that the entries brought."""
    return all(map(is_, view.messages, map(itemgetter(1), view.items)))


def _seen_of(entry: JournalEntry, message: Any) -> Any:
    """What was seen of one message of an entry."""
    pairs = zip(entry.messages, entry.seen or [], strict=True)
    return next(seen for one, seen in pairs if one is message)


def _kind(message: Any) -> str:
    return kind_of(ModelInput(message)) if isinstance(message, dict) else "user"


def _refuse_endless(value: Any, depth: int = 0) -> None:
    """Before it is kept: with what nests without end, nothing could be done later."""
    if depth > DEPTH:
        raise RirekiError("value-too-deep", kind=type(value).__name__, depth=DEPTH)
    for inner in value.values() if type(value) is dict else value:
        if type(inner) is dict or type(inner) is list:
            _refuse_endless(inner, depth + 1)


def _snapshot(value: Any) -> Any:
    """What it takes to notice a change in dicts and lists; objects are taken as they are.

    Comparing with it costs next to nothing: the texts are the same objects.
    """
    if type(value) is list:
        return [_snapshot(inner) for inner in value]
    if type(value) is not dict:
        return value
    made = value.copy()
    for key, inner in value.items():
        if type(inner) is not str:
            made[key] = _snapshot(inner)
    return made
