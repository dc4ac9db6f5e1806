"""Facts that were read: strands, the states they were seen in, and their records in chunks.

Every function works inside the transaction of its caller. Nothing here knows what a record means.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, takewhile
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import structs

from rireki.archive.pack import FULL, Chunk, damaged, pack, unpack
from rireki.archive.rows import BadValue, Row, Rows, by_pages, decoded, value_of
from rireki.archive.values import KnownOrigin
from rireki.errors import ArchiveTrouble
from rireki.model.record import DIGEST_SIZE, digest_of_bytes
from rireki.model.strand import Run, State, Strand, extended

__all__ = [
    "Chunks",
    "Digests",
    "Fetch",
    "HeldBytes",
    "LastState",
    "Records",
    "cut",
    "decoded_cursor",
    "decoded_runs",
]

#: Records by strand, lane and number.
Fetch: TypeAlias = Callable[[int, str, Sequence[int]], list[bytes]]
_RUNS = msgspec.json.Decoder(tuple[Run, ...])
_CURSOR: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
#: The numbers of records in a run; no strand has as many as nine digits can count.
_SPANS = re.compile(r"(\d{1,8}(-\d{1,8})?(,\d{1,8}(-\d{1,8})?)*)?", re.ASCII)
#: Ordinals by digest; equal records in order.
Digests: TypeAlias = dict[bytes, list[int]]
#: Chunks that are brought at once: compressed and plain bytes of all of a long strand are not held.
AT_ONCE = 128
#: From so many records between them that are not wanted on, these are let go at once.
SCATTERED = 1000
#: Small chunks at the end of a lane, before they are put together.
MANY = 15
_LENGTHS = msgspec.json.Decoder(list[int])
_CHUNK = "first, data, size, lengths"


class LastState(NamedTuple):
    """The newest state of a strand, and what it held then or, if it was not there, before."""

    number: int
    at: str
    runs: str
    tail: bytes
    held: tuple[Run, ...]
    held_tail: bytes


class Records:
    def __init__(self, rows: Rows, fetch: Fetch) -> None:
        self.rows = rows
        self.chunks = Chunks(rows)
        #: How the strands that are handed out get their records.
        self.fetch = fetch

    def origins(self, named: bool) -> Iterator[KnownOrigin]:
        rows = by_pages(partial(self.rows.origins, named=named), 0)
        return (KnownOrigin(*row) for row in rows)

    def origin(self, source: str, place: str, columns: str) -> list[Row]:
        """The origin that this machine has there, if one was read."""
        return self.rows.get("origin", columns, stream=0, source=source, place=place)

    def strands_of(self, source: str, place: str, columns: str, **where: Any) -> list[Row]:
        """The strands that an origin ever held."""
        origins = self.origin(source, place, "id")
        return [
            row for (id,) in origins for row in self.rows.get("strand", columns, origin=id, **where)
        ]

    def cursors(self, source: str, place: str) -> dict[str, Any]:
        found = self.strands_of(source, place, "key, cursor")
        # Without the strands that are to be read from their beginning again.
        return {key: decoded_cursor(cursor) for key, cursor in found if cursor != "null"}

    def held_bytes(self, source: str, place: str, key: str) -> HeldBytes | None:
        for (strand,) in self.strands_of(source, place, "id", key=key):
            last = self.last_state(strand)
            return HeldBytes(self.rows, strand, last.held, last.tail) if last else None
        return None

    def bytes_of(self, strand: int, state: State) -> HeldBytes:
        return HeldBytes(self.rows, strand, state.runs, state.tail)

    def last_state(self, strand: int) -> LastState | None:
        columns = "number, at, runs, tail"
        found = self.rows.get("state", columns, order="number DESC", limit=2, strand=strand)
        if not found:
            return None
        # Before an empty state (it was not there) stands what it held until then.
        held = next((row for row in found if row[2]), found[0])
        number, at, runs, tail = found[0]
        return LastState(number, at, runs, tail, decoded_runs(held[2] or "[]"), held[3])

    def strands(
        self, family: str, conversation: str, as_of: str | None, number: int | None
    ) -> list[Strand]:
        rows = _by_machine(self.rows.strands(family, conversation))
        strands = [self._strand(*row, as_of=as_of, until=number) for row in rows]
        return [strand for strand in strands if strand.states]

    def _strand(self, id: int, *row: Any, as_of: str | None, until: int | None) -> Strand:
        key, conversation, role, project, first_seen, last_seen, vanished, cursor, *origin = row
        log = [
            (number, at, runs, tail)
            for number, at, runs, tail in self.rows.get(
                "state", "number, at, runs, tail", order="number", strand=id
            )
            if (as_of is None or at <= as_of) and (until is None or number <= until)
        ]
        earlier = as_of is not None or until is not None
        if earlier:
            vanished = log[-1][1] if log and not log[-1][2] else None
        return Strand(
            id=id,
            source=origin[0],
            role=role,
            place=origin[1],
            root=origin[2],
            stream=origin[3],
            key=key,
            conversation=conversation,
            project=project,
            first_seen=first_seen,
            last_seen=last_seen,
            vanished_at=vanished,
            states=[State(n, at, decoded_runs(runs), tail) for n, at, runs, tail in log if runs],
            cursor=None if earlier else decoded_cursor(cursor),
            fetch=partial(self.fetch, id),
            weight=partial(self.chunks.weight, id),
            fetch_readable=partial(self.chunks.fetch_readable, id),
        )


def _by_machine(rows: list[Row]) -> list[Row]:
    """The strands of several machines: who saw one first comes first, on whichever of them we are."""
    begun: dict[int, str] = {}
    for *_, first_seen, _, _, _, _, _, _, stream in rows:
        begun[stream] = min(first_seen, begun.get(stream, first_seen))
    return sorted(rows, key=lambda row: begun[row[-1]]) if len(begun) > 1 else rows


def decoded_cursor(stored: object) -> Any:
    return decoded(_CURSOR, stored, "table strand")


def decoded_runs(stored: object) -> tuple[Run, ...]:
    runs = decoded(_RUNS, stored, "table state")
    if bad := [run.records for run in runs if not _SPANS.fullmatch(run.records)]:
        raise BadValue("table state", f"no numbers of records: {bad[0]!r}")
    return runs


class Chunks:
    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def count(self, strand: int, lane: str) -> int:
        # The last chunk's own row: of a sum nobody can tell whether its parts were numbers.
        last = self._last(strand, lane, "first, count")
        return sum(last[0]) if last else 0

    def _last(self, strand: int, lane: str, columns: str) -> list[Row]:
        return self.rows.get(
            "chunk", columns, order="first DESC", limit=1, strand=strand, lane=lane
        )

    def append(
        self, strand: int, lane: str, records: Sequence[bytes], digests: Sequence[bytes]
    ) -> None:
        """Add records to a lane; a last chunk that is not full yet is filled up."""
        first = 0
        for last in self._last(strand, lane, "first, count, size, lengths, digests, data"):
            first, count, size, lengths, old_digests, data = last
            if size >= FULL // 2 or bool(old_digests) != bool(digests):
                first += count
                continue
            records = [*unpack(data, size, lengths, _place(strand, lane, first)), *records]
            digests = [*cut(old_digests), *digests]
            self.rows.remove("chunk", strand=strand, lane=lane, first=first)
        self.insert(strand, pack(lane, first, records, digests))

    def add_small(self, strand: int, chunk: Chunk) -> None:
        """Keep a chunk as it is: together with those before it once they are enough for one. To write
        all of them again for each record that comes would be many times the work."""
        small = self._small(strand, chunk)
        if len(small) < MANY and sum(size for _, size in small) < FULL // 2:
            self.insert(strand, [chunk])
            return
        first, lane = min(small)[0], chunk.lane
        records: list[bytes] = []
        digests: list[bytes] = []
        columns = "first, data, size, lengths, digests"
        for start, data, size, lengths, known in self.rows.chunks(
            strand, lane, first, chunk.first, columns, MANY
        ):
            records += unpack(data, size, lengths, _place(strand, lane, start))
            digests += cut(known)
            self.rows.remove("chunk", strand=strand, lane=lane, first=start)
        records += unpack(chunk.data, chunk.size, chunk.lengths, _place(strand, lane, chunk.first))
        self.insert(strand, pack(lane, first, records, [*digests, *cut(chunk.digests)]))

    def _small(self, strand: int, chunk: Chunk) -> list[tuple[int, int]]:
        """First record and size of the small chunks at the end of its lane, the last one first."""
        rows = self.rows.get(
            "chunk",
            "first, size, digests",
            order="first DESC",
            limit=MANY,
            strand=strand,
            lane=chunk.lane,
        )
        alike = takewhile(
            lambda row: row[1] < FULL // 2 and bool(row[2]) == bool(chunk.digests), rows
        )
        return [(first, size) for first, size, _ in alike]

    def insert(self, strand: int, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self.rows.add("chunk", strand=strand, **structs.asdict(chunk))

    def digests(self, strand: int, lane: str) -> Digests:
        """The records of a lane by digest; equal ones in order."""
        known: Digests = {}
        rows = self.rows.get(
            "chunk", "first, count, digests", order="first", strand=strand, lane=lane
        )
        for first, count, digests in rows:
            found = cut(digests) if digests else self._digested(strand, lane, first, count)
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
            rows = self.rows.chunks(strand, lane, low, high, _CHUNK, AT_ONCE)
            for first, *packed in rows:
                place = _place(strand, lane, first)
                unpacked = unpack(*_packed(packed, place), place)
                found = enumerate(unpacked, value_of(int, first, place))
                records.update(found if wanted is None else (r for r in found if r[0] in wanted))
            if len(rows) < AT_ONCE:
                break
            low = rows[-1][0] + len(_LENGTHS.decode(rows[-1][3]))
        try:
            return [records[ordinal] for ordinal in ordinals]
        except KeyError as error:
            raise damaged(f"strand {strand}", f"record {error} of {lane} is missing") from error

    def weight(self, strand: int) -> int:
        """The bytes of a strand; 0 where the archive is too damaged to say, or was closed for that."""
        sizes = self.rows.get_readable("chunk", "size", strand=strand)
        return sum(size for (size,) in sizes if isinstance(size, int))

    def fetch_readable(self, strand: int, lane: str, ordinals: Sequence[int]) -> dict[int, bytes]:
        """The same, without those that cannot be read."""
        records: dict[int, bytes] = {}
        wanted = set(ordinals)
        for (first,) in self.rows.get_readable(
            "chunk", "first", order="first", strand=strand, lane=lane
        ):
            place = _place(strand, lane, first)
            one = {"strand": strand, "lane": lane, "first": first}
            for packed in self.rows.get_readable("chunk", "data, size, lengths", **one):
                try:
                    found = unpack(*_packed(packed, place), place)
                    records.update(enumerate(found, value_of(int, first, place)))
                except ArchiveTrouble:
                    continue
        return {ordinal: record for ordinal, record in records.items() if ordinal in wanted}

    def redact(self, family: str, name: str) -> int:
        """Empty every record of a shared file that names this conversation, and every line that was
        not finished yet; returns the bytes."""
        removed = 0
        columns = "lane, first, size, lengths, data"
        for strand in self.rows.shared_strands(family):
            for lane, first, size, lengths, data in self.rows.get("chunk", columns, strand=strand):
                records = unpack(data, size, lengths, _place(strand, lane, first))
                kept = [b"" if name.encode() in record else record for record in records]
                if kept != records:
                    removed += size - sum(map(len, kept))
                    self.rows.remove("chunk", strand=strand, lane=lane, first=first)
                    self.insert(strand, pack(lane, first, kept))
            for number, tail in self.rows.get("state", "number, tail", strand=strand):
                if name.encode() in tail:
                    removed += len(tail)
                    self.rows.change("state", {"strand": strand, "number": number}, tail=b"")
        return removed


def _place(strand: int, lane: str, first: object) -> str:
    """What a chunk is called in messages."""
    return f"chunk {first} of {lane} in strand {strand}"


def _packed(row: Sequence[object], place: str) -> tuple[bytes, int, str]:
    """The data, size and lengths of a chunk."""
    data, size, lengths = row
    return value_of(bytes, data, place), value_of(int, size, place), value_of(str, lengths, place)


def cut(digests: bytes) -> list[bytes]:
    """The digests of a chunk, one by one."""
    return [digests[i : i + DIGEST_SIZE] for i in range(0, len(digests), DIGEST_SIZE)]


class _Extent(NamedTuple):
    """Records that lie in one chunk and follow each other in the document."""

    offset: int
    size: int
    run: int
    first: int
    last: int


class HeldBytes:
    """The bytes of one state of a strand, brought from its chunks a little at a time.

    For whoever compares a large file with what is kept of it, or writes it out again. Records never
    change, so nothing is held open meanwhile, and whatever is added does no harm.
    """

    def __init__(self, rows: Rows, strand: int, runs: Sequence[Run], tail: bytes = b"") -> None:
        self.rows = rows
        self.chunks = Chunks(rows)
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
        chunks: dict[str, list[Row]] = {}
        for number, run in enumerate(self.runs):
            if run.lane not in chunks:
                chunks[run.lane] = self._chunks(run.lane)
            for first, last in _spans(run.records):
                for begin, end, size in self._within(run.lane, chunks[run.lane], first, last):
                    yield _Extent(offset, size, number, begin, end)
                    offset += size

    def _within(
        self, lane: str, chunks: list[Row], first: int, last: int
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

    def _chunks(self, lane: str) -> list[Row]:
        return self.rows.get(
            "chunk", "first, count, size", order="first", strand=self.strand, lane=lane
        )

    def _lengths(self, lane: str, first: int, last: int) -> list[int]:
        """Of records that lie in one chunk."""
        for begin, lengths in self.rows.chunks(
            self.strand, lane, first, first, "first, lengths", 1
        ):
            return decoded(_LENGTHS, lengths, "table chunk")[first - begin : last - begin + 1]
        raise BadValue(f"strand {self.strand}", f"record {first} of {lane} is missing")


def _spans(records: str) -> Iterator[tuple[int, int]]:
    """`"0-3,7"` → `(0, 3), (7, 7)`."""
    for span in records.split(",") if records else ():
        first, _, last = span.partition("-")
        yield int(first), int(last or first)
