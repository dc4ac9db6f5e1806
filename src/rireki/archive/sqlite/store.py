"""The archive's verbs over one SQLite file: one writer at a time, any number of readers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from rireki.archive.base import (
    Change,
    Filter,
    Found,
    Heading,
    KnownOrigin,
    Neighbours,
    PendingGroup,
    Sighting,
    StoredConversation,
    StoredReading,
)
from rireki.archive.database import Frozen
from rireki.archive.sqlite.connect import DAMAGE, connect, damage, explain
from rireki.archive.sqlite.lenient import lenient, lenient_rows
from rireki.archive.sqlite.links import resolve_links
from rireki.archive.sqlite.projection import Projection
from rireki.archive.sqlite.sums import ensure_triggers
from rireki.archive.sqlite.values import BadValue, first, select, value_of
from rireki.errors import ArchiveTrouble
from rireki.home import Home
from rireki.model.conversation import Answer, Conversation, Reading, Trouble

if TYPE_CHECKING:
    from rireki.archive.pack import Chunk
    from rireki.archive.sqlite.held import HeldBytes
    from rireki.archive.sqlite.records import Group, Records
    from rireki.archive.sqlite.rescued import Rescued
    from rireki.model.record import Origin, Update
    from rireki.model.strand import State, Strand

__all__ = ["SqliteArchive"]


class SqliteArchive:
    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        write: bool = False,
        read_only: bool = False,
        clock: Callable[[], str],
    ) -> None:
        self.path = path
        self.name = self.address = str(path)
        self.home = Home(path)
        self.clock = clock
        #: What cannot be read, as far as it was met.
        self.damage: list[Trouble] = []
        self._damaged: list[apsw.Connection] = []
        self._is_writing = False
        try:
            self.sql: apsw.Connection = connect(
                path, create=create, write=write, read_only=read_only
            )
        except ArchiveTrouble as error:
            if create or write or not isinstance(error.__cause__, DAMAGE):
                raise
            self.sql = self._rescued(error)
        self.read_only = bool(self.damage) or self.sql.readonly("main")
        self.projection = Projection(self.sql)

    def _rescued(self, error: Exception) -> Rescued:
        """What can be read of a damaged file; the error itself if that is nothing."""
        # Imported late: hardly any archive is damaged.
        from rireki.archive.sqlite.rescued import open_rescued

        rescued = open_rescued(self.path)
        found = "SELECT EXISTS (SELECT 1 FROM strand) OR EXISTS (SELECT 1 FROM conversation)"
        if not rescued.execute(found).get:
            rescued.close()
            raise error
        self.damage = rescued.lost or [Trouble(str(self.path), str(error), "")]
        return rescued

    def turn_to_rescued(self, error: Exception) -> None:
        """Read on in what can be rescued of the file; the error again where that is no help."""
        if self.damage or self._is_writing:
            raise error
        rescued = self._rescued(error)
        self.sql.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # Not closed yet: somebody up the stack may be reading in it.
        self._damaged.append(self.sql)
        self.sql = rescued
        self.read_only = True
        self.projection = Projection(rescued)
        self.__dict__.pop("records", None)

    @cached_property
    def records(self) -> Records:
        # Imported late: a list of conversations needs no records, nor what unpacks them.
        from rireki.archive.sqlite.records import Records

        return Records(self.sql, self.fetch)

    @lenient
    def fetch(self, strand: int, lane: str, ordinals: Sequence[int]) -> list[bytes]:
        """Records of a strand, by their numbers in a lane."""
        return self.records.chunks.fetch(strand, lane, ordinals)

    @contextmanager
    def writing(self) -> Iterator[SqliteBatch]:
        with self._changing():
            batch = SqliteBatch(self)
            yield batch
            resolve_links(self.sql, batch.projected, batch.number)

    @contextmanager
    def reading(self) -> Iterator[None]:
        sql = self.sql
        # A savepoint: it may also lie within a transaction.
        sql.execute("SAVEPOINT reading")
        try:
            yield
        finally:
            # Of a damaged file nothing is read by it any more: it need not end well.
            with suppress(apsw.Error) if sql in self._damaged else nullcontext():
                sql.execute("RELEASE reading")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        if self.damage:
            raise damage(self.path, "nothing is written to it any more")
        try:
            ensure_triggers(self.sql)
            self.sql.execute("BEGIN IMMEDIATE")
            self._is_writing = True
            try:
                yield
            except BaseException:
                self.sql.execute("ROLLBACK")
                raise
            self.sql.execute("COMMIT")
        except apsw.Error as error:
            if self.sql.in_transaction:
                self.sql.execute("ROLLBACK")
            raise explain(error, self.path) from error
        finally:
            self._is_writing = False

    @lenient_rows
    def origins(self) -> Iterator[KnownOrigin]:
        return self.records.origins()

    @lenient_rows
    def owners(self) -> Iterator[tuple[int, str | None]]:
        return self.records.owners()

    @lenient
    def cursors(self, source: str, place: str) -> dict[str, Any]:
        return self.records.cursors(source, place)

    @lenient
    def held_bytes(self, source: str, place: str, key: str = "") -> HeldBytes | None:
        return self.records.held_bytes(source, place, key)

    @lenient
    def bytes_of(self, strand: Strand, state: State | None = None) -> HeldBytes:
        return self.records.bytes_of(strand, state or strand.states[-1])

    @lenient
    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        return self.records.strands(family, conversation, as_of, number)

    @lenient
    def changes(self, after: int, until: int) -> list[Change]:
        return self.projection.changes(after, until)

    @lenient
    def reached(self, conversation: str, number: int | None = None) -> int:
        return self.projection.reached(conversation, number)

    @lenient_rows
    def pending(self, family: str | None = None, conversation: str = "") -> Iterator[PendingGroup]:
        if family is None:
            return self.projection.pending()
        number = self.projection.waiting(family, conversation)
        return iter([] if number is None else [PendingGroup(family, conversation, number)])

    @lenient
    def lacking(self) -> int:
        return self.projection.lacking()

    @lenient_rows
    def forgotten(self, names: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        return self.projection.forgotten(names)

    @lenient_rows
    def ids(self, beginning: str = "") -> Iterator[str]:
        return self.projection.ids(beginning)

    @lenient
    def missing(self, ids: Collection[str]) -> set[str]:
        return self.projection.missing(ids)

    @lenient
    def neighbours(self, native_ids: Collection[str]) -> dict[str, Neighbours]:
        return self.projection.neighbours(native_ids)

    @lenient_rows
    def projects(self) -> Iterator[str]:
        return self.projection.projects()

    def mark_stale(self, drop: bool = True) -> None:
        if drop or next(self.groups(), None) is not None:
            with self.writing() as batch:
                self.projection.mark_stale_all(batch.number, drop)

    @lenient_rows
    def conversations(self, wanted: Filter = Filter()) -> Iterator[Conversation]:  # noqa: B008
        return self.projection.conversations(wanted)

    @lenient
    def find(self, name: str) -> Found:
        return self.projection.find(name)

    @lenient
    def number(self) -> int:
        row = first(self.sql, "SELECT value FROM meta WHERE key = 'number'")
        return value_of(int, row[0], "table meta") if row else 0

    def identity(self) -> str:
        known = self.note_of("identity")
        if known is None and not self.read_only:
            with self._changing():
                # Another process may have been faster.
                self.sql.execute(
                    "INSERT OR IGNORE INTO meta (key, value) VALUES ('identity', ?)",
                    (urandom(16).hex(),),
                )
            known = self.note_of("identity")
        return known or ""

    @lenient
    def note_of(self, name: str) -> str | None:
        row = first(self.sql, "SELECT value FROM meta WHERE key = ?", (name,))
        if row is None and not self.damage:
            self._check_meta()
        return str(row[0]) if row else None

    def _check_meta(self) -> None:
        """An archive that has anything counts its changes there: else the table is damaged."""
        notes = dict(select(self.sql, "SELECT key, value FROM meta"))
        if "number" not in notes and first(self.sql, "SELECT id FROM origin LIMIT 1"):
            raise BadValue("table meta", "no number of changes")

    def set_note(self, name: str, value: str) -> None:
        with self._changing():
            self.sql.execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (name, value)
            )

    @lenient_rows
    def headings(
        self,
        finished: bool = False,
        ids: Sequence[str] | None = None,
        after: int = 0,
        since: str | None = None,
    ) -> Iterator[Heading]:
        return self.projection.headings(finished, ids, after, since)

    @lenient
    def count(self) -> int:
        number: int = self.sql.execute("SELECT count(*) FROM conversation").get
        return number

    @lenient
    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        return self.projection.pick(ids)

    @lenient
    def weight(self, family: str, grouping: str) -> int:
        size: int = self.sql.execute(
            """SELECT coalesce(sum(c.size), 0) FROM strand s JOIN chunk c ON c.strand = s.id
                WHERE s.family = ? AND s.conversation = ?""",
            (family, grouping),
        ).get
        return size

    @lenient
    def sightings(self, directory: str, below: bool = False) -> list[Sighting]:
        return self.projection.sightings(directory, below)

    @lenient_rows
    def answers(self, source: str | None = None) -> Iterator[tuple[str, list[Answer]]]:
        return self.projection.answers(source)

    @lenient
    def troubles(self, source: str | None = None) -> list[tuple[str, str, Trouble]]:
        rows = select(
            self.sql,
            """SELECT o.source, o.place, t.place, t.message, t.hint FROM trouble t
                 JOIN origin o ON o.id = t.origin
                WHERE ?1 IS NULL OR o.source = ?1 ORDER BY t.place""",
            (source,),
        )
        return [(name, origin, Trouble(*trouble)) for name, origin, *trouble in rows]

    def forget(self, found: Sequence[Found]) -> int:
        self.sql.execute("PRAGMA secure_delete = ON")
        with self.writing() as batch:
            size = sum(batch.forget(each, found[0].conversation.native_id) for each in found)
        try:
            # Until the log is folded in and emptied, it still holds the old pages.
            self.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except apsw.Error as error:
            raise explain(error, self.path) from error
        return size

    def remember(self, native_id: str) -> bool:
        with self.writing():
            self.sql.execute(
                "DELETE FROM forgotten WHERE ? IN (conversation, together)", (native_id,)
            )
            known = self.sql.changes() > 0
            # Its files were passed over since: they have to be opened again.
            self.sql.execute(
                """UPDATE origin SET stamp = ''
                    WHERE form = 'database' OR id NOT IN (SELECT origin FROM strand)"""
            )
            return known

    @lenient_rows
    def groups(self) -> Iterator[PendingGroup]:
        return self.projection.groups()

    @lenient
    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        return self.projection.kept_as(family, grouping)

    def check(self) -> list[Trouble]:
        """What is wrong with the file and its rows; empty when they are sound."""
        # Imported late: only `verify` checks.
        from rireki.archive.sqlite.check import check

        if self.damage:
            return []
        try:
            with self.reading():
                return check(self.sql)
        except DAMAGE as error:
            self.turn_to_rescued(error)
            return []

    def settle(self) -> None:
        """Move what was written from the log into the file, and to the disk.

        Where the file cannot grow now, nothing is lost: the log keeps it until it can.
        """
        try:
            with suppress(apsw.FullError, apsw.IOError):
                self.sql.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except apsw.Error as error:
            raise explain(error, self.path) from error

    def is_outdated(self) -> bool:
        if not self.read_only:
            return False
        # Imported late: hardly any archive can only be read.
        from rireki.archive.sqlite.rescued import Rescued

        return isinstance(self.sql, (Frozen, Rescued)) and self.sql.is_outdated()

    def close(self) -> None:
        for each in (self.sql, *self._damaged):
            each.close()


class SqliteBatch:
    """One transaction. Its number is taken inside it, so numbers follow the order of commits."""

    def __init__(self, archive: SqliteArchive) -> None:
        self.sql = archive.sql
        self.records = archive.records
        self.projection = archive.projection
        self.now = archive.clock()
        self.number: int = self.sql.execute(
            """INSERT INTO meta (key, value) VALUES ('number', 1)
               ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value"""
        ).get
        self.projected: list[int] = []
        self.origins: dict[tuple[str, str], int] = {}

    def add(
        self,
        origin: Origin,
        family: str,
        update: Update,
        before: Any,
        packed: Sequence[Chunk] | None = None,
    ) -> int:
        number = self._origin(origin)
        family = update.family or family
        if update.conversation and self.projection.is_forgotten(family, update.conversation):
            # Forgotten since it was read: what was read then must not come back.
            return 0
        size, changed, left = self.records.add(
            number, family, update, before, packed, self.number, self.now
        )
        self.records.note(number, update.key, update.troubles, self.now)
        if changed:
            self._mark_stale(family, update.conversation)
        if left is not None:
            self._leave(left, (family, update.conversation))
        if update.replaces is not None:
            self._note_succession(number, family, update)
        return size

    def _leave(self, left: Group, group: Group) -> None:
        """A strand belongs to another conversation now: both are to be read anew."""
        self._mark_stale(*left)
        if None not in (*left, *group) and not self.records.count(*left):  # type: ignore[arg-type]
            # What it was read as so far is found until it is read as what it turned out to be.
            self.projection.hand_over(left, group)

    def _note_succession(self, origin: int, family: str, update: Update) -> None:
        row = first(
            self.sql,
            "SELECT conversation FROM strand WHERE origin = ? AND key = ?",
            (origin, update.replaces),
        )
        if row is None or row[0] is None or row[0] == update.conversation:
            return
        # Chats that overwrite each other in turn do so again and again: the last time counts.
        self.sql.execute(
            "INSERT OR REPLACE INTO succession (family, child, parent, at) VALUES (?, ?, ?, ?)",
            (family, update.conversation, row[0], self.now),
        )

    def _origin(self, origin: Origin) -> int:
        name = (origin.source, origin.place)
        if name not in self.origins:
            self.origins[name] = self.records.ensure_origin(origin, self.now)
        return self.origins[name]

    def finish(self, origin: Origin, keys: Sequence[str] | None = None) -> None:
        number = self._origin(origin)
        if keys is not None:
            self._roll(number, set(keys))
        self.records.note(number, "*", [], self.now)
        self.records.stamp(number, origin.stamp)

    def _roll(self, number: int, held: set[str]) -> None:
        for strand, key, family, conversation, vanished in self.records.held(number):
            if (key in held) != vanished:
                continue
            if vanished:
                self.records.revive_strand(strand, self.number, self.now)
            else:
                self.records.vanish_strand(strand, self.number, self.now)
                self.records.note(number, key, [], self.now)
            self._mark_stale(family, conversation)

    def _mark_stale(self, family: str, conversation: str | None) -> None:
        if conversation is not None:
            self.projection.mark_stale(family, conversation, self.number)

    def vanish(self, origin: KnownOrigin) -> None:
        self.records.vanish_origin(origin.id, self.now)
        for strand, _, family, conversation, vanished in self.records.held(origin.id):
            if not vanished:
                self.records.vanish_strand(strand, self.number, self.now)
                self._mark_stale(family, conversation)

    def move(self, known: KnownOrigin, origin: Origin) -> None:
        self.records.move(known, origin)
        for _, _, family, conversation, _ in self.records.held(known.id):
            self._mark_stale(family, conversation)

    def fail(self, origin: Origin, trouble: Trouble) -> None:
        self.records.note(self._origin(origin), "*", [trouble], self.now)

    def project_fresh(
        self, family: str, conversation: str, strands: int, readings: Sequence[Reading]
    ) -> list[StoredReading]:
        number = self.projection.waiting(family, conversation)
        if number is None or self.records.count(family, conversation) != strands:
            return []
        return self.project(PendingGroup(family, conversation, number), readings)

    def project(self, pending: PendingGroup, readings: Sequence[Reading]) -> list[StoredReading]:
        if not self.projection.clean(pending):
            return []
        stored = self.projection.store(pending, readings, self.number)
        self.projected += stored
        if any(reading.conversation.nature == "titles" for reading in readings):
            self.projected += self.projection.named_by(*pending[:2])
        return list(stored.values())

    def forget(self, found: Found, together: str) -> int:
        """Remove what belongs to one conversation; `together` names what it was forgotten with."""
        family, grouping = found.family, found.grouping
        native_id = found.conversation.native_id
        whole = self.projection.is_whole(found)
        # By both names, where they differ: whatever is read is known by the group alone.
        for name in dict.fromkeys([native_id, *([grouping] if whole else [])]):
            self.sql.execute(
                """INSERT OR REPLACE INTO forgotten (family, conversation, together, at)
                   VALUES (?, ?, ?, ?)""",
                (family, name, together, self.now),
            )
        size = self.records.chunks.redact(family, native_id)
        self.projection.log(self.number, found.conversation.id, 0)
        if not whole:
            self.sql.execute("DELETE FROM conversation WHERE id = ?", (found.conversation.id,))
            return size
        rows = select(
            self.sql,
            "SELECT id FROM strand WHERE family = ? AND conversation = ?",
            (family, grouping),
        )
        for (strand,) in rows:
            size += self.sql.execute(
                "SELECT coalesce(sum(size), 0) FROM chunk WHERE strand = ?", (strand,)
            ).get
            for table in ("chunk", "state"):
                self.sql.execute(f"DELETE FROM {table} WHERE strand = ?", (strand,))
            self.sql.execute("DELETE FROM strand WHERE id = ?", (strand,))
        self.sql.execute(
            "DELETE FROM conversation WHERE family = ? AND grouping = ?", (family, grouping)
        )
        self.sql.execute(
            "DELETE FROM dirty WHERE family = ? AND conversation = ?", (family, grouping)
        )
        return size
