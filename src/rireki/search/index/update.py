"""Keeping the index up with the archive: after an import, after damage, from nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rireki.archive.base import Archive, Heading, PendingGroup
from rireki.errors import ArchiveTrouble
from rireki.intake.interpret import interpret, is_for_lack_of_memory
from rireki.intake.memory import HEAVY
from rireki.intake.parallel.follow import Followed
from rireki.intake.progress import Progress, Silent
from rireki.late import LateModule
from rireki.model.conversation import Conversation, Reading, Trouble
from rireki.search.index.index import Index, glance, index_folder, make, open_existing, peek, sweep
from rireki.search.index.notes import Damaged, IndexedConversation, cannot_write
from rireki.search.index.words import IndexBusy, WriteFailed

# What writes is imported late: most imports only look whether that is worth it.
if TYPE_CHECKING:
    from rireki.intake.parallel import pool, worker
    from rireki.search.index import writer as writing
    from rireki.search.index.writer import IndexWriter
    from rireki.search.text import blocks
    from rireki.search.text.blocks import Digest
else:
    blocks = LateModule("rireki.search.text.blocks")
    pool = LateModule("rireki.intake.parallel.pool")
    worker = LateModule("rireki.intake.parallel.worker")
    writing = LateModule("rireki.search.index.writer")

__all__ = ["Importing", "catch_up", "ensure", "erase", "is_behind", "rebuild", "verify", "write"]

DIGEST = "rireki.search.text.blocks:packed_digest"
#: What is less than this is left to be read directly by searches, until more comes together.
FEW, LIGHT = 8, 1 << 20
#: From this many conversations on, other processors are worth their start.
MANY = 60
TASK = 10
#: When so small a share of an import is left, what came before is written, if it is so many documents.
LITTLE, MUCH = 0.12, 20_000
#: What may keep the index from being written.
_TROUBLES = (IndexBusy, Damaged, WriteFailed, ArchiveTrouble)


def ensure(archive: Archive) -> Index:
    """The index of an archive; a new, empty one when there is none that can be used."""
    try:
        return open_existing(archive) or make(archive)
    except Damaged:
        return make(archive)


def outdated(archive: Archive, kept: dict[str, IndexedConversation]) -> list[Heading]:
    """The conversations the index does not have as they are."""
    return [
        heading
        for heading in archive.headings()
        if heading.id not in kept or kept[heading.id].changed != heading.changed
    ]


def is_behind(archive: Archive, waiting: Sequence[Heading]) -> bool:
    """Whether so much waits that searches would feel it."""
    if len(waiting) > FEW:
        return True
    groups = {(heading.family, heading.grouping) for heading in waiting}
    return sum(archive.weight(*group) for group in groups) > LIGHT


def catch_up(archive: Archive, progress: Progress | None = None, *, lazy: bool = False) -> bool:
    """Bring the index up to date; False when another process is at it.

    `lazy` leaves a little for later: a search reads it directly, and a commit costs
    more than that.
    """
    with suppress(ArchiveTrouble):
        # Somebody was killed before the old index was gone: forgotten words may stand in it.
        sweep(archive)
    if lazy and not _is_worth_it(archive):
        return True
    index = ensure(archive)
    try:
        try:
            return _try_to_catch_up(archive, index, progress or Silent())
        except Damaged:
            index.condemn()
            index.close()
            index = make(archive)
            return _try_to_catch_up(archive, index, progress or Silent())
    except Damaged as error:
        raise cannot_write(index.folder, error) from error
    finally:
        index.close()


def _try_to_catch_up(archive: Archive, index: Index, progress: Progress) -> bool:
    try:
        return _catch_up(archive, index, progress)
    except WriteFailed as error:
        if not index.is_current():
            # Another process made a new one meanwhile.
            return False
        index.verify()
        raise cannot_write(index.folder, error) from error


def _is_worth_it(archive: Archive) -> bool:
    """A guess that reads little of each conversation, if anything; searches know exactly."""
    try:
        newest, count = glance(archive)
        known = (peek(archive) or ()) if next(archive.forgotten(), None) else ()
    except Damaged:
        return True
    # A writer that was stopped leaves conversations out, however old they are.
    if archive.count() - count > FEW:
        return True
    if known and _has_forgotten(archive, {kept.id for kept in known}):
        return True
    return is_behind(archive, list(archive.headings(after=newest)))


def _has_forgotten(archive: Archive, known: Iterable[str]) -> bool:
    """Whether the index knows conversations that the user said to forget."""
    gone = {id.partition("/")[2] for id in archive.missing(list(known))}
    return bool(gone) and any(archive.forgotten(gone))


def erase(archive: Archive, progress: Progress | None = None) -> None:
    """Take what the archive forgot out of the index as well.

    Tantivy only marks documents as removed, their words stay in its files: so the
    index goes as a whole. Raises ArchiveTrouble when it cannot; a new one may wait until
    there is room for it.
    """
    stale = _is_stale(archive)
    sweep(archive, whole=stale)
    if stale:
        with suppress(ArchiveTrouble):
            catch_up(archive, progress)


def _is_stale(archive: Archive) -> bool:
    """Whether the index may have something that the archive has no longer."""
    try:
        known = peek(archive)
    except Damaged:
        # It may hold anything.
        return True
    return bool(archive.missing([kept.id for kept in known or ()]))


def verify(archive: Archive) -> list[Trouble]:
    """What is wrong with the index; empty when there is none."""
    try:
        index = open_existing(archive)
        if index is not None:
            try:
                index.verify()
            finally:
                index.close()
    except Damaged as error:
        code = "index-useless-for-now" if archive.read_only else "index-useless"
        return [Trouble.of(str(index_folder(archive)), code, why=error)]
    return []


def rebuild(archive: Archive, progress: Progress | None = None) -> bool:
    """Make the index anew: nothing of the old one stays."""
    make(archive, anew=True).close()
    return catch_up(archive, progress)


def _catch_up(archive: Archive, index: Index, progress: Progress) -> bool:
    kept = {each.id: each for each in index.store.talks()[1]}
    if _has_forgotten(archive, kept):
        # Forgetting was interrupted before it came to the index.
        raise Damaged(f"{index.folder} holds what was to be forgotten")
    waiting = outdated(archive, kept)
    gone = [kept[id].number for id in archive.missing(kept)]
    if not gone and not waiting:
        return True
    try:
        writer = writing.IndexWriter(index, archive)
    except IndexBusy:
        return False
    try:
        if gone:
            writer.drop(gone)
        write(archive, writer, waiting, progress)
        writer.commit()
    finally:
        writer.close()
    return True


def write(
    archive: Archive, writer: IndexWriter, waiting: Sequence[Heading], progress: Progress
) -> None:
    """Write conversations as the archive has them; those that wait for memory stay as they are."""
    progress.start("indexing", len(waiting))
    by_group: dict[tuple[str, str], list[Heading]] = {}
    for heading in waiting:
        by_group.setdefault((heading.family, heading.grouping), []).append(heading)
    fresh = {
        group: headings
        for group, headings in by_group.items()
        if not any(writer.knows(heading.id) for heading in headings)
    }
    if len(fresh) >= MANY:
        _write_fresh(archive, writer, fresh, progress)
    else:
        fresh = {}
    for group, headings in by_group.items():
        if group not in fresh:
            _write_group(archive, writer, group, headings)
            progress.advance(len(headings))
    progress.finish()


def _write_group(
    archive: Archive, writer: IndexWriter, group: tuple[str, str], headings: list[Heading]
) -> None:
    """Conversations the index may have in part already: only what differs is written."""
    wanted = {heading.id: heading for heading in headings}
    strands = archive.strands(*group)
    heavy = sum(strand.weight() for strand in strands) >= HEAVY
    marks = {id: writer.marks(id) for id in wanted}
    readings = interpret(group[1], strands)
    if any(_waits(reading.conversation, wanted) for reading in readings):
        return
    writer.begin(list(wanted))
    for reading in readings:
        id = reading.conversation.id
        if id in wanted:
            known = {message: mark for message, (mark, _) in marks[id].items()}
            made = blocks.digest_parts if heavy else _at_once
            writer.put_parts(made(reading, known), wanted[id], marks[id])


def _at_once(reading: Reading, known: dict[str, int]) -> list[Digest]:
    return [blocks.digest(reading, known)]


def _waits(conversation: Conversation, wanted: dict[str, Heading]) -> bool:
    """Whether there is no memory to read now what could be read before: it stays in line."""
    known = wanted.get(conversation.id)
    lack = any(map(is_for_lack_of_memory, conversation.troubles))
    return lack and known is not None and known.title != conversation.title


def _write_fresh(
    archive: Archive,
    writer: IndexWriter,
    groups: dict[tuple[str, str], list[Heading]],
    progress: Progress,
) -> None:
    """Many conversations the index has nothing of, with the help of other processors."""
    for group, digests in _digested(archive, groups):
        wanted = {heading.id: heading for heading in groups[group]}
        if digests is None:
            _write_group(archive, writer, group, groups[group])
            progress.advance(len(wanted))
            continue
        writer.begin(list(wanted))
        for id, made in digests.items():
            if id in wanted:
                writer.put(made, wanted[id])
        progress.advance(len(wanted))


def _digested(
    archive: Archive, groups: dict[tuple[str, str], list[Heading]]
) -> Iterator[tuple[tuple[str, str], dict[str, Digest] | None]]:
    """What became of each group; None where it has to be done by the one that writes."""
    names = [PendingGroup(family, grouping, 0) for family, grouping in groups]
    tasks = [
        worker.DigestTask(archive.address, names[at : at + TASK], DIGEST)
        for at in range(0, len(names), TASK)
    ]
    with pool.WorkerPool(pool.processors()) as workers:
        for answer in workers.run(tasks):
            if isinstance(answer, pool.LostTask):
                for group in answer.task.groups:
                    yield (group.family, group.conversation), None
                continue
            assert isinstance(answer, worker.Digested)
            packed = answer.digests
            made = (
                None if packed is None else {id: blocks.open_digest(d) for id, d in packed.items()}
            )
            yield (answer.group.family, answer.group.conversation), made


class Importing:
    """Follows an import: what is new goes into the index as it is interpreted.

    Opens nothing before there is something to write. When the index cannot be written,
    be it that another process does or that it is damaged, it does nothing: the import is
    what counts, and whoever comes next will catch up.
    """

    digest = DIGEST

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.index: Index | None = None
        self.writer: IndexWriter | None = None
        self.given_up = False
        #: What was written, as it was then.
        self.written: dict[str, Heading] = {}
        #: Whether most of it is on the disk already.
        self.mostly_done = False

    def take(self, conversations: Sequence[Followed], left: float) -> None:
        if self.given_up:
            return
        try:
            self._take(conversations)
            if left < LITTLE and not self.mostly_done:
                self._write_most()
        except _TROUBLES:
            self.given_up = True

    def _take(self, conversations: Sequence[Followed]) -> None:
        if self.index is None:
            self.index = ensure(self.archive)
        if self.writer is None:
            self.writer = writing.IndexWriter(self.index, self.archive)
        ids = [each.id for each in conversations]
        headings = {heading.id: heading for heading in self.archive.headings(ids=ids)}
        self.writer.begin(ids)
        for each in conversations:
            if each.id in headings:
                # Its number is the one it was read at: what changed since is read again.
                heading = headings[each.id]._replace(changed=each.changed)
                self.writer.put(blocks.open_digest(each.digest), heading)
                self.written[each.id] = heading

    def _write_most(self) -> None:
        """Commit while others still read: at the end, everybody would wait for it."""
        self.mostly_done = True
        if self.writer is not None and self.writer.documents >= MUCH:
            self.writer.commit()

    def _carry_over(self, writer: IndexWriter) -> None:
        """What only got a sub-agent or a title since it was written need not be read again."""
        if not self.written:
            return
        first = min(known.changed for known in self.written.values())
        for heading in self.archive.headings(after=first):
            known = self.written.get(heading.id)
            if known and heading.changed != known.changed and self._has_same_records(known):
                writer.carry_over(heading, renamed=heading[5:8] != known[5:8])

    def _has_same_records(self, known: Heading) -> bool:
        reached = self.archive.reached(known.id, known.changed)
        return 0 < reached == self.archive.reached(known.id)

    def close(self) -> None:
        with suppress(*_TROUBLES):
            if self.writer is not None:
                try:
                    if not self.given_up:
                        self._carry_over(self.writer)
                finally:
                    self.writer.close()
        if self.index is not None:
            self.index.close()
