"""Records in and out of chunks, in SQLite: numbered per lane of a strand, packed, found by digest.

Every function works inside the transaction of its caller. Nothing here knows
what a record means, nor which of them a source still holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import apsw
import msgspec

from rireki.archive.pack import FULL, Chunk, damaged, pack, unpack
from rireki.archive.sqlite.connect import DAMAGE
from rireki.archive.sqlite.values import first as first_row
from rireki.archive.sqlite.values import select, value_of
from rireki.errors import ArchiveTrouble
from rireki.model.record import DIGEST_SIZE, digest_of_bytes

__all__ = ["Chunks", "Digests"]

#: Ordinals by digest; equal records in order.
Digests: TypeAlias = dict[bytes, list[int]]
#: Chunks that are brought at once.
AT_ONCE = 128
#: From so many records between them that are not wanted on, these are let go at once.
SCATTERED = 1000
_LENGTHS = msgspec.json.Decoder(list[int])


class Chunks:
    def __init__(self, connection: apsw.Connection) -> None:
        self.sql = connection

    def count(self, strand: int, lane: str) -> int:
        # The last chunk's own row: of a sum nobody can tell whether its parts were numbers.
        last = first_row(
            self.sql,
            """SELECT first, count FROM chunk WHERE strand = ? AND lane = ?
                ORDER BY first DESC LIMIT 1""",
            (strand, lane),
        )
        return sum(last) if last else 0

    def append(
        self, strand: int, lane: str, records: Sequence[bytes], digests: Sequence[bytes]
    ) -> None:
        """Add records to a lane; a last chunk that is not full yet is filled up."""
        row = first_row(
            self.sql,
            """SELECT id, first, count, size, lengths, digests, data FROM chunk
                WHERE strand = ? AND lane = ? ORDER BY first DESC LIMIT 1""",
            (strand, lane),
        )
        first = row[1] + row[2] if row else 0
        if row and row[3] < FULL // 2 and bool(row[5]) == bool(digests):
            _, first, _, size, lengths, old_digests, data = row
            old = unpack(data, size, lengths, f"chunk {row[0]}")
            records = [*old, *records]
            digests = [*_cut(old_digests), *digests]
            self.sql.execute("DELETE FROM chunk WHERE id = ?", (row[0],))
        self.insert(strand, pack(lane, first, records, digests))

    def insert(self, strand: int, chunks: Sequence[Chunk]) -> None:
        self.sql.executemany(
            """INSERT INTO chunk (strand, lane, first, count, size, lengths, digests, data)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            [
                (strand, c.lane, c.first, c.count, c.size, c.lengths, c.digests, c.data)
                for c in chunks
            ],
        )

    def digests(self, strand: int, lane: str) -> Digests:
        """The records of a lane by digest; equal ones in order."""
        known: Digests = {}
        rows = select(
            self.sql,
            "SELECT first, count, digests FROM chunk WHERE strand = ? AND lane = ? ORDER BY first",
            (strand, lane),
        )
        for first, count, digests in rows:
            found = _cut(digests) if digests else self._digested(strand, lane, first, count)
            for ordinal, digest in enumerate(found, first):
                known.setdefault(digest, []).append(ordinal)
        return known

    def _digested(self, strand: int, lane: str, first: int, count: int) -> list[bytes]:
        """One chunk at a time: all of a large file need not fit into memory."""
        try:
            records = self.fetch(strand, lane, range(first, first + count))
        except ArchiveTrouble:
            # Damaged: what the source still holds of it is kept once more.
            return []
        return [digest_of_bytes(record) for record in records]

    def fetch(self, strand: int, lane: str, ordinals: Sequence[int]) -> list[bytes]:
        if not ordinals:
            return []
        records: dict[int, bytes] = {}
        low, high = min(ordinals), max(ordinals)
        wanted = frozenset(ordinals) if high - low >= SCATTERED + len(ordinals) else None
        while low <= high:
            rows = self._from(strand, lane, low, high)
            for number, first, *packed in rows:
                place = f"chunk {number}"
                unpacked = unpack(*_packed(packed, place), place)
                found = enumerate(unpacked, value_of(int, first, place))
                records.update(found if wanted is None else (r for r in found if r[0] in wanted))
            if len(rows) < AT_ONCE:
                break
            low = rows[-1][1] + len(_LENGTHS.decode(rows[-1][4]))
        try:
            return [records[ordinal] for ordinal in ordinals]
        except KeyError as error:
            raise damaged(f"strand {strand}", f"record {error} of {lane} is missing") from error

    def _from(self, strand: int, lane: str, low: int, high: int) -> list[tuple[Any, ...]]:
        """The chunks between two records, a number of them: compressed and plain bytes of all of a
        long strand are not held at once."""
        return select(
            self.sql,
            f"""SELECT id, first, data, size, lengths FROM chunk
                WHERE strand = ?1 AND lane = ?2 AND first <= ?3 AND first >= coalesce(
                      (SELECT max(first) FROM chunk WHERE strand = ?1 AND lane = ?2 AND first <= ?4),
                      0)
                ORDER BY first LIMIT {AT_ONCE}""",
            (strand, lane, high, low),
        )

    def weight(self, strand: int) -> int:
        """The bytes of a strand; 0 where the archive is too damaged to say, or was closed for that."""
        query = "SELECT coalesce(sum(size), 0) FROM chunk WHERE strand = ?"
        with suppress(*DAMAGE, apsw.ConnectionClosedError):
            return int(select(self.sql, query, (strand,))[0][0])
        return 0

    def fetch_readable(self, strand: int, lane: str, ordinals: Sequence[int]) -> dict[int, bytes]:
        """The same, without those that cannot be read."""
        records: dict[int, bytes] = {}
        wanted = set(ordinals)
        places = "SELECT id FROM chunk WHERE strand = ? AND lane = ? ORDER BY first"
        chunk = "SELECT first, data, size, lengths FROM chunk WHERE id = ?"
        for (number,) in self._readable(places, (strand, lane)):
            for first, *packed in self._readable(chunk, (number,)):
                place = f"chunk {number}"
                try:
                    found = unpack(*_packed(packed, place), place)
                    records.update(enumerate(found, value_of(int, first, place)))
                except ArchiveTrouble:
                    continue
        return {ordinal: record for ordinal, record in records.items() if ordinal in wanted}

    def _readable(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows before one that cannot be read."""
        rows: list[tuple[Any, ...]] = []
        with suppress(*DAMAGE):
            rows.extend(self.sql.execute(query, values))
        return rows

    def redact(self, family: str, name: str) -> int:
        """Empty every record of a shared file that names this conversation; returns the bytes."""
        removed = 0
        chunks = select(
            self.sql,
            """SELECT c.id, c.strand, c.lane, c.first, c.size, c.lengths, c.data
                 FROM chunk c JOIN strand s ON s.id = c.strand
                WHERE s.family = ? AND s.conversation GLOB '@*'""",
            (family,),
        )
        for number, strand, lane, first, size, lengths, data in chunks:
            records = unpack(data, size, lengths, f"chunk {number}")
            kept = [b"" if name.encode() in record else record for record in records]
            if kept != records:
                removed += size - sum(map(len, kept))
                self.sql.execute("DELETE FROM chunk WHERE id = ?", (number,))
                self.insert(strand, pack(lane, first, kept))
        return removed


def _packed(row: Sequence[object], place: str) -> tuple[bytes, int, str]:
    """The data, size and lengths of a chunk."""
    data, size, lengths = row
    return value_of(bytes, data, place), value_of(int, size, place), value_of(str, lengths, place)


def _cut(digests: bytes) -> list[bytes]:
    return [digests[i : i + DIGEST_SIZE] for i in range(0, len(digests), DIGEST_SIZE)]
