"""Watching folders: what the operating system tells of them, gathered as hints.

A hint says that something may have changed at a path, never what. Events get
lost, come twice and come late: whoever takes hints also looks for himself now
and then. What lies in the folders is not known here.
"""

# Strings instead of pathlib: every event comes by here.
# ruff: noqa: PTH112, PTH116, PTH119, PTH120, PTH206

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from watchdog import events
from watchdog.observers import Observer

from rireki.sources.reader import Watched

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

__all__ = ["Hinted", "Hints", "Watcher"]

#: Events of one save come in a cluster: so long the first one waits for the others, in seconds.
GATHER = 0.004


class Hinted(NamedTuple):
    """Hints that came together."""

    #: Files that were written, folders that appeared.
    touched: set[str]
    #: What was deleted, or moved away.
    gone: set[str]
    #: Something happened that cannot be named: everything has to be looked at.
    doubt: bool


class Hints:
    """Where threads that watch leave hints, and one that acts picks them up."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._woken = False
        self._hinted = Hinted(set(), set(), False)

    def touch(self, path: str) -> None:
        with self._changed:
            self._hinted.touched.add(path)
            self._changed.notify()

    def lose(self, path: str) -> None:
        with self._changed:
            self._hinted.gone.add(path)
            self._changed.notify()

    def doubt(self) -> None:
        with self._changed:
            self._hinted = self._hinted._replace(doubt=True)
            self._changed.notify()

    def pending(self) -> set[str]:
        """What was touched and not collected yet."""
        with self._changed:
            return set(self._hinted.touched)

    def wake(self) -> None:
        """Let `collect` return, with or without a hint."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def collect(self, timeout: float) -> Hinted:
        """What was hinted at; waits for it, but not longer than `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(self._has_any, max(timeout, 0))
            hinted = any(self._hinted)
        if hinted:
            time.sleep(GATHER)
        with self._changed:
            found, self._hinted = self._hinted, Hinted(set(), set(), False)
            self._woken = False
        return found

    def _has_any(self) -> bool:
        return self._woken or any(self._hinted)


class _Aim(NamedTuple):
    """One watch to be set: a real folder, and why it is watched."""

    folder: str
    deep: bool
    #: The folder's identity: one that was made anew has to be watched anew.
    identity: tuple[int, int]
    #: The names under which readers know the folder; links lead to it.
    names: tuple[str, ...]
    #: Paths that are wanted and not there yet, to appear in this folder first.
    awaited: tuple[str, ...]


class Watcher:
    """Sets and moves the watches. One per process: each takes a share of a small system limit."""

    def __init__(self, hints: Hints) -> None:
        self.hints = hints
        self._observer: BaseObserver | None = None
        self._threads: set[threading.Thread] = set()
        self._watches: dict[str, tuple[_Aim, ObservedWatch]] = {}
        self._ear = _Ear(hints)

    def start(self) -> None:
        """Raises OSError when the system has no more watches to give."""
        self._ear.listen()
        # It says so when it watches a new folder a second time, which happens and does no harm.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        before = set(threading.enumerate())
        self._observer = Observer()
        self._observer.start()
        self._threads = set(threading.enumerate()) - before

    def is_alive(self) -> bool:
        """Whether everybody who listens still does."""
        return all(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        observer, self._observer = self._observer, None
        self._watches.clear()
        if observer is not None:
            observer.stop()
            observer.join()
        # Its threads note what comes as they end, which would be printed if nobody took it.
        self._ear.leave()

    @property
    def folders(self) -> list[str]:
        """What is watched, by the names that readers use."""
        return sorted(name for aim, _ in self._watches.values() for name in aim.names)

    def covers(self, path: str) -> bool:
        """Whether what happens at a path would be heard of, links on the way considered."""
        folder = os.path.dirname(os.path.realpath(path))
        aims = (aim for aim, _ in self._watches.values() if aim.names)
        return any(
            folder == aim.folder or (aim.deep and folder.startswith(aim.folder + os.sep))
            for aim in aims
        )

    def plan(self, wanted: Iterable[Watched]) -> bool:
        """Bring the watches in line with what is wanted and what is there; True if any is new.

        Raises OSError when the system has no more watches to give.
        """
        aims = {aim.folder: aim for aim in _aims(wanted)}
        for folder in [f for f, (aim, _) in self._watches.items() if aims.get(f) != aim]:
            self._unwatch(folder)
        new = [aim for aim in aims.values() if aim.folder not in self._watches]
        for aim in new:
            self._watch(aim)
        return bool(new)

    def _watch(self, aim: _Aim) -> None:
        if self._observer is None:
            return
        kinds: list[type[FileSystemEvent]] = [
            events.FileCreatedEvent,
            events.FileModifiedEvent,
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.FileClosedEvent,
            events.DirCreatedEvent,
            events.DirMovedEvent,
            events.DirDeletedEvent,
        ]
        handler: Any = _Handler(aim, self.hints)
        try:
            watch = self._observer.schedule(
                handler, aim.folder, recursive=aim.deep, event_filter=kinds
            )
        except (FileNotFoundError, NotADirectoryError):
            # Gone in this very moment: the folder above it, or the next plan, tells.
            self.hints.doubt()
            return
        self._watches[aim.folder] = (aim, watch)

    def _unwatch(self, folder: str) -> None:
        _, watch = self._watches.pop(folder)
        if self._observer is not None:
            self._observer.unschedule(watch)


def _aims(wanted: Iterable[Watched]) -> list[_Aim]:
    """One watch per folder. What lies below a deep one needs none of its own."""
    names: dict[str, set[str]] = {}
    awaited: dict[str, set[str]] = {}
    deep: dict[str, bool] = {}
    for folder, is_deep in wanted:
        there = _nearest(folder)
        real = os.path.realpath(there)
        deep[real] = deep.get(real, False) or (is_deep and there == folder)
        (names if there == folder else awaited).setdefault(real, set()).add(folder)
    aims = []
    for real in deep:
        above = [other for other in deep if deep[other] and real.startswith(other + os.sep)]
        identity = _identity(real)
        if identity is not None and (real in awaited or not above):
            told = tuple(sorted(names.get(real, ()))), tuple(sorted(awaited.get(real, ())))
            aims.append(_Aim(real, deep[real], identity, *told))
    return aims


def _nearest(folder: str) -> str:
    """The folder, or the first above it that is there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Handler:
    """Turns the events of one watch into hints, under the names that readers know."""

    def __init__(self, aim: _Aim, hints: Hints) -> None:
        self.aim = aim
        self.hints = hints
        self.on_the_way = {name for path in aim.awaited for name in path.split(os.sep)}

    def dispatch(self, event: FileSystemEvent) -> None:
        if event.event_type == "modified" and event.is_directory:
            return
        if event.event_type in ("deleted", "moved"):
            self._tell(os.fsdecode(event.src_path), self.hints.lose)
        if event.event_type != "deleted":
            path = event.dest_path if event.event_type == "moved" else event.src_path
            self._tell(os.fsdecode(path), self.hints.touch)

    def _tell(self, path: str, hint: Callable[[str], None]) -> None:
        rest = path[len(self.aim.folder) :]
        for name in self.aim.names:
            hint(name + rest)
        if os.path.basename(path) in self.on_the_way:
            # Something wanted lies there, or may from now on.
            self.hints.doubt()


class _Ear(logging.Handler):
    """Hears when the system says that it dropped events: watchdog notes that in its log only."""

    def __init__(self, hints: Hints) -> None:
        super().__init__(logging.WARNING)
        self.hints = hints

    def listen(self) -> None:
        logging.getLogger("watchdog").addHandler(self)

    def leave(self) -> None:
        logging.getLogger("watchdog").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.hints.doubt()
