"""Pushes what the keeper took in to the remotes, moments after it was committed: everything to those
that are one's own, to a team's server what is shared.

In a thread of its own: a remote that is slow, or not there, keeps nothing waiting.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.archive.open import StorageError, open_archive
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.late import LateModule
from rireki.live.retries import pause
from rireki.shares.rules import read_rules
from rireki.sync.remotes import Remote, Remotes

# Hardly anybody has a remote: what speaks to one is imported when there is one.
if TYPE_CHECKING:
    from rireki.shares import link as shares
    from rireki.sync import link
else:
    shares = LateModule("rireki.shares.link")
    link = LateModule("rireki.sync.link")

__all__ = ["BackgroundPush"]

#: Seconds from one push to the next, to a server and to a folder: each leaves a file there.
SERVER, FOLDER = 1.0, 60.0
#: How often it is looked for what nobody announced, in seconds: something was forgotten, or given a
#: title; a remote was added; something is shared, or is no longer.
LOOK = 5.0


class BackgroundPush:
    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.remotes = Remotes(Home(archive))
        self._new, self._stopping = threading.Event(), threading.Event()
        #: When each remote may be pushed to again, and how often in a row that failed.
        self._due: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        #: Those that have not got everything yet.
        self._waiting: set[str] = set()
        #: What there was to push when it was last looked.
        self._seen: object = None
        self._thread = threading.Thread(target=self._run, name="rireki-push", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kick(self) -> None:
        """There may be something new."""
        self._new.set()

    def stop(self, patience: float) -> None:
        """A batch that is on its way is either kept there or sent again."""
        self._stopping.set()
        self._new.set()
        if self._thread.is_alive():
            self._thread.join(patience)

    # ── in the thread ──

    def _run(self) -> None:
        while not self._stopping.is_set():
            came = self._new.wait(self._patience())
            self._new.clear()
            if self._stopping.is_set():
                return
            try:
                remotes = self.remotes.all()
            except RirekiError:
                # `rireki remote list` says what is wrong with the file.
                remotes = []
            if self._has_changed(remotes) or came:
                self._waiting = {remote.name for remote in remotes}
            for remote in remotes:
                self._push_to(remote)
            self._waiting &= {remote.name for remote in remotes}

    def _patience(self) -> float:
        """Until the next remote is due that waits for something, or it is time to look."""
        dates = [self._due.get(name, 0.0) for name in self._waiting]
        return min(LOOK, max(0.0, min(dates) - time.monotonic())) if dates else LOOK

    def _has_changed(self, remotes: Sequence[Remote]) -> bool:
        if not remotes:
            return False
        try:
            with closing(open_archive(self.archive)) as archive:
                now = (archive.number(), remotes, read_rules())
        except (RirekiError, StorageError):
            # A push says what is wrong; there will be one when something is taken in.
            return False
        before, self._seen = self._seen, now
        return now != before

    def _push_to(self, remote: Remote) -> None:
        name = remote.name
        if name not in self._waiting or time.monotonic() < self._due.get(name, 0.0):
            return
        failures = self._failures.get(name, 0)
        if self._pushed(remote, failures):
            self._waiting.discard(name)
            self._failures.pop(name, None)
            wait = FOLDER if remote.is_folder else SERVER
        else:
            self._failures[name] = failures + 1
            wait = pause(failures + 1)
        self._due[name] = time.monotonic() + wait

    def _pushed(self, remote: Remote, failures: int) -> bool:
        try:
            with closing(open_archive(self.archive)) as archive:
                if remote.kind != "team" or shares.is_shared(archive, remote):
                    link.RemoteLink(archive, remote, shares.shared_with).push()
        except RirekiError:
            # Noted by the link, where `rireki remote list` finds it.
            return False
        except Exception as error:  # noqa: BLE001 - said with its traceback, and gone on
            if failures == 0:
                traceback.print_exception(error)
            return False
        return True
