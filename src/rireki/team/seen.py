"""What one person may see of the archives of many, as one archive: the same verbs, without the rest.

Every verb is answered here. One that is added to an archive and not here fails, instead of reaching
past what may be seen: a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import total_ordering
from heapq import merge
from itertools import chain, islice
from typing import Any, NoReturn

import msgspec
from msgspec import structs

from rireki.archive.base import (
    Archive,
    Change,
    Filter,
    Found,
    Heading,
    KnownOrigin,
    PendingGroup,
    PersonFact,
    Sighting,
    StoredConversation,
    Stream,
    StreamFacts,
)
from rireki.archive.batch import Batch
from rireki.archive.delta import Delta, Have, Held
from rireki.errors import Ambiguous, NotFound, RirekiError
from rireki.intake.curate import told_to_teams
from rireki.model.conversation import Answer, Conversation, Curation, Trouble
from rireki.model.strand import State, Strand, StrandBytes
from rireki.shares.plan import GroupName

__all__ = ["OwnedConversation", "OwnedName", "OwnerView", "SeenArchive"]

#: Between the id of a conversation and whose it is, where two people have one of that id.
WHOSE = "~"
#: Ids of strands, which each archive numbers for itself.
_STRANDS = 1 << 40
EXAMPLES = 5


class OwnedConversation(Conversation, kw_only=True):
    """A conversation, and whose it is."""

    owner: str = ""
    #: With which teams it is shared.
    teams: list[str] = msgspec.field(default_factory=list)


class OwnedName(str):
    """The family of a group, which remembers whose it is. Not its own name: readers get that."""

    __slots__ = ("person",)
    person: int

    @classmethod
    def of(cls, name: str, person: int) -> OwnedName:
        made = cls(name)
        made.person = person
        return made


def _without_notes(heading: Heading) -> Heading:
    """With the titles and tags that its owner gave it, and nothing else of what he added."""
    return heading._replace(added=told_to_teams(heading.added), notes=())


class _Shut(Archive):
    """Nothing is written through it, and nothing is told to other archives."""

    @contextmanager
    def writing(self) -> Iterator[Batch]:
        _refuse()
        yield

    def set_note(self, name: str, value: str, *, keep: bool = False) -> None:
        _refuse()

    def add_facts(self, *facts: PersonFact) -> None:
        _refuse()

    def stream(self, archive: str, machine: str, epoch: int = 1) -> Stream:
        _refuse()

    def streams(self) -> list[StreamFacts]:
        _refuse()

    def seal(self, stream: int) -> str:
        _refuse()

    def delta(self, after: int, limit: int, have: Have) -> Delta:
        _refuse()

    def held(self, stream: int, strands: Sequence[int]) -> dict[int, Held]:
        _refuse()

    def take(self, stream: int, delta: Delta, seals: tuple[str, str] = ("", "")) -> int:
        _refuse()

    def mark_stale(self, drop: bool = True) -> None:
        _refuse()

    def held_bytes(self, source: str, place: str, key: str = "") -> StrandBytes | None:
        _refuse()

    def fetch_records(self, strand: int, lane: str, ordinals: Sequence[int]) -> list[bytes]:
        _refuse()

    def cursors(self, source: str, place: str) -> dict[str, Any]:
        _refuse()

    def facts_of_kind(self, kind: str) -> list[PersonFact]:
        return []

    def noted_messages(self, after: int, until: int) -> set[str]:
        return set()

    def check(self) -> list[Trouble]:
        return []

    def settle(self) -> None:
        return

    def origins(self, named: bool = False) -> Iterator[KnownOrigin]:
        return iter(())

    def troubles(self, source: str | None = None) -> list[tuple[str, str, Trouble]]:
        return []

    def forgotten(self, names: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        return iter(())

    @property
    def read_only(self) -> bool:
        return True


def _refuse() -> NoReturn:
    raise RirekiError("team-read-only")


class OwnerView(_Shut):
    """One person's archive as another one may see it; `allowed` is None for his own."""

    def __init__(
        self,
        archive: Archive,
        person: int,
        owner: str,
        allowed: Mapping[GroupName, Sequence[str]] | None,
        teams: Mapping[GroupName, Sequence[str]],
        noted: Callable[[GroupName], None] = lambda group: None,
    ) -> None:
        self.archive = archive
        self.person = person
        self.owner = owner
        self.allowed = allowed
        #: With which teams a group is shared, as far as the reader may know.
        self.teams = allowed if allowed is not None else teams
        #: Told of whatever is read in it.
        self.noted = noted
        self.name, self.address, self.home = archive.name, archive.address, archive.home
        self.clock = archive.clock
        self._at = -1
        self._known: dict[str, Heading] = {}

    @property
    def damage(self) -> list[Trouble]:
        return self.archive.damage

    @property
    def is_own(self) -> bool:
        return self.allowed is None

    def _may(self, family: str, grouping: str) -> bool:
        return self.allowed is None or (family, grouping) in self.allowed

    def known(self) -> dict[str, Heading]:
        """The conversations that may be seen, by id."""
        number = self.archive.number()
        if number != self._at:
            found = self.archive.headings()
            self._known = {h.id: h for h in found if self._may(h.family, h.grouping)}
            self._at = number
        return self._known

    def _owned(self, conversation: Conversation) -> Conversation:
        """Without links to what may not be seen."""
        known = self.known()
        heading = known.get(conversation.id)
        group = (heading.family, heading.grouping) if heading else ("", "")
        values = structs.asdict(conversation)
        values["links"] = [link for link in conversation.links if link.id in known]
        # Laptops do not say what they are called.
        values["machines"] = msgspec.UNSET
        if not self.is_own and conversation.curation:
            values["curation"] = told_to_teams(conversation.curation)
        return OwnedConversation(
            **values, owner=self.owner, teams=sorted(self.teams.get(group, ()))
        )

    # ── as a whole ──

    def reading(self) -> AbstractContextManager[None]:
        return self.archive.reading()

    def number(self) -> int:
        return self.archive.number()

    def note_of(self, name: str) -> str | None:
        return self.archive.note_of(name)

    def identity(self) -> str:
        return self.archive.identity()

    def is_outdated(self) -> bool:
        return self.archive.is_outdated()

    def close(self) -> None:
        self.archive.close()

    def count(self, waiting: bool = False) -> int:
        return 0 if waiting else len(self.known())

    # ── records ──

    def bytes_of(self, strand: Strand, state: State) -> StrandBytes:
        return self.archive.bytes_of(strand, state)

    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        if not self._may(family, conversation):
            return []
        if not self.is_own:
            self.noted((family, conversation))
        return self.archive.strands(family, conversation, as_of, number)

    def weight(self, family: str, grouping: str) -> int:
        return self.archive.weight(family, grouping) if self._may(family, grouping) else 0

    def groups(self) -> Iterator[PendingGroup]:
        found = {(heading.family, heading.grouping) for heading in self.known().values()}
        return (PendingGroup(*group) for group in sorted(found))

    def pending(self, family: str | None = None, conversation: str = "") -> Iterator[PendingGroup]:
        found = self.archive.pending(family, conversation)
        return (group for group in found if self._may(group.family, group.conversation))

    def here(self, found: Found) -> Conversation:
        return structs.replace(found.conversation, upstream="gone", held_by=[])

    # ── conversations ──

    def conversations(self, wanted: Filter = Filter()) -> Iterator[Conversation]:  # noqa: B008
        known, left = self.known(), wanted.limit
        # Of what is listed some may not be seen: it is asked for until there is enough.
        for each in self.archive.conversations(structs.replace(wanted, limit=None)):
            if left is not None and left <= 0:
                return
            if each.id in known:
                left = None if left is None else left - 1
                yield self._owned(each)

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        known = self.known()
        found = self.archive.pick([id for id in ids if id in known])
        return {id: self._owned(each) for id, each in found.items()}

    def find(self, name: str) -> Found:
        id = name if name in self.known() else self._meant(name)
        conversation, family, grouping, changed = self.archive.find(id)
        if not self._may(family, grouping):
            raise NotFound("no-conversation", id=name)
        return Found(self._owned(conversation), family, grouping, changed)

    def _meant(self, name: str) -> str:
        """The id of which this is the beginning, or what the agent calls it, or an earlier name."""
        known = self.known()
        found = [id for id in known if id.startswith(name) or id.partition("/")[2].startswith(name)]
        whole = [id for id in found if all(other.startswith(id) for other in found)]
        if len(whole or found) == 1:
            return (whole or found)[0]
        if found:
            raise ambiguous(name, found)
        try:
            alias = self.archive.find(name).conversation.id
        except (NotFound, Ambiguous):
            alias = ""
        if alias not in known:
            raise NotFound("no-conversation", id=name)
        return alias

    def short_ids(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: id for id in ids}

    def headings(
        self,
        finished: bool = False,
        ids: Collection[str] | None = None,
        after: int = 0,
        since: str | None = None,
        beginning: str = "",
    ) -> Iterator[Heading]:
        found = self.archive.headings(finished, ids, after, since, beginning)
        seen = (heading for heading in found if self._may(heading.family, heading.grouping))
        return seen if self.is_own else map(_without_notes, seen)

    def missing(self, ids: Collection[str]) -> set[str]:
        return set(ids) - self.known().keys()

    def projects(self) -> Iterator[str]:
        newest = sorted(self.known().values(), key=lambda h: h.updated_at or "", reverse=True)
        return iter(dict.fromkeys(h.project for h in newest if h.project))

    def sightings(self, directory: str, below: bool = False) -> list[Sighting]:
        known = self.known()
        return [
            structs.replace(each, conversation=self._owned(each.conversation))
            for each in self.archive.sightings(directory, below)
            if each.conversation.id in known
        ]

    def answers(
        self, source: str | None = None, since: str | None = None
    ) -> Iterator[tuple[str, list[Answer]]]:
        known = self.known()
        return (each for each in self.archive.answers(source, since) if each[0] in known)

    def answers_of(self, ids: Sequence[str]) -> dict[str, list[Answer]]:
        known = self.known()
        return self.archive.answers_of([id for id in ids if id in known])

    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        return self.archive.kept_as(family, grouping) if self._may(family, grouping) else {}

    def changes(self, after: int, until: int) -> list[Change]:
        known = self.known()
        return [c for c in self.archive.changes(after, until) if c.conversation in known]

    def reached(self, conversation: str, number: int | None = None) -> int:
        known = conversation in self.known()
        return self.archive.reached(conversation, number) if known else 0

    # ── what people added is their own ──

    def facts(self, found: Found | None = None) -> list[PersonFact]:
        return self.archive.facts(found) if self.is_own else []

    def curations(self, ids: Collection[str] | None = None) -> dict[str, Curation]:
        return self.archive.curations(ids) if self.is_own else {}

    def machines(self) -> dict[str, list[int]]:
        return {}


def ambiguous(name: str, ids: Sequence[str]) -> Ambiguous:
    examples = ", ".join(ids[:EXAMPLES]) + (" …" if len(ids) > EXAMPLES else "")
    return Ambiguous("ambiguous-id", id=name, n=len(ids), examples=examples)


@total_ordering
class _Place:
    """Where a conversation stands in a list: the newest first, then by id."""

    def __init__(self, conversation: Conversation) -> None:
        self.at, self.id = conversation.updated_at or "", conversation.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and (self.at, self.id) == (other.at, other.id)

    def __lt__(self, other: _Place) -> bool:
        return self.at > other.at or (self.at == other.at and self.id < other.id)

    __hash__ = None  # type: ignore[assignment]


class SeenArchive(_Shut):
    """All that a person may see: his own archive first, then what others share with his teams."""

    def __init__(
        self,
        views: Sequence[OwnerView],
        beside: Archive,
        number: Callable[[], int],
        changes: Callable[[int, int], list[tuple[int, Change]]],
    ) -> None:
        """`beside` is whose files are used; `number` and `changes` tell of all archives together,
        with whose each change is."""
        self.views = list(views)
        self._by_person = {view.person: view for view in views}
        self._by_name = {view.owner: view for view in views}
        self.name, self.address, self.home = beside.name, beside.address, beside.home
        self.clock = beside.clock
        self._number = number
        self._changes = changes

    @property
    def damage(self) -> list[Trouble]:
        return [trouble for view in self.views for trouble in view.damage]

    def _of(self, name: str) -> tuple[OwnerView | None, str]:
        """Whose conversation is named, where that is said, and its id in his archive."""
        id, mark, owner = name.rpartition(WHOSE)
        view = self._by_name.get(owner) if mark else None
        return (view, id) if view is not None else (None, name)

    def _having(self, name: str) -> tuple[OwnerView | None, str]:
        """The first view that has a conversation of this id."""
        view, id = self._of(name)
        if view is not None:
            return (view if id in view.known() else None), id
        return next((each for each in self.views if id in each.known()), None), id

    # ── as a whole ──

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()

    def number(self) -> int:
        return self._number()

    def note_of(self, name: str) -> str | None:
        return None

    def identity(self) -> str:
        return ""

    def is_outdated(self) -> bool:
        return False

    def close(self) -> None:
        for view in self.views:
            view.close()

    def count(self, waiting: bool = False) -> int:
        return sum(view.count(waiting) for view in self.views)

    # ── records ──

    def _view_of(self, family: str) -> OwnerView | None:
        return self._by_person.get(family.person) if isinstance(family, OwnedName) else None

    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        view = self._view_of(family)
        found = view.strands(str(family), conversation, as_of, number) if view else []
        return [structs.replace(s, id=s.id + self._first(view)) for s in found if view]

    def _first(self, view: OwnerView | None) -> int:
        return view.person * _STRANDS if view else 0

    def bytes_of(self, strand: Strand, state: State) -> StrandBytes:
        person, id = divmod(strand.id, _STRANDS)
        return self._by_person[person].bytes_of(structs.replace(strand, id=id), state)

    def weight(self, family: str, grouping: str) -> int:
        view = self._view_of(family)
        return view.weight(str(family), grouping) if view else 0

    def groups(self) -> Iterator[PendingGroup]:
        return chain.from_iterable(view.groups() for view in self.views)

    def pending(self, family: str | None = None, conversation: str = "") -> Iterator[PendingGroup]:
        return chain.from_iterable(view.pending(family, conversation) for view in self.views)

    def here(self, found: Found) -> Conversation:
        return structs.replace(found.conversation, upstream="gone", held_by=[])

    # ── conversations ──

    def conversations(self, wanted: Filter = Filter()) -> Iterator[Conversation]:  # noqa: B008
        if wanted.ids is not None:
            found = iter(sorted(self.pick(wanted.ids).values(), key=_Place))
            return islice(found, wanted.limit)
        if wanted.after is not None:
            at, id = wanted.after
            wanted = structs.replace(wanted, after=(at, self._of(id)[1]))
        lists = [view.conversations(wanted) for view in self.views]
        return islice(self._named(merge(*lists, key=_Place)), wanted.limit)

    def _named(self, found: Iterator[Conversation]) -> Iterator[Conversation]:
        """Where two people have a conversation of one id, the second says whose it is."""
        seen: set[str] = set()
        for each in found:
            yield self._called(each) if each.id in seen else each
            seen.add(each.id)

    def _called(self, conversation: Conversation) -> Conversation:
        owner = getattr(conversation, "owner", "")
        return structs.replace(conversation, id=f"{conversation.id}{WHOSE}{owner}")

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        found = {}
        for name in ids:
            view, id = self._having(name)
            if view is not None:
                for picked in view.pick([id]).values():
                    found[name] = structs.replace(picked, id=name)
        return found

    def find(self, name: str) -> Found:
        view, id = self._having(name)
        if view is None:
            view, id = self._of(name)
        if view is not None:
            return self._found(view, view.find(id), name != id)
        return self._meant(name)

    def _meant(self, name: str) -> Found:
        found: list[tuple[OwnerView, Found]] = []
        for view in self.views:
            try:
                found.append((view, view.find(name)))
            except NotFound:
                continue
        if not found:
            raise NotFound("no-conversation", id=name)
        ids = list(dict.fromkeys(each.conversation.id for _, each in found))
        if len(ids) > 1:
            raise ambiguous(name, ids)
        return self._found(*found[0], False)

    def _found(self, view: OwnerView, found: Found, named: bool) -> Found:
        conversation = self._called(found.conversation) if named else found.conversation
        family = OwnedName.of(found.family, view.person)
        return Found(conversation, family, found.grouping, found.changed)

    def short_ids(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: id for id in ids}

    def headings(
        self,
        finished: bool = False,
        ids: Collection[str] | None = None,
        after: int = 0,
        since: str | None = None,
        beginning: str = "",
    ) -> Iterator[Heading]:
        if ids is not None:
            return chain.from_iterable(self._headings_of(finished, name) for name in ids)
        # Numbers of all archives together mean nothing in one of them: then it is everything.
        return (
            heading._replace(family=OwnedName.of(heading.family, view.person))
            for view in self.views
            for heading in view.headings(finished, None, 0, since, beginning)
        )

    def _headings_of(self, finished: bool, name: str) -> Iterator[Heading]:
        view, id = self._having(name)
        for heading in view.headings(finished, [id]) if view else ():
            family = OwnedName.of(heading.family, view.person if view else 0)
            yield heading._replace(id=name, family=family)

    def missing(self, ids: Collection[str]) -> set[str]:
        return {id for id in ids if self._having(id)[0] is None}

    def projects(self) -> Iterator[str]:
        return iter(dict.fromkeys(chain.from_iterable(view.projects() for view in self.views)))

    def sightings(self, directory: str, below: bool = False) -> list[Sighting]:
        return [each for view in self.views for each in view.sightings(directory, below)]

    def answers(
        self, source: str | None = None, since: str | None = None
    ) -> Iterator[tuple[str, list[Answer]]]:
        return chain.from_iterable(view.answers(source, since) for view in self.views)

    def answers_of(self, ids: Sequence[str]) -> dict[str, list[Answer]]:
        found = {}
        for name in ids:
            view, id = self._having(name)
            for answers in view.answers_of([id]).values() if view else ():
                found[name] = answers
        return found

    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        view = self._view_of(family)
        return view.kept_as(str(family), grouping) if view else {}

    def changes(self, after: int, until: int) -> list[Change]:
        found = []
        for person, change in self._changes(after, until):
            view = self._by_person.get(person)
            # What went is told to whose it was; of others nobody knows any more who might see it.
            if view and (
                change.conversation in view.known() or (view.is_own and not change.reached)
            ):
                found.append(change)
        return found

    def reached(self, conversation: str, number: int | None = None) -> int:
        view, id = self._having(conversation)
        return view.reached(id, number) if view else 0

    def facts(self, found: Found | None = None) -> list[PersonFact]:
        view = self._view_of(found.family) if found else None
        return view.facts(found) if view else []

    def curations(self, ids: Collection[str] | None = None) -> dict[str, Curation]:
        own = [view.curations(ids) for view in self.views if view.is_own]
        return own[0] if own else {}

    def machines(self) -> dict[str, list[int]]:
        return {}
