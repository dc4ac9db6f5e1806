"""The bytes of one state of a strand, brought from its chunks a little at a time.

For whoever compares a large file with what is kept of it, or writes it out again. Records never
change, so nothing is held open meanwhile, and whatever is added does no harm.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import apsw
import msgspec

from rireki.archive.sqlite.chunks import Chunks
from rireki.archive.sqlite.values import BadValue, decoded, select
from rireki.archive.sqlite.values import first as first_row
from rireki.errors import ArchiveTrouble
from rireki.model.strand import Run, extended

__all__ = ["HeldBytes"]

_LENGTHS = msgspec.json.Decoder(list[int])


class _Extent(NamedTuple):
    """Records that lie in one chunk and follow each other in the document."""

    offset: int
    size: int
    run: int
    first: int
    last: int


class HeldBytes:
    def __init__(
        self, connection: apsw.Connection, strand: int, runs: Sequence[Run], tail: bytes = b""
    ) -> None:
        self.sql = connection
        self.chunks = Chunks(connection)
        self.strand = strand
        self.runs = tuple(runs)
        self.tail = tail

    def blocks(self, start: int = 0) -> Iterator[tuple[int, list[bytes]]]:
        for extent in self._extents():
            if extent.offset + extent.size > start:
                yield extent.offset, self._records(extent)

    def sample(self, limit: int) -> tuple[int, bytes] | None:
        few = [extent for extent in self._extents() if extent.size <= limit]
        if not few:
            return None
        chosen = random.choice(few)
        return chosen.offset, b"".join(self._records(chosen))

    def stream(self) -> Iterator[bytes]:
        run = -1
        for extent in self._extents():
            separator = self.runs[extent.run].separator.encode()
            if extent.run == run and separator:
                yield separator
            run = extent.run
            yield separator.join(self._records(extent))
        yield self.tail

    def until(self, size: int) -> tuple[Run, ...]:
        """The runs of the first so many bytes, which end with a record."""
        runs: tuple[Run, ...] = ()
        for extent in self._extents():
            lane = self.runs[extent.run].lane
            last = extent.last
            if extent.offset >= size:
                break
            if extent.offset + extent.size > size:
                ends = list(accumulate(self._lengths(lane, extent.first, last)))
                if size - extent.offset not in ends:
                    raise BadValue(f"strand {self.strand}", f"no record ends at byte {size}")
                last = extent.first + ends.index(size - extent.offset)
            runs = extended(runs, lane, range(extent.first, last + 1))
        return runs

    def _records(self, extent: _Extent) -> list[bytes]:
        lane = self.runs[extent.run].lane
        return self.chunks.fetch(self.strand, lane, range(extent.first, extent.last + 1))

    def _extents(self) -> Iterator[_Extent]:
        offset = 0
        chunks: dict[str, list[tuple[int, int, int]]] = {}
        for number, run in enumerate(self.runs):
            if run.lane not in chunks:
                chunks[run.lane] = self._chunks(run.lane)
            for first, last in _spans(run.records):
                for begin, end, size in self._within(run.lane, chunks[run.lane], first, last):
                    yield _Extent(offset, size, number, begin, end)
                    offset += size

    def _within(
        self, lane: str, chunks: list[tuple[int, int, int]], first: int, last: int
    ) -> Iterator[tuple[int, int, int]]:
        """The part of each chunk that lies between two records: (first, last, bytes)."""
        place = bisect_right(chunks, first, key=lambda chunk: chunk[0]) - 1
        while first <= last:
            begin, count, size = chunks[place] if 0 <= place < len(chunks) else (first, 0, 0)
            end = min(last, begin + count - 1)
            if end < first:
                raise ArchiveTrouble("records-missing", strand=self.strand)
            if (first, end) != (begin, begin + count - 1):
                size = sum(self._lengths(lane, first, end))
            yield first, end, size
            first, place = end + 1, place + 1

    def _chunks(self, lane: str) -> list[tuple[int, int, int]]:
        rows = select(
            self.sql,
            "SELECT first, count, size FROM chunk WHERE strand = ? AND lane = ? ORDER BY first",
            (self.strand, lane),
        )
        return [(first, count, size) for first, count, size in rows]

    def _lengths(self, lane: str, first: int, last: int) -> list[int]:
        """Of records that lie in one chunk."""
        row = first_row(
            self.sql,
            """SELECT first, lengths FROM chunk WHERE strand = ? AND lane = ? AND first <= ?
                ORDER BY first DESC LIMIT 1""",
            (self.strand, lane, first),
        )
        if row is None:
            raise BadValue(f"strand {self.strand}", f"record {first} of {lane} is missing")
        return decoded(_LENGTHS, row[1], "table chunk")[first - row[0] : last - row[0] + 1]


def _spans(records: str) -> Iterator[tuple[int, int]]:
    """`"0-3,7"` → `(0, 3), (7, 7)`."""
    for span in records.split(",") if records else ():
        first, _, last = span.partition("-")
        yield int(first), int(last or first)
