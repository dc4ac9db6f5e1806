"""Interprets what people push, tells the feed of it, and keeps the indexes of this machine.

Several servers may run one each: who interprets somebody's archive holds a lease, so that nobody
does the same at once; should he die, another goes on when it has run out.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from uuid import uuid4

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.search.index.update import catch_up
from rireki.team.store import Team

__all__ = ["ProjectWorker"]

#: How often it is looked for what nobody announced: another server took it in.
LOOK_SECONDS = 0.5
#: How long nobody else interprets somebody's archive.
LEASE_SECONDS = 60
#: After something went wrong.
PATIENCE = 2.0

_log = logging.getLogger("rireki.team")


class ProjectWorker:
    def __init__(self, team: Team) -> None:
        self.team = team
        self.holder = uuid4().hex
        self._kicked = threading.Event()
        self._ended = False
        #: Called when there is something new in the feed.
        self.told: Callable[[], None] = lambda: None
        #: Up to which number an archive is in the index of this machine.
        self.indexed: dict[int, int] = {}
        self.interpreted = 0
        self._thread = threading.Thread(target=self._run, name="project worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kick(self) -> None:
        """Look now. May be called from any thread."""
        self._kicked.set()

    def stop(self) -> None:
        self._ended = True
        self.kick()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._ended:
            self._kicked.wait(LOOK_SECONDS)
            self._kicked.clear()
            try:
                self.work()
            except RirekiError as error:
                # The database may be away: what waits there still does afterwards.
                _log.error("interpreting waits: %s", error.message)
                time.sleep(PATIENCE)
            except Exception:  # noqa: BLE001 - it goes on whatever happened to one archive
                _log.exception("interpreting stopped for a moment")
                time.sleep(PATIENCE)

    def work(self) -> None:
        """Everything that waits, person by person."""
        for person in self.team.waiting():
            if self._ended:
                return
            if self._take(person):
                try:
                    self._interpret(person)
                finally:
                    self._give_back(person)
        for person, number in self.team.numbers().items():
            if number != self.indexed.get(person) and not self._ended:
                self._index(person, number)

    def _interpret(self, person: int) -> None:
        with self.team.archive(person) as archive:
            for _ in interpret_pending(archive, Silent(), alone=True):
                self.interpreted += 1
        self._feed(person)

    def _feed(self, person: int) -> None:
        if self.team.feed(person):
            self.told()

    def _index(self, person: int, number: int) -> None:
        with self.team.archive(person) as archive:
            # What went without being interpreted again, by a withdrawal, is told here.
            self._feed(person)
            if _caught_up(archive):
                self.indexed[person] = number

    def _take(self, person: int) -> bool:
        values = (f"interpret {person}", self.holder, LEASE_SECONDS, self.holder)
        return bool(self.team.tables.ask(TAKE, *values))

    def _give_back(self, person: int) -> None:
        self.team.tables.ask(GIVE_BACK, f"interpret {person}", self.holder)


def _caught_up(archive: Archive) -> bool:
    archive.home.index.parent.mkdir(parents=True, exist_ok=True)
    return catch_up(archive)


TAKE = """INSERT INTO lease (name, holder, until)
          VALUES (%s, %s, now() + %s * interval '1 second')
          ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
           WHERE lease.until < now() OR lease.holder = %s RETURNING holder"""
GIVE_BACK = "DELETE FROM lease WHERE name = %s AND holder = %s"
