"""Conversations as they were last read, for everyone in a process who asks about the same change.

When a line is appended to a long conversation, the keeper reads it anew, the feed wants
to know which messages are new, and a moment later every open page wants those messages:
it is read once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from rireki.archive.base import Archive, Found, PendingGroup
from rireki.intake.interpret import read_at
from rireki.model.conversation import Conversation, Reading
from rireki.model.message import Message

__all__ = ["Readings", "Told"]

#: Conversations that are kept.
KEPT = 16

#: A conversation and its messages, at some number; None when it had not begun.
Told = tuple[Conversation, list[Message]] | None


class Readings:
    """May be asked from any thread, each with its own archive. What it gives is not to be changed."""

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        #: Whether anybody is about to ask; what nobody will ask for need not be laid down here.
        self.wanted = False
        self._told: OrderedDict[tuple[str, int], Told] = OrderedDict()
        self._busy: dict[tuple[str, int], threading.Lock] = {}
        self._lock = threading.Lock()

    def at(self, archive: Archive, found: Found, number: int) -> Told:
        """A conversation as its records were at a number."""
        name = (found.conversation.id, number)
        with self._lock:
            busy = self._busy.setdefault(name, threading.Lock())
        # Whoever asks for the same waits for the first one instead of reading it as well.
        with busy:
            return self._remembered(name, lambda: _read(archive, found, number))

    def witness(self, group: PendingGroup, readings: Sequence[Reading]) -> None:
        """Lay down what was just read anew, before anybody has heard of it."""
        if not self.wanted:
            return
        for reading in readings:
            told = reading.conversation, reading.messages()
            self._keep((reading.conversation.id, group.number), told)

    def clear(self) -> None:
        with self._lock:
            self._told.clear()

    def _remembered(self, name: tuple[str, int], read: Callable[[], Told]) -> Told:
        with self._lock:
            known = name in self._told
            told = self._told.get(name)
        if not known:
            told = read()
        self._keep(name, told)
        return told

    def _keep(self, name: tuple[str, int], told: Told) -> None:
        with self._lock:
            self._told[name] = told
            self._told.move_to_end(name)
            self._busy.pop(name, None)
            while len(self._told) > self.kept:
                self._told.popitem(last=False)


def _read(archive: Archive, found: Found, number: int) -> Told:
    reading = read_at(archive, found, number)
    return (reading.conversation, reading.messages()) if reading else None
