"""Taking what another archive tells: its facts become ours, beside those this machine read itself.

One transaction, which goes on from the number that the stream had reached. Numbers are given out
anew, in the same order; times, records and ids of conversations stay what they are, so the
conversations that are read from them are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from msgspec import structs

from rireki.archive.base import Archive
from rireki.archive.batch import Batch
from rireki.archive.curation import put_fact, replaces
from rireki.archive.delta import (
    NOTHING,
    Delta,
    ForgottenFacts,
    Held,
    OriginFacts,
    Part,
    StateFacts,
    StrandFacts,
    SuccessionFacts,
    held,
)
from rireki.archive.forgetting import drop, drop_strand, reopen
from rireki.archive.pack import FULL, Chunk, damaged, unpack
from rireki.archive.records import cut, decoded_cursor, decoded_runs
from rireki.archive.rows import Rows
from rireki.archive.values import Stale
from rireki.model.record import DIGEST_SIZE

__all__ = ["seal_of", "take"]


class _Elsewhere(Exception):
    """The stream has reached another number, or seal, than the delta goes on from."""


def seal_of(rows: Rows, stream: int) -> str:
    """Nothing is sealed where nothing is here, or everything is to be told again."""
    ((reached,),) = rows.get("stream", "reached", id=stream)
    return str(rows.note(f"seal {stream}") or "") if reached else ""


def take(archive: Archive, stream: int, delta: Delta, seals: tuple[str, str]) -> int:
    forgets = delta.removed or delta.forgotten or _names_forgotten(archive, delta)
    forgets = forgets or replaces(archive.rows, delta.facts)
    try:
        with archive.rows.wiping() if forgets else nullcontext(), archive.writing() as batch:
            return _Taking(batch, stream).take(delta, seals)
    except _Elsewhere:
        return _reached(batch, stream)


def _names_forgotten(archive: Archive, delta: Delta) -> bool:
    names = {part.strand.conversation for part in delta.parts} - {None}
    return any(archive.forgotten([name for name in names if name]))


def _reached(batch: Batch, stream: int) -> int:
    ((reached,),) = batch.rows.get("stream", "reached", id=stream)
    return int(reached)


class _Taking:
    def __init__(self, batch: Batch, stream: int) -> None:
        self.batch = batch
        self.rows = batch.rows
        self.stream = stream
        #: Ids in this archive by those in the other one.
        self.origins: dict[int, int] = {}
        self.strands: dict[int, int] = {}

    def take(self, delta: Delta, seals: tuple[str, str]) -> int:
        reached = _reached(self.batch, self.stream), seal_of(self.rows, self.stream)
        if reached != (delta.after, seals[0]):
            raise _Elsewhere
        self.rows.change("stream", {"id": self.stream}, reached=delta.upto)
        if seals[0] != seals[1]:
            self.rows.set_note(f"seal {self.stream}", seals[1], keep=False)
        for strand in delta.removed:
            self._remove(strand)
        for forgotten in delta.forgotten:
            self._forget(forgotten)
        for succession in delta.successions:
            self._note_succession(succession)
        for fact in delta.facts:
            put_fact(self.batch, fact, told=True)
        self._find([part.strand.id for part in delta.parts])
        self._keep_origins(delta.origins)
        numbers = self._numbers(delta.parts)
        known = held(self.rows, self.stream, [part.strand.id for part in delta.parts])
        for part in delta.parts:
            self._keep(part, known.get(part.strand.id, NOTHING), numbers)
        # What was remembered again makes it begin anew.
        return _reached(self.batch, self.stream)

    def _find(self, strands: Sequence[int]) -> None:
        found = self.rows.taken("strand", self.stream, strands, "strand.remote, strand.id")
        self.strands.update((remote, id) for remote, id in found)

    def _numbers(self, parts: Sequence[Part]) -> dict[int, int]:
        """A number of ours for each of theirs; the last one is that of the whole change."""
        theirs = sorted({state.number for part in parts for state in part.states})
        numbers = {}
        for place, number in enumerate(theirs):
            if place:
                self.batch.number = self.rows.next_number()
            numbers[number] = self.batch.number
        return numbers

    # ── what went ──

    def _remove(self, strand: int) -> None:
        """Forgotten there, under whatever name: it may have come to another conversation before."""
        self.rows.remove("removed", stream=self.stream, strand=strand)
        self._find([strand])
        id = self.strands.pop(strand, None)
        if id is not None:
            self._drop(id)

    def _drop(self, id: int) -> None:
        for family, conversation in self.rows.get("strand", "family, conversation", id=id):
            self.batch.projection.mark_stale(family, conversation, self.batch.number)
        drop_strand(self.rows, id)

    def _forget(self, told: ForgottenFacts) -> None:
        """Whatever is of that name, whichever machine read it: the last word counts."""
        known = self.rows.get(
            "forgotten", "at, remembered", family=told.family, conversation=told.conversation
        )
        if any(row >= (told.at, told.remembered) for row in known):
            return
        row = (*structs.astuple(told), 0)
        columns = "family, conversation, together, at, remembered, number"
        self.rows.put("forgotten", columns, row)
        if told.remembered:
            reopen(self.rows)
        else:
            drop(self.batch, told.family, told.conversation)

    def _note_succession(self, told: SuccessionFacts) -> None:
        known = self.rows.get(
            "succession", "at", family=told.family, child=told.child, parent=told.parent
        )
        if all(at < told.at for (at,) in known):
            columns = "family, child, parent, at, number"
            self.rows.put("succession", columns, (*structs.astuple(told), 0))

    # ── what came ──

    def _keep_origins(self, told: Sequence[OriginFacts]) -> None:
        remote = [origin.id for origin in told]
        found = self.rows.taken("origin", self.stream, remote, "origin.remote, origin.id")
        self.origins.update((theirs, id) for theirs, id in found)
        for origin in told:
            values = structs.asdict(origin)
            remote_id = values.pop("id")
            if remote_id in self.origins:
                self.rows.change("origin", {"id": self.origins[remote_id]}, **values)
            else:
                values |= {"stream": self.stream, "remote": remote_id}
                self.origins[remote_id] = self.rows.add("origin", **values)

    def _keep(self, part: Part, known: Held, numbers: dict[int, int]) -> None:
        if known != part.held:
            raise Stale(part.strand.key)
        strand = part.strand
        if strand.conversation and self.batch.projection.is_forgotten(
            strand.family, strand.conversation
        ):
            self._refuse(strand)
            return
        id = self._keep_strand(strand, part.number)
        for chunk in part.chunks:
            self._keep_chunk(id, chunk)
        for (number,) in self.rows.get("state", "number", order="number", strand=id)[part.kept :]:
            self.rows.remove("state", strand=id, number=number)
        self.rows.put(
            "state",
            "strand, number, at, runs, tail",
            *((id, numbers[state.number], *_checked(state)) for state in part.states),
        )
        self.batch.projection.mark_stale(strand.family, strand.conversation, self.batch.number)

    def _refuse(self, strand: StrandFacts) -> None:
        """It was forgotten here."""
        if strand.id in self.strands:
            self._drop(self.strands[strand.id])
        self.rows.put("removed", "stream, strand, number", (self.stream, strand.id, 0))

    def _keep_strand(self, told: StrandFacts, number: int) -> int:
        decoded_cursor(told.cursor)
        if told.origin not in self.origins:
            raise damaged(f"strand {told.id}", "it names a file that is not told")
        values = structs.asdict(told) | {"origin": self.origins[told.origin], "number": number}
        remote = values.pop("id")
        if remote not in self.strands:
            return self.rows.add("strand", **values, remote=remote)
        id = self.strands[remote]
        (left,) = self.rows.get("strand", "family, conversation", id=id)
        self.rows.change("strand", {"id": id}, **values)
        if left != (told.family, told.conversation):
            self.batch.leave(left, (told.family, told.conversation))
        return id

    def _keep_chunk(self, strand: int, chunk: Chunk) -> None:
        """As it lies, unless it is so small that it goes into the last one."""
        records = unpack(chunk.data, chunk.size, chunk.lengths, f"lane {chunk.lane}")
        digests = cut(chunk.digests)
        count = self.batch.records.chunks.count(strand, chunk.lane)
        is_whole = len(chunk.digests) in (0, DIGEST_SIZE * len(records))
        if len(records) != chunk.count or chunk.first < count or not is_whole:
            raise damaged(f"lane {chunk.lane}", "its records are not those that are told")
        if chunk.first == count and chunk.size < FULL // 2:
            self.batch.records.chunks.append(strand, chunk.lane, records, digests)
        else:
            self.batch.records.chunks.insert(strand, [chunk])


def _checked(state: StateFacts) -> tuple[str, str, bytes]:
    if state.runs:
        decoded_runs(state.runs)
    return state.at, state.runs, state.tail
