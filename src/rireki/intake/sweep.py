"""Everything on this machine, or in the places named: found, compared with what is known, taken in.

Work is proportional to what changed: an origin whose stamp is known is not opened.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rireki.archive.base import Archive, KnownOrigin, StoredReading
from rireki.errors import NotFound
from rireki.intake.check import Checker
from rireki.intake.interpret import is_for_lack_of_memory
from rireki.intake.known_origins import KnownOrigins, name_of
from rireki.intake.naming import name_in_text, named_in_text
from rireki.intake.pending import Witness, interpret_pending
from rireki.intake.progress import Progress, Silent
from rireki.intake.rules import ensure_current
from rireki.intake.take import take_origin
from rireki.late import LateModule
from rireki.model.conversation import Trouble
from rireki.model.names import as_path
from rireki.model.record import Origin
from rireki.model.seal import is_sealed_markdown
from rireki.sources import registry
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Reader, Scanned

# A run with little to do needs no workers.
if TYPE_CHECKING:
    from rireki.intake.parallel import bulk, pool
    from rireki.intake.parallel.follow import Follower
else:
    bulk = LateModule("rireki.intake.parallel.bulk")
    pool = LateModule("rireki.intake.parallel.pool")

__all__ = [
    "Report",
    "SourceReport",
    "Swept",
    "discover",
    "import_history",
    "sweep",
    "take_some",
]


#: From this many bytes of fresh files on, other processors are worth their start.
BULK = 8 << 20
#: Or from this many on: taken in one by one, each has transactions of its own.
CROWD = 300


class SourceReport(msgspec.Struct):
    """What an import did for one source."""

    source: str
    found: int = 0
    read: int = 0
    unchanged: int = 0
    new_conversations: int = 0
    new_subagents: int = 0
    changed_conversations: int = 0
    vanished: int = 0
    moved: int = 0
    forgotten: int = 0
    new_bytes: int = 0
    #: Files that were compared with what is kept of them, although they looked unchanged.
    compared: int = 0
    troubles: list[Trouble] = msgspec.field(default_factory=list)


class Report(msgspec.Struct):
    sources: list[SourceReport]
    looked: list[Scanned] = msgspec.field(default_factory=list)
    seconds: float = 0.0
    #: What was kept, and yet waits to be indexed: why.
    index: Trouble | None = None


class Swept(msgspec.Struct):
    """What a look at everything brought."""

    report: Report
    #: What was read because its stamp had changed.
    read: list[Origin]
    #: What of it could not be, and why.
    failed: list[tuple[Origin, Trouble]]
    known_origins: KnownOrigins
    troubles: list[Trouble]
    #: What of it looked unchanged, and was not.
    compared: list[Origin] = msgspec.field(default_factory=list)


def import_history(
    archive: Archive,
    *,
    places: Places,
    paths: Sequence[Path] = (),
    sources: Sequence[str] = (),
    progress: Progress | None = None,
    follower: Follower | None = None,
    check: bool = False,
) -> Report:
    """Take in whatever is new or changed, and note what is gone.

    With `check`, also what looks unchanged is compared with what is kept of it, byte for byte.
    `follower` is told of new conversations that were interpreted on the way; of others
    it can learn from their `changed` numbers.
    """
    started = time.monotonic()
    ensure_current(archive)
    readers = registry.readers(sources)
    projects = _Projects(archive)
    discovery = discover(readers, places.knowing(projects.ask), paths)
    known_origins = KnownOrigins(archive)
    if not paths:
        _look_again(readers, known_origins, discovery)
    walk = _Walk(archive, readers, discovery, progress or Silent(), follower, known_origins)
    walk.checker = Checker() if check else None
    walk.run()
    if not paths and projects.are_more():
        walk.run_again(discover(readers, places.knowing(archive.projects)))
    if not sources:
        walk.name_broken()
    return walk.report(started)


class _Projects:
    """The directories that the archive knew when a reader asked, if one did."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.told: list[str] | None = None

    def ask(self) -> list[str]:
        if self.told is None:
            self.told = list(self.archive.projects())
        return self.told

    def are_more(self) -> bool:
        return self.told is not None and not set(self.told).issuperset(self.archive.projects())


def sweep(
    archive: Archive,
    places: Places,
    leaving: Collection[str] = (),
    checker: Checker | None = None,
) -> Swept:
    """What `import_history` does, told to somebody who goes on with it.

    Changed origins at places in `leaving` are left for later. The `checker` compares some of
    what looks unchanged.
    """
    started = time.monotonic()
    ensure_current(archive)
    readers = registry.readers()
    discovery = discover(readers, places.knowing(archive.projects))
    known_origins = KnownOrigins(archive)
    _look_again(readers, known_origins, discovery)
    walk = _Walk(archive, readers, discovery, Silent(), None, known_origins)
    walk.leaving = leaving
    walk.checker = checker
    walk.run()
    report = walk.report(started)
    return Swept(report, walk.read, walk.failed, known_origins, discovery.troubles, walk.differing)


def take_some(
    archive: Archive,
    origins: Sequence[Origin],
    known_origins: KnownOrigins,
    understand: bool = True,
    witness: Witness | None = None,
) -> Swept:
    """Take in a few origins that may have changed, at a price that does not depend on all others.

    Whether a file is one that lay elsewhere before is asked of those files only. What was
    taken in is interpreted as well, together with what waits for it, or left to wait.
    """
    started = time.monotonic()
    found = Discovery(origins=list(origins))
    name_in_text(found)
    readers = registry.readers()
    if known_origins.newcomers and not all(map(known_origins.find, found.origins)):
        known_origins = KnownOrigins(archive)
    walk = _Walk(archive, readers, found, Silent(), None, known_origins)
    walk.run_some()
    if understand:
        walk.understand(witness, alone=True)
    return Swept(walk.report(started), walk.read, walk.failed, known_origins, found.troubles)


def discover(readers: Sequence[Reader], places: Places, paths: Sequence[Path] = ()) -> Discovery:
    """Every origin of these readers at home, or in the paths the user named."""
    whole = Discovery()
    for path in paths:
        whole.origins += _recognise(readers, path)
        whole.looked += [Scanned(r.name, str(path), True) for r in readers]
    for reader in readers if not paths else ():
        found = reader.discover(places)
        whole.origins += found.origins
        whole.looked += found.looked
        whole.troubles += found.troubles
    name_in_text(whole)
    return whole


def _look_again(readers: Sequence[Reader], known_origins: KnownOrigins, found: Discovery) -> None:
    """At what was once named by its path, where a source has no place of its own."""
    anywhere = {reader.name: reader for reader in readers if getattr(reader, "anywhere", False)}
    here = {(o.source, o.place) for o in found.origins if o.source in anywhere}
    for known in known_origins.origins.values():
        if known.source not in anywhere or (known.source, known.place) in here:
            continue
        path = Path(as_path(known.place))
        there = path.exists()
        found.looked.append(Scanned(known.source, known.place, there, "named before"))
        again = anywhere[known.source].recognise(path) if there else []
        found.origins += map(named_in_text, again)


def _recognise(readers: Sequence[Reader], path: Path) -> list[Origin]:
    if not path.exists():
        raise NotFound("no-such-path", path=path)
    origins = [origin for reader in readers for origin in reader.recognise(path.absolute())]
    if not origins:
        if is_sealed_markdown(path):
            raise NotFound("shared-for-reading", path=path)
        known = [reader.name for reader in readers]
        raise NotFound("no-history-there", path=path, names=known)
    return origins


class _Walk:
    def __init__(
        self,
        archive: Archive,
        readers: Sequence[Reader],
        discovery: Discovery,
        progress: Progress,
        follower: Follower | None,
        known_origins: KnownOrigins,
    ) -> None:
        self.archive = archive
        self.follower = follower
        self.readers = {reader.name: reader for reader in readers}
        self.discovery = discovery
        self.progress = progress
        self.reports = {name: SourceReport(name) for name in self.readers}
        self.found = {(origin.source, origin.place) for origin in discovery.origins}
        self.looked = {origin.root for origin in discovery.origins}
        self.looked |= {look.place for look in discovery.looked}
        #: Whether each root, or what lies above it, was looked at; thousands of files share a few.
        self.roots: dict[str, bool] = {}
        self.leaving: Collection[str] = ()
        self.checker: Checker | None = None
        #: What was opened, and what of it could not be read.
        self.read: list[Origin] = []
        self.failed: list[tuple[Origin, Trouble]] = []
        #: What looked unchanged and was not what is kept of it.
        self.differing: list[Origin] = []
        self.known_origins = known_origins

    def report(self, started: float) -> Report:
        seconds = round(time.monotonic() - started, 3)
        return Report(list(self.reports.values()), self.discovery.looked, seconds)

    def name_broken(self) -> None:
        """Readers that could not be used: each costs itself alone, and is told."""
        for name, trouble in registry.broken():
            self.reports.setdefault(name, SourceReport(name)).troubles.append(trouble)

    def run_some(self) -> None:
        """Only the origins that were found: of others nothing is asked, and nothing is missed."""
        self._note_moves()
        for origin in self.discovery.origins:
            self.reports[origin.source].found += 1
            self._take_singly(origin, self.known_origins.find(origin))

    def run(self) -> None:
        for trouble in self.discovery.troubles:
            self._report_for(trouble).troubles.append(trouble)
        self._note_absent()
        todo = [origin for origin in self.discovery.origins if self._may_have_changed(origin)]
        fresh = [o for o in todo if self._is_one_record(o) and self.known_origins.find(o) is None]
        self._take(todo, fresh)
        todo += self._check(todo)
        self.understand()
        if todo:
            self._collect_troubles(todo)
            self.archive.settle()

    def _is_one_record(self, origin: Origin) -> bool:
        """Whether a worker can pack it: neither rows, nor a document that is cut into pieces."""
        cuts = getattr(self.readers[origin.source], "cuts", {})
        return origin.form != "database" and origin.role not in cuts

    def run_again(self, discovery: Discovery) -> None:
        """Take in what is found, or told apart, by directories that were not known before."""
        before = {(o.source, o.place): o.stamp for o in self.discovery.origins}
        news = [o for o in discovery.origins if before.get((o.source, o.place)) != o.stamp]
        self._take(news, [])
        for conversation, is_new in interpret_pending(self.archive, self.progress):
            if is_new:
                self._count_conversations([StoredReading(conversation, is_new)])
        self._collect_troubles(news)

    def _report_for(self, trouble: Trouble) -> SourceReport:
        for looked in self.discovery.looked:
            if trouble.place.startswith(looked.place):
                return self.reports[looked.source]
        return next(iter(self.reports.values()))

    def _may_have_changed(self, origin: Origin) -> bool:
        report = self.reports[origin.source]
        report.found += 1
        known = self.known_origins.find(origin)
        if known and known.stamp == origin.stamp and known.vanished_at is None:
            report.unchanged += 1
            return False
        return origin.place not in self.leaving

    # ── what is no longer where it was ──

    def _note_absent(self) -> None:
        """Known origins that are not there any more: moved, or vanished."""
        known = self.known_origins.origins
        missing = [known[name] for name in known.keys() - self.found]
        absent = [each for each in missing if self._is_absent(each)]
        homeless = (
            {name_of(o, o.conversation): o for o in self._unknown_origins()} if absent else {}
        )
        moved = [
            (each, homeless.pop(self.known_origins.name_of(self.archive, each), None))
            for each in absent
        ]
        news = [(each, place) for each, place in moved if place or each.vanished_at is None]
        if not news:
            return
        with self.archive.writing() as batch:
            for each, place in news:
                if place is not None:
                    batch.move(each, place)
                    self._remember_move(each, place)
                else:
                    batch.vanish(each)
                    self.known_origins.vanish(each)
                    self.reports[each.source].vanished += 1

    def _note_moves(self) -> None:
        """Files that lie where none was, while one of that name is no longer where it was."""
        moved = [
            (known, origin)
            for origin in self._unknown_origins()
            if (known := self.known_origins.namesake(self.archive, origin))
            and not _exists(known.place)
        ]
        if moved:
            with self.archive.writing() as batch:
                for known, origin in moved:
                    batch.move(known, origin)
                    self._remember_move(known, origin)

    def _is_absent(self, known: KnownOrigin) -> bool:
        return (
            known.source in self.readers and self._was_looked_at(known) and not _exists(known.place)
        )

    def _was_looked_at(self, known: KnownOrigin) -> bool:
        """Whether this walk could have found it: another home's origins are none of its business."""
        root = known.root
        if root not in self.roots:
            places = (root, *map(str, Path(root).parents))
            self.roots[root] = any(place in self.looked for place in places)
        return self.roots[root] or known.place in self.looked

    def _unknown_origins(self) -> Iterable[Origin]:
        return (
            origin
            for origin in self.discovery.origins
            if origin.form != "database" and self.known_origins.find(origin) is None
        )

    def _remember_move(self, known: KnownOrigin, origin: Origin) -> None:
        self.reports[known.source].moved += 1
        self.known_origins.move(known, origin)

    # ── what is new ──

    def _take(self, todo: Sequence[Origin], fresh: Sequence[Origin]) -> None:
        if not todo:
            return
        self.progress.start("reading", sum(origin.size for origin in todo))
        singly = list(todo)
        if fresh and (len(fresh) >= CROWD or sum(origin.size for origin in fresh) >= BULK):
            singly = self._take_bulk(todo, fresh)
        for origin in singly:
            self._take_singly(origin)
        self.progress.finish()

    def _check(self, taken: Sequence[Origin]) -> list[Origin]:
        """Compare what looks unchanged with what is kept of it; returns what was read again."""
        if self.checker is None:
            return []
        done = {(o.source, o.place) for o in taken}
        rest = [o for o in self.discovery.origins if (o.source, o.place) not in done]
        rest = [o for o in rest if o.place not in self.leaving]
        files = [o for o in rest if o.form != "database" and self.known_origins.find(o)]
        again = self.differing = list(self.checker.differing(self.archive, files))
        if self.checker.budget is None:
            again = [*again, *(o for o in rest if o.form == "database")]
            for origin in rest:
                self.reports[origin.source].compared += 1
        for origin in again:
            self._take_singly(origin, thorough=True)
        return again

    def _take_singly(
        self,
        origin: Origin,
        known: KnownOrigin | None = None,
        *,
        thorough: bool = False,
    ) -> None:
        reader = self.readers[origin.source]
        taken = take_origin(self.archive, reader, origin, known, thorough=thorough)
        self.reports[origin.source].forgotten += taken.forgotten
        if taken.written:
            self._count(origin, taken.new_bytes, taken.trouble)

    def _take_bulk(
        self,
        todo: Sequence[Origin],
        fresh: Sequence[Origin],
    ) -> list[Origin]:
        """Let other processors take the fresh files; returns what is left to be taken singly."""
        families = {name: reader.family for name, reader in self.readers.items()}
        names = {o.conversation for o in fresh if o.conversation is not None}
        forgotten = set(self.archive.forgotten(names))
        wanted = [o for o in fresh if (families[o.source], o.conversation) not in forgotten]
        work = bulk.Bulk(self.archive, families, self._count, self.follower)
        with pool.WorkerPool(pool.processors(), copies=True) as workers:
            self._count_conversations(work.take(workers, wanted))
        done = {(o.source, o.place) for o in wanted if o.place not in work.left}
        return [o for o in todo if (o.source, o.place) not in done]

    def _count(self, origin: Origin, new_bytes: int, trouble: Trouble | None) -> None:
        report = self.reports[origin.source]
        report.read += 1
        report.new_bytes += new_bytes
        if trouble:
            report.troubles.append(trouble)
            self.failed.append((origin, trouble))
        else:
            self.known_origins.take(origin)
        self.read.append(origin)
        self.progress.advance(origin.size)

    def understand(self, witness: Witness | None = None, *, alone: bool = False) -> None:
        if next(self.archive.pending(), None) is None:
            return
        stored = interpret_pending(self.archive, self.progress, witness, alone=alone)
        self._count_conversations(stored)

    def _count_conversations(self, stored: Iterable[StoredReading]) -> None:
        for conversation, is_new in stored:
            report = self.reports.get(conversation.source)
            if report is None:
                continue
            report.troubles += filter(is_for_lack_of_memory, conversation.troubles)
            if not is_new:
                report.changed_conversations += 1
            elif conversation.nature == "subagent":
                report.new_subagents += 1
            elif conversation.nature != "notes":
                report.new_conversations += 1

    def _collect_troubles(self, todo: Sequence[Origin]) -> None:
        """What the origins that were read could not give."""
        read = {(origin.source, origin.place) for origin in todo}
        for source, place, trouble in self.archive.troubles():
            if (source, place) in read and trouble not in self.reports[source].troubles:
                self.reports[source].troubles.append(trouble)


def _exists(place: str) -> bool:
    """Whether something is there. A folder we may not look into is no proof of absence."""
    try:
        os.lstat(as_path(place))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
