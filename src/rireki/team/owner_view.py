"""One person's archive as another one may see it: the same verbs, without the rest.

Every verb is answered here. One that is added to an archive and not here fails, instead of reaching
past what may be seen: a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

import msgspec
from msgspec import structs

from rireki.archive.base import (
    Archive,
    Change,
    Filter,
    Found,
    Heading,
    PendingGroup,
    PersonFact,
    Sighting,
    StoredConversation,
    Tally,
)
from rireki.errors import Ambiguous, NotFound
from rireki.intake.curate import told_to_teams
from rireki.model.conversation import Answer, Conversation, Curation, Trouble
from rireki.model.strand import State, Strand, StrandBytes
from rireki.shares.plan import GroupName
from rireki.team.read_only import OwnedConversation, ReadOnlyArchive, ambiguous, without_notes

__all__ = ["OwnerView"]


class OwnerView(ReadOnlyArchive):
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

    def tally(self) -> Tally | None:
        return None

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
        return seen if self.is_own else map(without_notes, seen)

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
