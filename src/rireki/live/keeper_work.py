"""The keeper's work: from hints to records, with a sweep for what no hint announced.

Everything here happens in one thread, to which the archive's connection belongs.
Whether this process is the one to keep the archive is not known here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from rireki.archive.base import Archive
from rireki.archive.open import now
from rireki.errors import ArchiveTrouble
from rireki.intake.check import PER_SWEEP, Checker
from rireki.intake.known_origins import KnownOrigins
from rireki.intake.memory import give_back
from rireki.intake.naming import named_in_text
from rireki.intake.progress import Progress
from rireki.intake.sweep import Swept, sweep, take_some
from rireki.live.readings import Readings
from rireki.live.retries import Retries
from rireki.live.status import StatusPublisher
from rireki.live.watch import Hinted, Hints, Watcher
from rireki.model.conversation import Trouble
from rireki.model.names import as_path, as_text
from rireki.search.index.importing import take_in
from rireki.search.index.update import catch_up
from rireki.sources import registry
from rireki.sources.kit.places import Places
from rireki.sources.reader import Origin, Reader, Scanned, Watched

__all__ = ["Keeping", "Replaced"]

#: Seconds between two sweeps: normally, when hints fail us, and for how long they are mistrusted.
CALM, EAGER, MISTRUST = 30.0, 2.0, 60.0
#: Deletions and moves come in groups: so long a sweep waits for the rest of them.
SOON = 0.25
#: How often to look whether another process changed the archive.
LOOK = 1.0
#: Files that many conversations share cost most and matter least: they wait so long.
SHARED = 2.0
#: More hints than this at once are answered by a sweep.
MANY = 500
#: Understanding takes place at once if it took less than this; else it has as long a rest, up to a limit.
QUICK, SPACED = 0.1, 5.0
#: The index is looked after when nothing happened for a moment, and not again for a while: at
#: least so many times as long as it took.
QUIET, INDEX_EVERY, INDEX_REST = 1.0, 5.0, 20
#: A watcher that could not be started is tried again after this.
AGAIN = 300.0
#: How often watches are planned at once: folders are made one in another.
DEPTH = 5
NEVER = float("inf")


class Replaced(ArchiveTrouble):
    """The archive's file is another one by now: what is written goes nowhere."""


class Keeping:
    def __init__(
        self,
        places: Places,
        hints: Hints,
        told: StatusPublisher,
        announce: Callable[[int], None],
        index: bool,
        readings: Readings | None = None,
    ) -> None:
        self.places = places
        self.hints = hints
        self.told = told
        self.announce = announce
        self.index = index
        self.witness = readings.witness if readings is not None else None
        self.readers = registry.readers()
        self.watcher: Watcher | None = None
        self.watch_at = 0.0
        self.watch_trouble: list[Trouble] = []
        self.looked: list[Scanned] = []
        #: Folders behind links, found to be out of the watches' reach.
        self.beyond: set[Watched] = set()
        #: Where each reader's origins appear, by its name.
        self.folders: dict[str, tuple[str, ...]] = {}
        self.known_origins: KnownOrigins | None = None
        self.retries = Retries()
        self.checker = Checker(PER_SWEEP)
        self.check_at = 0.0
        self.later: dict[str, float] = {}
        self.sweep_at = NEVER
        self.mistrust_until = 0.0
        self.understand_at = 0.0
        self.waiting = False
        self.active_at = 0.0
        self.index_at = NEVER
        self.index_not_before = 0.0
        self.number = -1
        #: What keeps the keeper as a whole from its work.
        self.hindrance: list[Trouble] = []

    def open(self, archive: Archive) -> None:
        """The archive to work on, until it is opened anew."""
        self.archive = archive
        self.places = self.places.knowing(archive.projects)
        self.identity = _identity(archive)
        give_back()

    # ── the way of one round ──

    def begin(self, progress: Progress) -> None:
        """Watch first, then import everything: what changes meanwhile is hinted at."""
        self._watch()
        report = take_in(self.archive, self.places, progress=progress, index=self.index)
        self.looked = report.looked
        self.known_origins = KnownOrigins(self.archive)
        self.told.tell(report=report, swept_at=now(), origins=len(self.known_origins.origins))
        # Soon for once: it tells what could not be read, and what changed out of our hearing.
        self.sweep_at = self._clock() + min(EAGER, self._calm())
        self._announce()

    def step(self) -> None:
        """Wait for something to do, and do it."""
        hinted = self.hints.collect(self._patience())
        at = self._clock()
        if any(hinted):
            self.active_at = at
        if self.watcher is not None and not self.watcher.is_alive():
            self.stop()
            self.watcher, hinted = None, hinted._replace(doubt=True)
        due = self._due(at)
        paths = self._paths(hinted, at) | due
        if len(paths) > MANY or hinted.doubt:
            self.sweep_at = at
        else:
            self._take(self._ready(self._locate(paths), due, at), at)
        if self._clock() >= self.sweep_at:
            self._sweep(on_time=not hinted.doubt and len(paths) <= MANY)
        self._announce()
        if self._clock() >= self.index_at and self._clock() >= self.active_at + QUIET:
            self._tidy()

    def stop(self) -> None:
        if self.watcher is not None:
            self.watcher.stop()

    def fail(self, trouble: Trouble, pause: float) -> None:
        """What was missed by a failure is not known: everything is looked at, in a while."""
        self.sweep_at = self._clock() + pause
        self.hindrance = [trouble]
        self._tell_troubles()

    def recover(self) -> None:
        self.hindrance = []
        self._tell_troubles()

    def _patience(self) -> float:
        """How long there is nothing to do, unless a hint comes."""
        dates = [self.sweep_at, self.retries.next, *self.later.values()]
        dates += [self.understand_at] if self.waiting else []
        dates += [max(self.index_at, self.active_at + QUIET)]
        return min(LOOK, max(0.0, min(dates) - self._clock()))

    def _clock(self) -> float:
        return time.monotonic()

    # ── from hints to origins ──

    def _paths(self, hinted: Hinted, at: float) -> set[str]:
        """What to look at now; what went is left to a sweep, unless it only goes with a database."""
        assert self.known_origins is not None
        if len(hinted.gone) > MANY or any(map(self._is_missed, hinted.gone)):
            self.sweep_at = min(self.sweep_at, at + SOON)
        return hinted.touched | hinted.gone

    def _is_missed(self, path: str) -> bool:
        assert self.known_origins is not None
        return self.known_origins.has_below(as_text(path))

    def _due(self, at: float) -> set[str]:
        due = {path for path, date in self.later.items() if date <= at}
        for path in due:
            del self.later[path]
        again = set(map(as_path, self.retries.take_due(at)))
        gone = {path for path in again if not os.path.lexists(path)}
        for path in gone:
            self.retries.succeed(as_text(path))
        if gone:
            self._tell_troubles()
        return due | again - gone

    def _locate(self, paths: set[str]) -> list[Origin]:
        """The origins at these paths, as each reader knows them."""
        found: dict[tuple[str, str], Origin] = {}
        for reader in self.readers:
            near = self._folders(reader)
            concerning = {path for path in paths if path.startswith(near)}
            for origin in self._located(reader, concerning) if concerning else ():
                found[origin.source, origin.place] = origin
        return list(found.values())

    def _folders(self, reader: Reader) -> tuple[str, ...]:
        """Where a reader's origins appear, until it is looked again: most of them look at the disk."""
        known = self.folders.get(reader.name)
        if known is None:
            wanted = {*self._wanted_by(reader), *self.beyond}
            known = self.folders[reader.name] = tuple(each.folder for each in wanted)
        return known

    def _located(self, reader: Reader, paths: set[str]) -> Iterable[Origin]:
        locate = getattr(reader, "locate", None)
        if locate is not None:
            return (origin for path in paths for origin in locate(self.places, path))
        assert self.known_origins is not None
        everything = reader.discover(self.places).origins
        return (o for o in everything if not _is_known(self.known_origins, named_in_text(o)))

    # ── taking in ──

    def _ready(self, origins: list[Origin], due: set[str], at: float) -> list[Origin]:
        """Those to be read now: not what many conversations share, nor what failed just before."""
        resting = set(map(as_path, self.retries.resting(at)))
        ready = []
        for origin in origins:
            if (origin.conversation or "").startswith("@") and origin.place not in due:
                self.later.setdefault(origin.place, at + SHARED)
            elif origin.place in due or origin.place not in resting:
                ready.append(origin)
        return ready

    def _take(self, origins: list[Origin], at: float) -> None:
        """Keep what is new at once; understand it too, unless that takes long and was just done."""
        assert self.known_origins is not None
        understand = at >= self.understand_at
        if not origins and not (self.waiting and understand):
            return
        swept = take_some(self.archive, origins, self.known_origins, understand, self.witness)
        took = self._clock() - at
        if understand and took > QUICK:
            self.understand_at = self._clock() + min(took, SPACED)
        self._note(swept, understand)

    def _sweep(self, on_time: bool) -> None:
        if _identity(self.archive) != self.identity:
            raise Replaced("archive-replaced", path=self.archive.name)
        self._watch()
        started = self._clock()
        # Sweeps that follow each other quickly look for what is new, and only now and then for more.
        checker = self.checker if started >= self.check_at else None
        swept = sweep(self.archive, self.places, self.retries.resting(started), checker)
        if checker is not None:
            self.check_at = self._clock() + CALM / 2
        self.looked = swept.report.looked
        took = self._clock() - started
        if on_time and self.watcher is not None:
            self._mistrust(swept)
        self._note(swept, understood=True)
        self.told.tell(swept_at=now())
        self.sweep_at = self._clock() + max(self._calm(), 10 * took)

    def _calm(self) -> float:
        trusted = self.watcher is not None and self._clock() >= self.mistrust_until
        return CALM if trusted else EAGER

    def _mistrust(self, swept: Swept) -> None:
        """A change that no hint announced: there are folders of which we do not hear."""
        assert self.watcher is not None
        failed = {as_path(origin.place) for origin, _ in swept.failed}
        compared = {as_path(origin.place) for origin in swept.compared}
        pending = self.hints.pending() | self.later.keys() | failed | compared
        read = (as_path(origin.place) for origin in swept.read)
        unheard = [place for place in read if place not in pending]
        if not unheard:
            return
        self.mistrust_until = self._clock() + MISTRUST
        folders = {os.path.dirname(place) for place in unheard}  # noqa: PTH120
        self.beyond |= {Watched(f) for f in folders if not self.watcher.covers(f)}

    def _note(self, swept: Swept, understood: bool) -> None:
        at = self._clock()
        self.known_origins = swept.known_origins
        self.told.tell(origins=len(swept.known_origins.origins))
        failed = {origin.place: trouble for origin, trouble in swept.failed}
        for origin in swept.read:
            if origin.place in failed:
                self.retries.fail(origin.place, failed[origin.place], at)
            else:
                self.retries.succeed(origin.place)
        # What was read a while ago and understood only now is new to the index all the same.
        if swept.read or (understood and self.waiting):
            self.index_at = min(self.index_at, max(at + INDEX_EVERY, self.index_not_before))
        self.waiting = not understood
        if failed or swept.troubles or self.told.status.troubles:
            self._tell_troubles(swept.troubles)

    def _tell_troubles(self, others: Iterable[Trouble] = ()) -> None:
        found = [*self.hindrance, *self.watch_trouble, *self.retries.troubles, *others]
        self.told.tell(troubles=list(dict.fromkeys(found)))

    # ── watching ──

    def _watch(self) -> None:
        """Bring the watches in line with what is there now; without any, sweeps have to do."""
        self.folders = {}
        if self.watcher is None and self._clock() < self.watch_at:
            return
        try:
            if self.watcher is None:
                self.watcher = Watcher(self.hints)
                self.watcher.start()
            wanted = [w for reader in self.readers for w in self._wanted_by(reader)]
            for _ in range(DEPTH):
                # A folder may have appeared before the one above it was watched.
                if not self.watcher.plan([*wanted, *self.beyond]):
                    break
        except OSError as error:
            self._go_blind(error)
        else:
            self.watch_trouble = []
            self.told.tell(folders=self.watcher.folders)

    def _wanted_by(self, reader: Reader) -> list[Watched]:
        watched = getattr(reader, "watched", None)
        if watched is not None:
            found: list[Watched] = watched(self.places)
            return found
        looked = self.looked or reader.discover(self.places).looked
        return [_around(each.place) for each in looked if each.source == reader.name]

    def _go_blind(self, error: OSError) -> None:
        assert self.watcher is not None
        self.watcher.stop()
        self.watcher = None
        self.watch_at = self._clock() + AGAIN
        place, why = error.filename or str(self.places.home), error.strerror or error
        self.watch_trouble = [Trouble.of(place, "not-watched", why=why, n=EAGER)]
        self.told.tell(folders=[])
        self._tell_troubles()

    # ── what follows ──

    def _announce(self) -> None:
        """Tell of every change of the archive, whoever made it."""
        number = self.archive.number()
        if number != self.number:
            if self.number >= 0:
                self.told.tell(changed_at=now())
            self.number = number
            self.announce(number)

    def _tidy(self) -> None:
        """Bring the index closer when it has fallen behind, and what was written to the disk."""
        started = self._clock()
        self.index_at = NEVER
        if self.index:
            catch_up(self.archive, lazy=True)
        self.archive.settle()
        give_back()
        # Work that takes long is not to be done all the time.
        self.index_not_before = self._clock() + INDEX_REST * (self._clock() - started)


def _identity(archive: Archive) -> tuple[int, int] | None:
    try:
        status = archive.home.archive.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_known(known_origins: KnownOrigins, origin: Origin) -> bool:
    known = known_origins.find(origin)
    return known is not None and known.stamp == origin.stamp and known.vanished_at is None


def _around(place: str) -> Watched:
    """What to watch for a place that a reader only says it looked at."""
    if os.path.isfile(place):  # noqa: PTH113
        return Watched(os.path.dirname(place))  # noqa: PTH120
    return Watched(place, deep=True)
