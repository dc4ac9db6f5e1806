"""Interprets what people push, and tells the feed of it; keeps the indexes of this machine.

Several servers may run one each: who interprets somebody's archive holds a lease, so that nobody
does the same at once; should he die, another goes on when it has run out.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from uuid import uuid4

from rireki.errors import RirekiError
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.search.index.words import IndexBusy
from rireki.team.shelves import Shelf, Shelves
from rireki.team.store import Team

__all__ = ["ProjectWorker", "ShelfKeeper", "TeamWorker"]

#: How often it is looked for what nobody announced: another server took it in.
LOOK_SECONDS = 0.5
#: How long nobody else interprets somebody's archive.
LEASE_SECONDS = 60
#: After something went wrong.
PATIENCE = 2.0
#: Making a shelf without what went may take this share of the time; nobody waits longer than that.
RENEWING, LONGEST_WAIT = 0.2, 20.0

_log = logging.getLogger("rireki.team")


class TeamWorker:
    """A thread that looks again and again, and at once when it is kicked, for work."""

    def __init__(self, name: str) -> None:
        self._kicked = threading.Event()
        self.ended = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def kick(self) -> None:
        """Look now. May be called from any thread."""
        self._kicked.set()

    def stop(self) -> None:
        self.ended = True
        self.kick()
        if self._thread.ident is not None:
            self._thread.join()

    def work(self) -> None:
        raise NotImplementedError

    def _run(self) -> None:
        while not self.ended:
            self._kicked.wait(LOOK_SECONDS)
            self._kicked.clear()
            try:
                self.work()
            except RirekiError as error:
                # The database may be away: what waits there still does afterwards.
                _log.error("%s waits: %s", self._thread.name, error.message)
                time.sleep(PATIENCE)
            except Exception:  # noqa: BLE001 - it goes on whatever happened to one archive
                _log.exception("%s stopped for a moment", self._thread.name)
                time.sleep(PATIENCE)


class ProjectWorker(TeamWorker):
    def __init__(self, team: Team, done: Callable[[], None] = lambda: None) -> None:
        """`done` is called when something was interpreted, or went."""
        super().__init__("interpreting")
        self.team = team
        self.holder = uuid4().hex
        #: Up to which number the feed was told of an archive.
        self.fed: dict[int, int] = {}
        self.interpreted = 0
        #: Called when there is something new in the feed.
        self.told: Callable[[], None] = lambda: None
        self._done = done

    def work(self) -> None:
        """Everything that waits, person by person."""
        for person in self.team.waiting():
            if self.ended:
                return
            if self._take(person):
                try:
                    self._interpret(person)
                finally:
                    self._give_back(person)
        for person, number in self.team.numbers().items():
            if number != self.fed.get(person) and not self.ended:
                # What went without being interpreted again, by a withdrawal, is told here.
                self._feed(person)
                self.fed[person] = number
                self._done()

    def _interpret(self, person: int) -> None:
        with self.team.archive(person) as archive:
            for _ in interpret_pending(archive, Silent(), alone=True):
                self.interpreted += 1
        self._feed(person)

    def _feed(self, person: int) -> None:
        if self.team.feed(person):
            self.told()

    def _take(self, person: int) -> bool:
        values = (f"interpret {person}", self.holder, LEASE_SECONDS, self.holder)
        return bool(self.team.tables.ask(TAKE, *values))

    def _give_back(self, person: int) -> None:
        self.team.tables.ask(GIVE_BACK, f"interpret {person}", self.holder)


class ShelfKeeper(TeamWorker):
    """Brings the shelves up to what was interpreted, and makes anew those that have words of what went."""

    def __init__(self, shelves: Shelves) -> None:
        super().__init__("indexing")
        self.shelves = shelves
        #: Up to which number an archive is in its shelf.
        self.indexed: dict[int, int] = {}
        #: Shelves that have words of what went, and when they may be made anew.
        self.soiled: dict[Shelf, float] = {}
        #: Which version of each shelf was asked how far it is.
        self._asked: dict[Shelf, int] = {}
        self._not_before = 0.0

    def work(self) -> None:
        numbers = self.shelves.rows.numbers()
        for shelf in self.shelves.shelves:
            people = [person for person in numbers if self.shelves.of(person) is shelf]
            if self._asked.get(shelf) != shelf.version:
                self._ask(shelf, people)
            behind = [person for person in people if numbers[person] != self.indexed.get(person)]
            if behind and not self.ended:
                self._bring_up(shelf, behind)
        for shelf, moment in list(self.soiled.items()):
            if moment <= time.monotonic() and not self.ended:
                self._renew(shelf, [p for p in numbers if self.shelves.of(p) is shelf])

    def _ask(self, shelf: Shelf, people: list[int]) -> None:
        """How far it is: it was made by a server that ended, or made anew."""
        for person in people:
            self.indexed.pop(person, None)
        self._asked[shelf] = shelf.version
        self.indexed |= self.shelves.reached(shelf)
        if self.shelves.is_soiled(shelf):
            self.soiled.setdefault(shelf, 0.0)

    def _bring_up(self, shelf: Shelf, people: list[int]) -> None:
        try:
            self.indexed |= self.shelves.bring_up(shelf, people)
        except IndexBusy:
            return
        if self.shelves.is_soiled(shelf):
            self.soiled.setdefault(shelf, self._not_before)

    def _renew(self, shelf: Shelf, people: list[int]) -> None:
        started = time.monotonic()
        self.shelves.renew(shelf, people)
        del self.soiled[shelf]
        ended = time.monotonic()
        self._not_before = ended + min((ended - started) / RENEWING, LONGEST_WAIT)


TAKE = """INSERT INTO lease (name, holder, until)
          VALUES (%s, %s, now() + %s * interval '1 second')
          ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
           WHERE lease.until < now() OR lease.holder = %s RETURNING holder"""
GIVE_BACK = "DELETE FROM lease WHERE name = %s AND holder = %s"
