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
    OriginFacts,
    Part,
    StrandFacts,
    SuccessionFacts,
    held,
    taken_strands,
)
from rireki.archive.forgetting import drop, drop_strand, reopen
from rireki.archive.pack import FULL, Chunk, check_told, damaged
from rireki.archive.records import decoded_cursor, decoded_runs
from rireki.archive.rows import Row, Rows
from rireki.archive.values import Group, Stale
from rireki.model.record import DIGEST_SIZE
from rireki.model.strand import places_of

__all__ = ["NoStream", "come_to", "keep"]


#: A state may name each record several times, and records that a damaged archive lost; one that names
#: far more than there are would only fill the memory of whoever reads it.
TIMES, SPARE = 4, 1_000_000


class _Elsewhere(Exception):
    """The stream has reached another number, or seal, than the delta goes on from."""


class NoStream(Exception):
    """Nobody has told of it."""


def come_to(rows: Rows, stream: int) -> tuple[int, str]:
    """The number that a stream has reached, and its seal: nothing is sealed where nothing is here, or
    everything is to be told again. Of one moment only within a transaction."""
    found = rows.get("stream", "reached", id=stream)
    if not found:
        raise NoStream(stream)
    ((reached,),) = found
    return int(reached), str(rows.note(f"seal {stream}") or "") if reached else ""


def keep(archive: Archive, stream: int, delta: Delta, seals: tuple[str, str]) -> int | None:
    """None where the stream is at another number, or has another seal."""
    forgets = delta.removed or delta.forgotten or _names_forgotten(archive, delta)
    forgets = forgets or replaces(archive.rows, delta.facts)
    try:
        with archive.rows.wiping() if forgets else nullcontext(), archive.writing() as batch:
            return _Taking(batch, stream).take(delta, seals)
    except _Elsewhere:
        return None


def _names_forgotten(archive: Archive, delta: Delta) -> bool:
    return any(archive.forgotten(_names(delta)))


def _names(delta: Delta) -> list[str]:
    names = dict.fromkeys(part.strand.conversation for part in delta.parts)
    return [name for name in names if name]


class _Taking:
    def __init__(self, batch: Batch, stream: int) -> None:
        self.batch = batch
        self.rows = batch.rows
        self.stream = stream
        #: Ids in this archive by those in the other one.
        self.origins: dict[int, int] = {}
        self.strands: dict[int, int] = {}
        #: Which group each of them belongs to so far.
        self.groups: dict[int, Group] = {}

    def take(self, delta: Delta, seals: tuple[str, str]) -> int:
        if come_to(self.rows, self.stream) != (delta.after, seals[0]):
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
        if delta.parts:
            self._keep_parts(delta)
        # What was remembered again makes it begin anew.
        begins = any(each.remembered for each in delta.forgotten)
        return come_to(self.rows, self.stream)[0] if begins else delta.upto

    def _keep_parts(self, delta: Delta) -> None:
        strands = [part.strand.id for part in delta.parts]
        if len(set(strands)) != len(strands):
            raise damaged("batch", "a strand is told twice")
        known = held(self.rows, self.stream, strands, self._find(strands))
        self._keep_origins(delta.origins)
        numbers = self._numbers(delta.parts)
        forgotten = {tuple(row) for row in self.rows.forgotten(_names(delta))}
        for part in delta.parts:
            if known.get(part.strand.id, NOTHING) != part.held:
                raise Stale(part.strand.key)
            if (part.strand.family, part.strand.conversation) in forgotten:
                self._refuse(part.strand)
            else:
                self._keep(part, numbers)

    def _find(self, strands: Sequence[int]) -> list[Row]:
        found = taken_strands(self.rows, self.stream, strands)
        self.strands.update((remote, id) for remote, id, *_ in found)
        self.groups.update((remote, (family, name)) for remote, _, _, family, name in found)
        return found

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
        columns = ", ".join(("origin.id", "origin.remote", *OriginFacts.__struct_fields__[1:]))
        found = self.rows.taken("origin", self.stream, remote, columns)
        self.origins.update((theirs, id) for id, theirs, *_ in found)
        known = {OriginFacts(*row[1:]) for row in found}
        for origin in told:
            values = structs.asdict(origin)
            remote_id = values.pop("id")
            if origin in known:
                continue
            if remote_id in self.origins:
                self.rows.change("origin", {"id": self.origins[remote_id]}, **values)
            else:
                values |= {"stream": self.stream, "remote": remote_id}
                self.origins[remote_id] = self.rows.add("origin", **values)

    def _keep(self, part: Part, numbers: dict[int, int]) -> None:
        strand = part.strand
        is_new = strand.id not in self.strands
        id = self._keep_strand(strand, part.number)
        lanes = dict(part.held.lanes)
        for chunk in part.chunks:
            self._keep_chunk(id, chunk, lanes.get(chunk.lane, 0))
            lanes[chunk.lane] = chunk.first + chunk.count
        before = [] if is_new else self.rows.get("state", "number", order="number", strand=id)
        for (number,) in before[part.kept :]:
            self.rows.remove("state", strand=id, number=number)
        most = TIMES * sum(lanes.values()) + SPARE
        for state in part.states:
            if state.runs and places_of(decoded_runs(state.runs)) > most:
                raise damaged(f"strand {strand.id}", "a state names more records than there are")
            told = structs.asdict(state) | {"number": numbers[state.number]}
            self.rows.add("state", strand=id, **told)
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
        left = self.groups[remote]
        self.rows.change("strand", {"id": id}, **values)
        if left != (told.family, told.conversation):
            self.batch.leave(left, (told.family, told.conversation))
        return id

    def _keep_chunk(self, strand: int, chunk: Chunk, count: int) -> None:
        """As it lies, behind the records that are there."""
        records = check_told(chunk, f"lane {chunk.lane}")
        is_whole = len(chunk.digests) in (0, DIGEST_SIZE * len(records))
        if chunk.first < count or not is_whole:
            raise damaged(f"lane {chunk.lane}", "its records are not those that are told")
        if 0 < chunk.first == count and chunk.size < FULL // 2:
            self.batch.records.chunks.add_small(strand, chunk)
        else:
            self.batch.records.chunks.insert(strand, [chunk])
