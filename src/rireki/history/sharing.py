"""One store, several handles: whoever opens a history that this process has open shares it.

Handlers of a server open a history per request. Those that overlap write through one store and
see each other's messages at once; the last one to close lets go of the file. Handlers in other
processes wait for it, if they said how long.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rireki.history.journal import HistoryConflict, Sync
from rireki.history.store import HistoryStore

__all__ = ["Lease", "lease"]

#: How long to sleep between two looks at a history that another process writes.
SHORTEST, LONGEST = 0.002, 0.05


class _Slot:
    """What this process has open under a path."""

    def __init__(self) -> None:
        #: Held while the journal is opened or closed.
        self.lock = threading.Lock()
        #: Threads that look at the slot right now.
        self.visitors = 0
        self.store: HistoryStore | None = None
        self.leases = 0


_guard = threading.Lock()
_slots: dict[str, _Slot] = {}


def _after_fork() -> None:
    """A copy of the process holds nothing: what was open belongs to the process it was copied from."""
    global _guard
    _guard = threading.Lock()
    _slots.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Lease:
    """One handle's part in a store."""

    def __init__(self, path: str, store: HistoryStore) -> None:
        self.store = store
        self._path = path
        self._held = True
        self._process = os.getpid()

    @property
    def is_held(self) -> bool:
        return self._held

    def close(self) -> None:
        """The last one closes the store, and brings what is in it into the archive."""
        if not self._held:
            return
        with _visit(self._path) as slot:
            last = self._give_back(slot)
        if last:
            self.store.take_in()

    def forget(self) -> None:
        """When nobody holds the handle any more, or the program ends.

        The collector calls this in the middle of anything, also while this very thread opens a
        history: so it is another thread that waits, as long as there can be one.
        """
        if not self._held or os.getpid() != self._process:
            return
        if not threading.main_thread().is_alive():
            self.close()
        elif not self._close_at_once():
            threading.Thread(target=self.close, name="rireki-history").start()

    def _close_at_once(self) -> bool:
        """Whether it could be closed without waiting; the archive is brought up by a thread."""
        slot = _slots.get(self._path)
        if slot is None or not slot.lock.acquire(blocking=False):
            return False
        try:
            last = self._give_back(slot)
        finally:
            slot.lock.release()
        if last and _guard.acquire(blocking=False):
            _drop(self._path, slot)
            _guard.release()
        if last and self.store.is_behind:
            threading.Thread(target=self.store.take_in, name="rireki-history").start()
        return True

    def _give_back(self, slot: _Slot) -> bool:
        """Whether it was the last one, and the journal is closed now."""
        if not self._held:
            return False
        self._held = False
        if slot.store is not self.store:
            # Of the process that this one is a copy of.
            return False
        slot.leases -= 1
        if slot.leases:
            return False
        slot.store = None
        self.store.release()
        return True


def lease(
    name: str,
    opened: Callable[[], HistoryStore],
    wait: float = 0,
    sync: Sync = "os",
    fresh: bool = False,
) -> Lease:
    """A part in the store of this name: in the one that is open here, or in one opened now.

    If another process writes it, look again until so many seconds have passed. One that is to be
    `fresh` is never shared.
    """
    until = time.monotonic() + wait
    pause = SHORTEST
    while True:
        try:
            with _visit(name) as slot:
                return _lease(name, slot, opened, sync, fresh)
        except HistoryConflict:
            left = until - time.monotonic()
            if left <= 0:
                raise
        time.sleep(min(pause, left))
        pause = min(2 * pause, LONGEST)


def _lease(
    name: str, slot: _Slot, opened: Callable[[], HistoryStore], sync: Sync, fresh: bool
) -> Lease:
    if slot.store is None:
        slot.store, slot.leases = opened(), 0
    elif fresh:
        raise slot.store.in_use()
    elif sync == "full":
        # Who asked for it gets it; the others get more than they asked for.
        slot.store.wait_for_disk()
    slot.leases += 1
    return Lease(name, slot.store)


@contextmanager
def _visit(name: str) -> Iterator[_Slot]:
    with _guard:
        slot = _slots.setdefault(name, _Slot())
        slot.visitors += 1
    try:
        with slot.lock:
            yield slot
    finally:
        with _guard:
            slot.visitors -= 1
            _drop(name, slot)


def _drop(name: str, slot: _Slot) -> None:
    """Forget a slot that nobody needs; with the guard held."""
    if not slot.visitors and slot.store is None and _slots.get(name) is slot:
        del _slots[name]
