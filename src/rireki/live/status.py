"""How a keeper is doing, for whoever asks from another thread."""

from __future__ import annotations

import threading
from typing import Any, Literal, TypeAlias

import msgspec

from rireki.archive.open import now
from rireki.intake.progress import Progress
from rireki.intake.sweep import Report
from rireki.model.conversation import Trouble

__all__ = ["KeeperState", "KeeperStatus", "Stopped", "StatusProgress", "StatusPublisher"]

KeeperState: TypeAlias = Literal[
    "starting", "importing", "keeping", "following", "stopped", "failed"
]


class KeeperStatus(msgspec.Struct, frozen=True, kw_only=True):
    state: KeeperState
    #: When the state began.
    since: str
    #: Files and databases that are known, and the folders in which changes are heard of at once.
    origins: int = 0
    folders: list[str] = msgspec.field(default_factory=list)
    changed_at: str | None = None
    swept_at: str | None = None
    #: What the first import did.
    report: Report | None = None
    #: What the import is at, and how far.
    label: str = ""
    done: int = 0
    total: int = 0
    troubles: list[Trouble] = msgspec.field(default_factory=list)
    #: The process that keeps this archive, when it is another one.
    holder: int | None = None


class StatusPublisher:
    """The newest status; one thread tells, any may ask."""

    def __init__(self) -> None:
        self._status = KeeperStatus(state="starting", since=now())
        self._changed = threading.Condition()

    @property
    def status(self) -> KeeperStatus:
        return self._status

    def tell(self, **facts: Any) -> None:
        if facts.get("state", self._status.state) != self._status.state:
            facts["since"] = now()
        with self._changed:
            self._status = msgspec.structs.replace(self._status, **facts)
            self._changed.notify_all()

    def wait_for(self, states: set[KeeperState], timeout: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._status.state in states, timeout)


class Stopped(Exception):
    """The keeper was told to end while it was at work."""


class StatusProgress:
    """Progress that goes into the status, and to whoever draws it; also where long work is cut short."""

    def __init__(self, told: StatusPublisher, also: Progress, stopping: threading.Event) -> None:
        self._told = told
        self._also = also
        self._stopping = stopping

    def start(self, label: str, total: int) -> None:
        self._check()
        self._told.tell(label=label, done=0, total=total)
        self._also.start(label, total)

    def advance(self, amount: int) -> None:
        self._check()
        self._told.tell(done=self._told.status.done + amount)
        self._also.advance(amount)

    def finish(self) -> None:
        self._told.tell(label="", done=0, total=0)
        self._also.finish()

    def _check(self) -> None:
        if self._stopping.is_set():
            raise Stopped
