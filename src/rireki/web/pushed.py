"""What other machines push here: who may, into which archive, and that it is soon to be read.

A device's token opens nothing else, and the token of the pages does not push.
"""

from __future__ import annotations

import threading
import traceback
from contextlib import closing
from functools import partial
from pathlib import Path

from starlette.routing import Route

from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.library import Library
from rireki.search.index.update import catch_up
from rireki.sync.devices import Devices
from rireki.sync.machine import this_machine
from rireki.sync.routes import Admission, push_routes

__all__ = ["PushIntake"]

#: Seconds without a batch after which the index is brought up.
QUIET = 2.0


class PushIntake:
    """Made before there is a loop; `close` ends its thread."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self._devices = Devices(Home(archive))
        self._machine = this_machine()
        self._library = Library(partial(open_archive, archive))
        self._new, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="rireki-pushed", daemon=True)

    @property
    def routes(self) -> list[Route]:
        return push_routes(self._admit)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._new.set()
        if self._thread.is_alive():
            self._thread.join()
        self._library.close()

    def _admit(self, token: str) -> Admission | None:
        if self._devices.find(token) is None:
            return None
        return Admission(self._library.archive, "own", self._machine, taken=self._new.set)

    # ── in the thread ──

    def _run(self) -> None:
        """Interpret what came; pages hear of it as of every change."""
        behind = False
        while not self._closed.is_set():
            came = self._new.wait(QUIET if behind else None)
            self._new.clear()
            if self._closed.is_set():
                return
            try:
                self._work(came)
            except RirekiError:
                # A full disk, a lock: the marks stay, and with the next batch it is tried again.
                behind = True
            except Exception as error:  # noqa: BLE001 - said with its traceback, and gone on
                traceback.print_exception(error)
                behind = False
            else:
                behind = came

    def _work(self, came: bool) -> None:
        with closing(open_archive(self.archive)) as archive:
            if came or next(archive.pending(), None) is not None:
                for _ in interpret_pending(archive, Silent()):
                    if self._closed.is_set():
                        return
            else:
                catch_up(archive, lazy=True)
                archive.settle()
