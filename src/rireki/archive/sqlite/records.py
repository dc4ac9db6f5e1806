"""Facts in and out of SQLite: origins, strands and the states they were seen in.

Every function works inside the transaction of its caller. Nothing here knows
what a record means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import apsw
import msgspec

from rireki.archive.base import KnownOrigin, Stale
from rireki.archive.pack import Chunk
from rireki.archive.sqlite.chunks import Chunks, Digests
from rireki.archive.sqlite.held import HeldBytes
from rireki.archive.sqlite.values import BadValue, by_pages, decoded, first, select
from rireki.model.conversation import Trouble
from rireki.model.record import Content, Origin, Update
from rireki.model.strand import Run, State, Strand, expand, extended, shorten

__all__ = ["Fetch", "Group", "Records"]

#: A family and a conversation's own id in it: strands of one group are interpreted together.
Group: TypeAlias = tuple[str, str | None]
#: Records by strand, lane and number.
Fetch: TypeAlias = Callable[[int, str, Sequence[int]], list[bytes]]
_RUNS = msgspec.json.Decoder(tuple[Run, ...])
_CURSOR: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
#: The numbers of records in a run; no strand has as many as nine digits can count.
_SPANS = re.compile(r"(\d{1,8}(-\d{1,8})?(,\d{1,8}(-\d{1,8})?)*)?", re.ASCII)
_STRAND = """
    SELECT s.id, s.key, s.conversation, s.role, s.project, s.first_seen, s.last_seen, s.vanished_at,
           o.source, o.place, s.cursor
      FROM strand s JOIN origin o ON o.id = s.origin
"""


class _Last(NamedTuple):
    """The newest state of a strand, and what it held then or, if it was not there, before."""

    number: int
    runs: str
    tail: bytes
    held: tuple[Run, ...]


class Records:
    def __init__(self, connection: apsw.Connection, fetch: Fetch | None = None) -> None:
        self.sql = connection
        self.chunks = Chunks(connection)
        #: How the strands that are handed out get their records.
        self.fetch = fetch or self.chunks.fetch

    # ── origins ──

    def origins(self) -> Iterator[KnownOrigin]:
        rows = by_pages(
            self.sql,
            """SELECT id, source, place, root, form, role, stamp, first_seen, vanished_at
                 FROM origin WHERE id > ? ORDER BY id LIMIT ?""",
            0,
        )
        return (KnownOrigin(*row) for row in rows)

    def owners(self) -> Iterator[tuple[int, str | None]]:
        rows = by_pages(
            self.sql,
            """SELECT origin, conversation FROM strand
                WHERE origin > ? AND key = '' ORDER BY origin LIMIT ?""",
            0,
        )
        return ((origin, conversation) for origin, conversation in rows)

    def ensure_origin(self, origin: Origin, now: str) -> int:
        row = first(
            self.sql,
            "SELECT id, vanished_at FROM origin WHERE source = ? AND place = ?",
            (origin.source, origin.place),
        )
        if row is None:
            self.sql.execute(
                """INSERT INTO origin (source, place, root, form, role, first_seen)
                   VALUES (?, ?, ?, ?, ?, ?)""",
                (origin.source, origin.place, origin.root, origin.form, origin.role, now),
            )
            return self.sql.last_insert_rowid()
        if row[1] is not None:
            self.sql.execute("UPDATE origin SET vanished_at = NULL WHERE id = ?", (row[0],))
        number: int = row[0]
        return number

    def stamp(self, number: int, stamp: str) -> None:
        self.sql.execute("UPDATE origin SET stamp = ? WHERE id = ?", (stamp, number))

    def vanish_origin(self, number: int, now: str) -> None:
        self.sql.execute(
            "UPDATE origin SET vanished_at = ?, stamp = '' WHERE id = ?", (now, number)
        )

    def move(self, known: KnownOrigin, origin: Origin) -> None:
        self.sql.execute(
            "UPDATE origin SET place = ?, root = ?, stamp = '', vanished_at = NULL WHERE id = ?",
            (origin.place, origin.root, known.id),
        )

    # ── strands ──

    def cursors(self, source: str, place: str) -> dict[str, Any]:
        rows = select(
            self.sql,
            """SELECT s.key, s.cursor FROM strand s JOIN origin o ON o.id = s.origin
                WHERE o.source = ? AND o.place = ?""",
            (source, place),
        )
        # Without the strands that are to be read from their beginning again.
        return {key: _cursor(cursor) for key, cursor in rows if cursor != "null"}

    def held_bytes(self, source: str, place: str, key: str) -> HeldBytes | None:
        row = first(
            self.sql,
            """SELECT s.id FROM strand s JOIN origin o ON o.id = s.origin
                WHERE o.source = ? AND o.place = ? AND s.key = ?""",
            (source, place, key),
        )
        if row is None:
            return None
        last = self._last_state(row[0])
        return HeldBytes(self.sql, row[0], last.held, last.tail) if last else None

    def bytes_of(self, strand: Strand, state: State) -> HeldBytes:
        return HeldBytes(self.sql, strand.id, state.runs, state.tail)

    def add(
        self,
        origin: int,
        family: str,
        update: Update,
        before: Any,
        packed: Sequence[Chunk] | None,
        number: int,
        now: str,
    ) -> tuple[int, bool, Group | None]:
        """Keep an update; returns the bytes that were new, whether the strand changed, and the
        group it left if it belongs to another one now."""
        row = first(
            self.sql,
            """SELECT id, cursor, vanished_at, family, conversation FROM strand
                WHERE origin = ? AND key = ?""",
            (origin, update.key),
        )
        if (_cursor(row[1]) if row else None) != before:
            raise Stale(update.key)
        strand = row[0] if row else self._new_strand(origin, family, update, now)
        last = self._last_state(strand) if row else None
        runs, size = self._keep(strand, update, packed, last)
        changed = self._keep_state(strand, runs, update, last, number, now)
        left = row[3:] if row and row[3:] != (family, update.conversation) else None
        if row and (changed or left or row[2] is not None or before is None):
            changed = True
            self._touch(strand, family, update, self._moment(strand, now))
        elif row:
            self._set_cursor(strand, update)
        return size, changed, left

    def _new_strand(self, origin: int, family: str, update: Update, now: str) -> int:
        self.sql.execute(
            """INSERT INTO strand (origin, key, family, conversation, role, project, cursor,
                                   first_seen, last_seen)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                origin,
                update.key,
                family,
                update.conversation,
                update.role,
                update.project,
                msgspec.json.encode(update.cursor).decode(),
                now,
                now,
            ),
        )
        return self.sql.last_insert_rowid()

    def _touch(self, strand: int, family: str, update: Update, now: str) -> None:
        self.sql.execute(
            """UPDATE strand SET cursor = ?, family = ?, conversation = ?, role = ?, last_seen = ?,
                                 vanished_at = NULL WHERE id = ?""",
            (
                msgspec.json.encode(update.cursor).decode(),
                family,
                update.conversation,
                update.role,
                now,
                strand,
            ),
        )

    def _set_cursor(self, strand: int, update: Update) -> None:
        self.sql.execute(
            "UPDATE strand SET cursor = ? WHERE id = ?",
            (msgspec.json.encode(update.cursor).decode(), strand),
        )

    def _moment(self, strand: int, now: str) -> str:
        """Not before the last change of the strand: a clock may be set back, what was seen was seen."""
        query = "SELECT at FROM state WHERE strand = ? ORDER BY number DESC LIMIT 1"
        row = first(self.sql, query, (strand,))
        return max(now, row[0]) if row else now

    def vanish_strand(self, strand: int, number: int, now: str) -> None:
        now = self._moment(strand, now)
        self.sql.execute("UPDATE strand SET vanished_at = ? WHERE id = ?", (now, strand))
        self.sql.execute(
            "INSERT OR REPLACE INTO state (strand, number, at, runs, tail) VALUES (?, ?, ?, '', x'')",
            (strand, number, now),
        )

    def revive_strand(self, strand: int, number: int, now: str) -> None:
        """The source holds it again, as it was."""
        now = self._moment(strand, now)
        self.sql.execute("UPDATE strand SET vanished_at = NULL WHERE id = ?", (strand,))
        self.sql.execute(
            """INSERT OR REPLACE INTO state (strand, number, at, runs, tail)
               SELECT strand, ?, ?, runs, tail FROM state
                WHERE strand = ? AND runs <> '' ORDER BY number DESC LIMIT 1""",
            (number, now, strand),
        )

    def held(self, origin: int) -> list[tuple[int, str, str, str | None, bool]]:
        """(strand, key, family, conversation, vanished) of everything an origin ever held."""
        rows = select(
            self.sql,
            "SELECT id, key, family, conversation, vanished_at FROM strand WHERE origin = ?",
            (origin,),
        )
        return [(*row, vanished_at is not None) for *row, vanished_at in rows]

    def count(self, family: str, conversation: str) -> int:
        number: int = self.sql.execute(
            "SELECT count(*) FROM strand WHERE family = ? AND conversation = ?",
            (family, conversation),
        ).get
        return number

    def strands(
        self, family: str, conversation: str, as_of: str | None, number: int | None
    ) -> list[Strand]:
        rows = select(
            self.sql,
            _STRAND + " WHERE s.family = ? AND s.conversation = ? ORDER BY s.id",
            (family, conversation),
        )
        strands = [self._strand(row, as_of, number) for row in rows]
        return [strand for strand in strands if strand.states]

    def _strand(self, row: tuple[Any, ...], as_of: str | None, until: int | None) -> Strand:
        number, key, conversation, role, project, first_seen, last_seen, vanished, *rest = row
        source, place, cursor = rest
        log = select(
            self.sql,
            """SELECT number, at, runs, tail FROM state
                WHERE strand = ? AND at <= ? AND number <= ? ORDER BY number""",
            (number, as_of or "9999", (1 << 62) if until is None else until),
        )
        earlier = as_of is not None or until is not None
        if earlier:
            vanished = log[-1][1] if log and not log[-1][2] else None
        return Strand(
            id=number,
            source=source,
            role=role,
            place=place,
            key=key,
            conversation=conversation,
            project=project,
            first_seen=first_seen,
            last_seen=last_seen,
            vanished_at=vanished,
            states=[State(n, at, _runs(runs), tail) for n, at, runs, tail in log if runs],
            cursor=None if earlier else _cursor(cursor),
            fetch=partial(self.fetch, number),
            weight=partial(self.chunks.weight, number),
            fetch_readable=partial(self.chunks.fetch_readable, number),
        )

    # ── chunks ──

    def _keep(
        self, strand: int, update: Update, packed: Sequence[Chunk] | None, last: _Last | None
    ) -> tuple[list[Run], int]:
        """Store the records that are new; returns the runs of the new state and the new bytes."""
        if update.grows or packed is not None:
            return self._keep_growth(strand, update, packed, last)
        size = 0
        runs = []
        known: dict[str, Digests] = {}
        for content in update.contents:
            lane = content.lane
            if lane not in known:
                known[lane] = self.chunks.digests(strand, lane) if last else {}
            ordinals, new = self._keep_content(strand, content, known[lane])
            size += new
            runs.append(Run(lane, shorten(ordinals), content.separator))
        return runs, size

    def _keep_growth(
        self, strand: int, update: Update, packed: Sequence[Chunk] | None, last: _Last | None
    ) -> tuple[list[Run], int]:
        """What follows the records the strand held last; perhaps packed by another process."""
        (content,) = update.contents
        runs = last.held if last else ()
        if update.keeps is not None:
            runs = HeldBytes(self.sql, strand, runs).until(update.keeps)
        if packed is not None:
            first = self.chunks.count(strand, content.lane) if last else 0
            self.chunks.insert(strand, packed)
            count, size = sum(c.count for c in packed), sum(c.size for c in packed)
            ordinals = list(range(first, first + count))
        elif any(piece.digest for piece in content.pieces):
            before = runs[-1].records if runs and runs[-1].lane == content.lane else ""
            known = self.chunks.digests(strand, content.lane)
            after = (expand(before) or [-1])[-1]
            ordinals, size = self._keep_content(strand, content, known, after)
        else:
            ordinals, size = self._append(strand, content)
        return list(extended(runs, content.lane, ordinals)), size

    def _append(self, strand: int, content: Content) -> tuple[list[int], int]:
        """Records that are new for certain."""
        records = [piece.data for piece in content.pieces]
        if not records:
            return [], 0
        first = self.chunks.count(strand, content.lane)
        self.chunks.append(strand, content.lane, records, ())
        return list(range(first, first + len(records))), sum(map(len, records))

    def _keep_content(
        self, strand: int, content: Content, known: Digests, after: int = -1
    ) -> tuple[list[int], int]:
        ordinals: list[int] = []
        records: list[bytes] = []
        digests: list[bytes] = []
        following = self.chunks.count(strand, content.lane)
        ordinal = after
        for piece in content.pieces:
            same = known.get(piece.digest)
            if same is None:
                ordinal = following + len(records)
                known[piece.digest] = [ordinal]
                records.append(piece.data)
                digests.append(piece.digest)
            else:
                # Of equal records, the one that follows its neighbour keeps the story in order.
                ordinal = next((each for each in same if each > ordinal), same[-1])
            ordinals.append(ordinal)
        if records:
            self.chunks.append(strand, content.lane, records, digests)
        return ordinals, sum(map(len, records))

    # ── states ──

    def _last_state(self, strand: int) -> _Last | None:
        rows = select(
            self.sql,
            "SELECT number, runs, tail FROM state WHERE strand = ? ORDER BY number DESC LIMIT 2",
            (strand,),
        )
        if not rows:
            return None
        # Before an empty state (it was not there) stands what it held until then.
        number, runs, tail = rows[0]
        before = rows[1][1] if len(rows) > 1 else ""
        return _Last(number, runs, tail, _runs(runs or before or "[]"))

    def _keep_state(
        self,
        strand: int,
        runs: Sequence[Run],
        update: Update,
        last: _Last | None,
        number: int,
        now: str,
    ) -> bool:
        """Note what the strand holds now, if that is not what it held before."""
        encoded = msgspec.json.encode(runs).decode()
        if last and (last.runs, last.tail) == (encoded, update.tail):
            return False
        now = self._moment(strand, now) if last else now
        if last and last.runs and update.continues:
            self.sql.execute(
                "DELETE FROM state WHERE strand = ? AND number = ?", (strand, last.number)
            )
        elif last and update.grows and update.keeps is None and last.tail:
            # The unfinished line went on: its beginning is in what was added.
            self.sql.execute(
                "UPDATE state SET tail = x'' WHERE strand = ? AND number = ?", (strand, last.number)
            )
        self.sql.execute(
            "INSERT OR REPLACE INTO state (strand, number, at, runs, tail) VALUES (?, ?, ?, ?, ?)",
            (strand, number, now, encoded, update.tail),
        )
        return True

    # ── troubles ──

    def note(self, origin: int, key: str, troubles: Sequence[Trouble], now: str) -> None:
        """Replace what is known to be wrong with a strand (or, with key "*", the whole origin)."""
        self.sql.execute("DELETE FROM trouble WHERE origin = ? AND key = ?", (origin, key))
        self.sql.executemany(
            "INSERT OR REPLACE INTO trouble (origin, key, place, message, hint, at) VALUES (?, ?, ?, ?, ?, ?)",
            [(origin, key, t.place, t.message, t.hint, now) for t in troubles],
        )


def _cursor(stored: object) -> Any:
    return decoded(_CURSOR, stored, "table strand")


def _runs(stored: object) -> tuple[Run, ...]:
    runs = decoded(_RUNS, stored, "table state")
    if bad := [run.records for run in runs if not _SPANS.fullmatch(run.records)]:
        raise BadValue("table state", f"no numbers of records: {bad[0]!r}")
    return runs
