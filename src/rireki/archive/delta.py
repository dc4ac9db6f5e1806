"""What changed in an archive after a number, as facts that another archive can take.

Told are the strands that this machine read, each as it is now and at the number of its last
change: its states, and its records packed as they lie. A delta says of each strand what it goes on
from, so that whoever takes it notices when something came in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec

from rireki.archive.curation import FACT
from rireki.archive.pack import Chunk, pack, unpack
from rireki.archive.records import Records, cut
from rireki.archive.rows import Row, Rows, pages, value_of
from rireki.archive.values import PersonFact

__all__ = [
    "LAST",
    "NOTHING",
    "UNWANTED",
    "Delta",
    "ForgottenFacts",
    "Giving",
    "Have",
    "Held",
    "OriginFacts",
    "Part",
    "StateFacts",
    "StrandFacts",
    "SuccessionFacts",
    "behind",
    "held",
    "taken_strands",
]

#: Larger than any number.
LAST = 1 << 53
#: A number, or an id, as another archive may tell it.
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LAST)]
#: What a strand counts for besides its records and states.
FEW = 300
_CHUNK = "lane, first, count, size, lengths, digests, data"
_ORIGIN = "id, source, place, root, form, role, first_seen, vanished_at"
_STRAND = (
    "id, origin, key, family, conversation, role, project, cursor, first_seen, last_seen,"
    " vanished_at, number"
)
_FORGOTTEN = "family, conversation, together, at, remembered"
_SUCCESSION = "family, child, parent, at"
#: Chunks that are looked at together.
SOME = 16


class Held(msgspec.Struct, frozen=True):
    """What there is of a strand in the other archive."""

    #: Up to which number its states are there.
    number: _Number = 0
    #: How many records of each lane.
    lanes: dict[str, _Number] = msgspec.field(default_factory=dict)


NOTHING = Held()
#: Nothing is told of such a strand, whatever the other archive has.
UNWANTED = Held(LAST)
#: What the other archive has of these strands; of those it does not know, nothing.
Have: TypeAlias = Callable[[Sequence[int]], Mapping[int, Held]]


class OriginFacts(msgspec.Struct, frozen=True):
    id: _Number
    source: str
    place: str
    root: str
    form: str
    role: str
    first_seen: str
    vanished_at: str | None


class StrandFacts(msgspec.Struct, frozen=True):
    id: _Number
    origin: _Number
    key: str
    family: str
    conversation: str | None
    role: str
    project: str | None
    cursor: str
    first_seen: str
    last_seen: str
    vanished_at: str | None
    number: _Number


class StateFacts(msgspec.Struct, frozen=True):
    number: _Number
    at: str
    runs: str
    tail: bytes


class ForgottenFacts(msgspec.Struct, frozen=True):
    family: str
    conversation: str
    together: str
    at: str
    remembered: _Number


class SuccessionFacts(msgspec.Struct, frozen=True):
    family: str
    child: str
    parent: str
    at: str


class Part(msgspec.Struct, frozen=True):
    """What is told of one strand; its records come before the states that are made of them."""

    strand: StrandFacts
    #: What it goes on from.
    held: Held
    chunks: list[Chunk]
    #: How many of the states that are there already still count: a reading that went on afterwards
    #: took the last one back.
    kept: _Number
    states: list[StateFacts]
    #: Up to which number its states are told with this.
    number: _Number


class Delta(msgspec.Struct, frozen=True):
    after: _Number
    #: With this, all that changed up to here is told; `after` again, if it is a part of one change.
    upto: _Number
    origins: list[OriginFacts]
    parts: list[Part]
    #: Strands that went because they were forgotten.
    removed: list[_Number]
    forgotten: list[ForgottenFacts]
    successions: list[SuccessionFacts]
    #: What people said of conversations on that machine, or took back.
    facts: list[PersonFact] = msgspec.field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is told but that there is nothing."""
        said = self.forgotten or self.successions or self.facts
        return not (self.parts or self.removed or said)


def taken_strands(rows: Rows, stream: int, strands: Sequence[int]) -> list[Row]:
    """What they are called there and here, up to which number they are here, and their group."""
    columns = "strand.remote, strand.id, strand.number, strand.family, strand.conversation"
    return rows.taken("strand", stream, strands, columns)


def held(
    rows: Rows, stream: int, strands: Sequence[int], taken: Sequence[Row] | None = None
) -> dict[int, Held]:
    """`taken` are those that are there, where that is known."""
    known = taken_strands(rows, stream, strands) if taken is None else taken
    lanes: dict[int, dict[str, int]] = {id: {} for _, id, *_ in known}
    for id, lane, count in rows.lanes(list(lanes)):
        lanes[id][lane] = count
    # Of what was forgotten here nothing is wanted any more.
    gone = {strand for (strand,) in rows.get("removed", "strand", stream=stream)}
    found = {remote: Held(number, lanes[id]) for remote, id, number, *_ in known}
    return found | {strand: Held(LAST) for strand in gone.intersection(strands)}


class Giving:
    """One delta being put together.

    The other archive is asked between looks at this one, and others may write meanwhile. What they
    change gets a number behind the one that stood here at the beginning, and is left to the next.
    """

    def __init__(self, records: Records, after: int, limit: int, have: Have) -> None:
        self.rows = records.rows
        self.chunks = records.chunks
        self.after = after
        self.room = limit
        self.have = have
        #: The last change that is told.
        self.now = value_of(int, self.rows.note("number") or 0, "table meta")
        #: What the other one has by these ids goes with this delta; they may have been given again.
        self.gone = {id for (id,) in self.rows.between("removed", "strand", after, self.now)}
        self.parts: list[Part] = []

    def delta(self) -> Delta:
        upto = max(self._give_strands(), self.after)
        span = (self.after, upto)
        with self.rows.reading():
            origins = dict.fromkeys(part.strand.origin for part in self.parts)
            found = [row for id in origins for row in self.rows.get("origin", _ORIGIN, id=id)]
            return Delta(
                *span,
                origins=[OriginFacts(*row) for row in found],
                parts=self.parts,
                removed=[id for (id,) in self.rows.between("removed", "strand", *span)],
                forgotten=[
                    ForgottenFacts(*row)
                    for row in self.rows.between("forgotten", _FORGOTTEN, *span)
                ],
                successions=[
                    SuccessionFacts(*row)
                    for row in self.rows.between("succession", _SUCCESSION, *span)
                ],
                facts=[PersonFact(*row) for row in self.rows.between("fact", FACT, *span)],
            )

    def _give_strands(self) -> int:
        """Returns the number up to which all strands are told."""
        for page in pages(self.rows.changed, (self.after, LAST)):
            known = self.have([id for _, id in page]) if page else {}
            for number, id in page:
                if number > self.now:
                    return self.now
                held = known.get(id, NOTHING)
                if id in self.gone and held is not UNWANTED:
                    held = NOTHING
                if self.room <= 0 or not self._give(id, held):
                    return int(number) - 1
        return self.now

    def _give(self, id: int, known: Held) -> bool:
        """Tell what is new of a strand; whether that is all of it."""
        with self.rows.reading():
            found = [StrandFacts(*row) for row in self.rows.get("strand", _STRAND, id=id)]
            if not found or found[0].number > self.now or found[0].number <= known.number:
                return True
            chunks, whole = self._new_chunks(id, known)
            states = self.rows.get("state", "number, at, runs, tail", order="number", strand=id)
            kept = sum(state[0] <= known.number for state in states)
            told = self._new_states(states[kept:]) if whole else []
        whole = whole and len(told) == len(states) - kept
        number = found[0].number if whole else told[-1].number if told else known.number
        self.room -= FEW
        self.parts.append(Part(found[0], known, chunks, kept, told, number))
        return whole

    def _new_chunks(self, strand: int, known: Held) -> tuple[list[Chunk], bool]:
        """The records behind those that are known, and whether that is all of them."""
        new: list[Chunk] = []
        for _, lane, count in self.rows.lanes([strand]):
            first = known.lanes.get(lane, 0)
            while first < count:
                found = self.rows.chunks(strand, lane, first, count, _CHUNK, SOME)
                for chunk in (Chunk(*row) for row in found):
                    # One, should it be too large for any delta.
                    if new and self.room <= 0:
                        return new, False
                    new += behind(chunk, first)
                    first = chunk.first + chunk.count
                    self.room -= len(chunk.data)
        return new, True

    def _new_states(self, states: Sequence[Row]) -> list[StateFacts]:
        """As many as there is room for, or one."""
        new: list[StateFacts] = []
        for state in (StateFacts(*row) for row in states):
            if new and self.room <= 0:
                break
            new.append(state)
            self.room -= len(state.runs) + len(state.tail)
        return new


def behind(chunk: Chunk, first: int) -> list[Chunk]:
    """As it lies; of one that is known in part, the records from a number on."""
    if chunk.first >= first:
        return [chunk]
    known = first - chunk.first
    records = unpack(chunk.data, chunk.size, chunk.lengths, f"lane {chunk.lane}")
    return pack(chunk.lane, first, records[known:], cut(chunk.digests)[known:])
