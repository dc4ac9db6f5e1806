"""What an archive can do: the verbs everything above it speaks.

It keeps records and facts, and the projection that was made from them; it knows neither the
readers nor what a record means. Its rows are an engine's: an SQLite file today, a team's server may
stand behind the same verbs later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from os import urandom
from typing import TYPE_CHECKING, Any

from msgspec import structs

from rireki.archive.curation import facts_of, facts_of_kind, put_fact, replaces, settle, subjects
from rireki.archive.links import resolve_links
from rireki.archive.projection import Projection, short_ids
from rireki.archive.rows import Rows, by_pages, lenient, lenient_rows, value_of
from rireki.archive.values import (
    ArchiveTally,
    ArchiveTallyCell,
    Change,
    Filter,
    Found,
    Heading,
    KnownOrigin,
    PendingGroup,
    PersonFact,
    Sighting,
    Stale,
    StoredConversation,
    StoredReading,
    Stream,
    StreamFacts,
)
from rireki.late import LateModule
from rireki.model.conversation import Answer, Conversation, Curation, Trouble

# A list of conversations needs no records, nor what packs and unpacks them; most only read; and
# deltas are made and taken only for what is pushed.
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rireki.archive import batch as batches
    from rireki.archive import delta as deltas
    from rireki.archive import records, taking
    from rireki.archive.batch import Batch
    from rireki.archive.delta import Delta, Have, Held
    from rireki.archive.records import Records
    from rireki.model.strand import State, Strand, StrandBytes
else:
    batches = LateModule("rireki.archive.batch")
    deltas = LateModule("rireki.archive.delta")
    records = LateModule("rireki.archive.records")
    taking = LateModule("rireki.archive.taking")

__all__ = [
    "Archive",
    "Change",
    "Filter",
    "Found",
    "Heading",
    "KnownOrigin",
    "PendingGroup",
    "PersonFact",
    "Sighting",
    "Stale",
    "StoredConversation",
    "StoredReading",
    "Stream",
    "StreamFacts",
    "ArchiveTally",
    "ArchiveTallyCell",
]


class Archive:
    """What can be much comes one after the other, read some at a time: take what you need."""

    def __init__(self, rows: Rows, clock: Callable[[], str]) -> None:
        self.rows = rows
        #: What it is called in messages.
        self.name = rows.name
        #: What another process opens it by.
        self.address = rows.address
        #: Where the files that belong to it lie.
        self.home = rows.home
        #: What time it is: facts are noted with it.
        self.clock = clock
        self._projection = Projection(rows)

    @property
    def read_only(self) -> bool:
        """Whether it lies where it can only be read, or is damaged."""
        return self.rows.read_only

    @property
    def damage(self) -> list[Trouble]:
        """What cannot be read of it, as far as that was met; whatever can is given."""
        return self.rows.damage

    @cached_property
    def _records(self) -> Records:
        return records.Records(self.rows, self.fetch_records)

    @lenient
    def fetch_records(self, strand: int, lane: str, ordinals: Sequence[int]) -> list[bytes]:
        """Records of a lane, by their numbers."""
        return self._records.chunks.fetch(strand, lane, ordinals)

    # ── as a whole ──

    @contextmanager
    def writing(self) -> Iterator[Batch]:
        """One transaction: all of it is kept, or nothing."""
        with self.rows.writing():
            batch = batches.Batch(self.rows, self._records, self._projection, self.clock())
            yield batch
            resolve_links(self.rows, batch.projected, batch.number)
            settle(self.rows, batch.projected, batch.curated, batch.number)

    def reading(self) -> AbstractContextManager[None]:
        """All that is read within is of one moment, whatever others write meanwhile.

        For a few looks: as long as it lasts, what is forgotten cannot be wiped off the disk.
        """
        return self.rows.reading()

    @lenient
    def number(self) -> int:
        """The number of the last change; equal numbers mean that nothing changed."""
        number = self.rows.note("number")
        return 0 if number is None else value_of(int, number, "table meta")

    @lenient
    def note_of(self, name: str) -> str | None:
        """What was last noted under a name by something that is kept beside the archive."""
        noted = self.rows.note(name)
        return None if noted is None else str(noted)

    def set_note(self, name: str, value: str, *, keep: bool = False) -> None:
        """Note something without counting it as a change. It goes back when the archive is put back.

        With `keep`, what another process noted first stays.
        """
        with self.rows.writing():
            self.rows.set_note(name, value, keep)

    def identity(self) -> str:
        """Tells this archive from every other; made up when it is first asked for.

        Empty where it cannot be noted down.
        """
        known = self.note_of("identity")
        if known is None and not self.read_only:
            self.set_note("identity", urandom(16).hex(), keep=True)
            known = self.note_of("identity")
        return known or ""

    def check(self) -> list[Trouble]:
        """What is wrong with the file and its rows, each with the conversation or table that it
        concerns; empty when they are sound."""
        return self.rows.check()

    def settle(self) -> None:
        """Make sure that what was written is on the disk."""
        self.rows.settle()

    def is_outdated(self) -> bool:
        """Whether somebody wrote what could only be read here, and without locks: open it again."""
        return self.rows.is_outdated()

    def close(self) -> None:
        self.rows.close()

    # ── records ──

    @lenient_rows
    def origins(self, named: bool = False) -> Iterator[KnownOrigin]:
        """Every file and database that was read on this machine; `named` with the conversation of
        each file."""
        return self._records.origins(named)

    @lenient
    def cursors(self, source: str, place: str) -> dict[str, Any]:
        """The cursor of each strand of an origin, by key."""
        return self._records.cursors(source, place)

    @lenient
    def held_bytes(self, source: str, place: str, key: str = "") -> StrandBytes | None:
        """What a strand of an origin held when it was last seen; None when it is unknown."""
        return self._records.held_bytes(source, place, key)

    @lenient
    def bytes_of(self, strand: Strand, state: State) -> StrandBytes:
        """What any machine's strand held at a state."""
        return self._records.bytes_of(strand.id, state)

    @lenient
    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        """The strands of a group, as they are, as they were at a time or at a number."""
        return self._records.strands(family, conversation, as_of, number)

    @lenient
    def weight(self, family: str, grouping: str) -> int:
        """How many bytes of records a group has."""
        return self.rows.weight(family, grouping)

    @lenient_rows
    def groups(self) -> Iterator[PendingGroup]:
        """Every group of strands that makes up conversations."""
        found = by_pages(self.rows.groups, ("", ""))
        return (PendingGroup(family, conversation) for family, conversation in found)

    @lenient
    def troubles(self, source: str | None = None) -> list[tuple[str, str, Trouble]]:
        """(source, origin's place, trouble) of what could not be read and is no conversation's."""
        found = self.rows.troubles(source)
        return [(name, origin, Trouble(*trouble)) for name, origin, *trouble in found]

    # ── what people add ──

    @lenient
    def facts(self, found: Found | None = None) -> list[PersonFact]:
        """What people said of a conversation and its messages, and did not take back; without one,
        their saved searches."""
        if found is None:
            return facts_of(self.rows, "", [""])
        rows = self.rows.get("conversation", "number, family, native_id", id=found.conversation.id)
        names = dict.fromkeys(name for row in rows for name in subjects(self.rows, *row))
        return facts_of(self.rows, found.family, names)

    @lenient
    def facts_of_kind(self, kind: str) -> list[PersonFact]:
        """What people said of this kind, of whatever conversation."""
        return facts_of_kind(self.rows, kind)

    @lenient
    def noted_messages(self, after: int, until: int) -> set[str]:
        """The messages on which a note was put, or taken away, after a number, up to another."""
        found = self.rows.between("fact", "message, kind", after, until)
        return {message for message, kind in found if message and kind == "note"}

    def add_facts(self, *facts: PersonFact) -> None:
        """Note what a person says here and now; its time and machine are filled in."""
        machine, wiped = self.identity(), replaces(self.rows, facts)
        with self.rows.wiping() if wiped else nullcontext(), self.writing() as batch:
            for fact in facts:
                put_fact(batch, structs.replace(fact, at=batch.now, machine=machine))

    @lenient
    def curations(self, ids: Collection[str] | None = None) -> dict[str, Curation]:
        """What was added to conversations, by id; those that nothing was added to are not there."""
        return self._projection.curations_by_id(ids)

    # ── other machines' archives ──

    def stream(self, archive: str, machine: str, epoch: int = 1) -> Stream:
        """Where the facts of another archive go, named by its identity; made when it is first asked
        for. An archive that was put back begins another epoch."""
        named: dict[str, Any] = {"archive": archive, "epoch": epoch}
        known = partial(self.rows.get, "stream", "id, reached, machine", **named)

        def make() -> None:
            with self.rows.writing():
                if known():
                    # Its person gave it another name.
                    self.rows.change("stream", named, machine=machine)
                else:
                    self.rows.add("stream", **named, machine=machine, reached=0)

        if [name for *_, name in known()] != [machine]:
            self.rows.again(make)
        ((id, reached, _),) = known()
        return Stream(id, reached)

    @lenient
    def delta(self, after: int, limit: int, have: Have) -> Delta:
        """What changed here after a number, for a stream of another archive: whole changes, about so
        many bytes of them; of one that is larger, a part. `have` says what the other one has."""
        return deltas.Giving(self._records, after, limit, have).delta()

    @lenient
    def held(self, stream: int, strands: Sequence[int]) -> dict[int, Held]:
        """What there is of these strands of a stream: what `delta` asks the other archive."""
        return deltas.held(self.rows, stream, strands)

    def take(self, stream: int, delta: Delta, seals: tuple[str, str] = ("", "")) -> int:
        """Keep a delta of a stream; returns the number up to which all of the stream is here.

        What goes on from another number is not kept, so one that was kept already, or that another
        process was faster with, does no harm; nor what goes on from another seal than the first of
        `seals`, the second of which is noted. Raises Stale where it goes on from records that are
        not there: ask for another one.
        """
        reached = self.keep(stream, delta, seals)
        return self.come_to(stream)[0] if reached is None else reached

    def keep(self, stream: int, delta: Delta, seals: tuple[str, str]) -> int | None:
        """The same; None where it goes on from another number or seal, and is not kept."""
        return self.rows.again(partial(taking.keep, self, stream, delta, seals))

    @lenient
    def come_to(self, stream: int) -> tuple[int, str]:
        """The number up to which a stream is here, and what the other archive calls that moment."""
        with self.reading():
            return taking.come_to(self.rows, stream)

    def machines(self) -> dict[str, list[int]]:
        """The streams of each machine, by its name; nothing where there is but this one."""
        found: dict[str, list[int]] = {}
        for stream, name in self._projection.machine_names().items():
            found.setdefault(name, []).append(stream)
        return found

    def streams(self) -> list[StreamFacts]:
        """The other archives whose facts are here."""
        found = self.rows.get("stream", "id, archive, epoch, machine, reached", order="id")
        return [StreamFacts(*row) for row in found]

    @lenient
    def here(self, found: Found) -> Conversation:
        """The conversation as its agent has it on this machine: gone, if only another one holds it."""
        holders = self.rows.holders(found.family, found.grouping)
        if not holders or 0 in holders:
            return found.conversation
        return structs.replace(found.conversation, upstream="gone", held_by=[])

    # ── what waits, and what changed ──

    @lenient_rows
    def pending(self, family: str | None = None, conversation: str = "") -> Iterator[PendingGroup]:
        """The groups that wait to be interpreted, or the one that is named, if it does.

        Files that many conversations share come last: a transcript outranks them.
        """
        if family is None:
            return self._projection.pending()
        number = self._projection.waiting(family, conversation)
        return iter([] if number is None else [PendingGroup(family, conversation, number)])

    def mark_stale(self, drop: bool = True) -> None:
        """Mark every conversation for a new interpretation; what is stored goes at once, or stays
        until then."""
        if drop or next(self.groups(), None) is not None:
            with self.writing() as batch:
                self._projection.mark_stale_all(batch.number, drop)

    @lenient
    def changes(self, after: int, until: int) -> list[Change]:
        """Every conversation that was read anew after a number, up to another; each once."""
        return self._projection.changes(after, until)

    @lenient
    def reached(self, conversation: str, number: int | None = None) -> int:
        """Up to which number the records of a conversation had been read when it was last stored,
        or last stored up to a number."""
        return self.rows.reached(conversation, number)

    # ── conversations ──

    @lenient
    def count(self, waiting: bool = False) -> int:
        """How many conversations there are, sub-agents and notes included; or how many wait that
        nothing is known of before they are interpreted."""
        return self.rows.lacking() if waiting else self.rows.count()

    def tally(self) -> ArchiveTally | None:
        """What all of it comes to, where that is kept at hand: where going through it takes too long."""
        return None

    @lenient_rows
    def conversations(self, wanted: Filter = Filter()) -> Iterator[Conversation]:  # noqa: B008
        return self._projection.conversations(wanted)

    @lenient
    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        """These conversations, with their links, by id."""
        return self._projection.pick(ids)

    @lenient
    def find(self, name: str) -> Found:
        """The conversation of this id or unambiguous prefix. Raises NotFound or Ambiguous."""
        return self._projection.find(name)

    @lenient
    def short_ids(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these ids the shortest beginning that means this conversation only."""
        return short_ids(self.rows, ids)

    @lenient_rows
    def headings(
        self,
        finished: bool = False,
        ids: Collection[str] | None = None,
        after: int = 0,
        since: str | None = None,
        beginning: str = "",
    ) -> Iterator[Heading]:
        """Every conversation; or these, what changed after a number, what was updated since a time,
        or whose id, or the agent's own, begins so. With `finished` also whether each is."""
        return self._projection.headings(finished, ids, after, since, beginning)

    @lenient
    def missing(self, ids: Collection[str]) -> set[str]:
        """Which of these conversations are not there."""
        return self.rows.missing(ids)

    @lenient_rows
    def projects(self) -> Iterator[str]:
        """The directories conversations were held in, the one with the newest first."""
        return iter(self.rows.projects())

    @lenient
    def sightings(self, directory: str, below: bool = False) -> list[Sighting]:
        return self._projection.sightings(directory, below)

    @lenient_rows
    def answers(
        self, source: str | None = None, since: str | None = None
    ) -> Iterator[tuple[str, list[Answer]]]:
        """The model answers of each conversation, by its id; of those updated since a time."""
        return self._projection.answers(source, since)

    @lenient
    def answers_of(self, ids: Sequence[str]) -> dict[str, list[Answer]]:
        """The model answers of these conversations, by id."""
        return self._projection.answers_of(ids)

    @lenient
    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        """What a group is stored as, by the ids of its conversations."""
        return self._projection.kept_as(family, grouping)

    @lenient_rows
    def forgotten(self, names: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """(family, conversation) of what the user said to forget; of all, or of these names."""
        found = self.rows.forgotten(names)
        return ((family, conversation) for family, conversation in found)
