"""What one person may see of the archives of many, as one archive: the same verbs, without the rest.

Lists are answered by one statement over all of them; what is in one conversation, by its owner's
archive, once it has been asked whether it may be seen. A verb that is added to an archive and not
here fails, instead of reaching past that: a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

from msgspec import UNSET, structs

from rireki.archive.base import (
    Archive,
    ArchiveTally,
    Change,
    Filter,
    Found,
    Heading,
    PendingGroup,
    PersonFact,
    Sighting,
    StoredConversation,
)
from rireki.archive.curation import curation_of
from rireki.archive.projection import answers_in, conversation_of
from rireki.errors import NotFound
from rireki.intake.curate import told_to_teams
from rireki.model.conversation import Answer, Conversation, Curation, Link, Trouble
from rireki.model.strand import State, Strand, StrandBytes
from rireki.shares.plan import GroupName
from rireki.team import statements as sql
from rireki.team.read_only import (
    OwnedConversation,
    OwnedName,
    ReadOnlyArchive,
    ambiguous,
    without_notes,
)
from rireki.team.tables import Row
from rireki.team.visible import ListPlace, Sight, VisibleRows

__all__ = ["MOST", "WHOSE", "Noted", "SeenArchive"]

#: Between the id of a conversation and whose it is, where two people have one of that id.
WHOSE = "~"
#: Ids of strands, which each archive numbers for itself.
_STRANDS = 1 << 40
#: People whose sightings of one directory are told; groups that wait, and changes, at once.
SIGHTED, WAITING, CHANGES = 100, 1000, 5000
#: Conversations that are given at once, and of which everything is counted: the newest.
MOST = 5000
#: Conversations whose links and what was added to them are fetched together.
PAGE = 70

#: Told of what is read of others: whose, which group, by which team.
Noted = Callable[[int, GroupName, str], None]


class SeenArchive(ReadOnlyArchive):
    """All that a person may see: his own, and what others share with his teams."""

    def __init__(
        self,
        rows: VisibleRows,
        open_archive: Callable[[int], Archive],
        beside: Archive,
        number: Callable[[], int],
        tally: Callable[[Sight], ArchiveTally],
        noted: Noted | None = None,
    ) -> None:
        """`beside` is whose files are used; `number` is that of the feed of all archives."""
        self._tally = tally
        self.visible = rows
        self.name, self.address, self.home = beside.name, beside.address, beside.home
        self.clock = beside.clock
        self._open = open_archive
        self._archives: dict[int, Archive] = {}
        self._number = number
        self._noted = noted

    def _archive(self, person: int) -> Archive:
        if person not in self._archives:
            self._archives[person] = self._open(person)
        return self._archives[person]

    @property
    def own(self) -> int:
        return self.visible.sight.own

    def _name_of(self, person: int) -> str:
        return self.visible.sight.people.get(person, "?")

    # ── as a whole ──

    @property
    def damage(self) -> list[Trouble]:
        return []

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
        self._archives.clear()

    def tally(self) -> ArchiveTally:
        return self._tally(self.visible.sight)._replace(most=MOST)

    def count(self, waiting: bool = False) -> int:
        return 0 if waiting else self.tally().number

    # ── one group ──

    def _may(self, family: str, grouping: str) -> tuple[Archive, int, list[str]] | None:
        """Whose archive has a group that may be seen, and by which teams; asked each time."""
        if not isinstance(family, OwnedName):
            return None
        teams = self.visible.audience(family.person, str(family), grouping)
        return None if teams is None else (self._archive(family.person), family.person, teams)

    def strands(
        self, family: str, conversation: str, as_of: str | None = None, number: int | None = None
    ) -> list[Strand]:
        may = self._may(family, conversation)
        if may is None:
            return []
        archive, person, teams = may
        if self._noted is not None and person != self.visible.sight.reader:
            self._noted(person, (str(family), conversation), next(iter(teams), ""))
        found = archive.strands(str(family), conversation, as_of, number)
        return [structs.replace(each, id=each.id + person * _STRANDS) for each in found]

    def bytes_of(self, strand: Strand, state: State) -> StrandBytes:
        person, id = divmod(strand.id, _STRANDS)
        return self._archive(person).bytes_of(structs.replace(strand, id=id), state)

    def weight(self, family: str, grouping: str) -> int:
        may = self._may(family, grouping)
        return may[0].weight(str(family), grouping) if may else 0

    def kept_as(self, family: str, grouping: str) -> dict[str, StoredConversation]:
        may = self._may(family, grouping)
        return may[0].kept_as(str(family), grouping) if may else {}

    def groups(self) -> Iterator[PendingGroup]:
        return (PendingGroup(each.family, each.grouping) for each in self.headings())

    def pending(self, family: str | None = None, conversation: str = "") -> Iterator[PendingGroup]:
        for person, name, group, number in self.visible.ask(sql.WAITING, limit=WAITING):
            if family in (None, name) and conversation in ("", group):
                yield PendingGroup(OwnedName.of(name, person), group, number)

    def here(self, found: Found) -> Conversation:
        return structs.replace(found.conversation, upstream="gone", held_by=[])

    # ── conversations ──

    def conversations(self, wanted: Filter = Filter()) -> Iterator[Conversation]:  # noqa: B008
        if wanted.ids is not None:
            found = sorted(self.pick(wanted.ids).values(), key=lambda c: c.id)
            found.sort(key=lambda c: c.updated_at or "", reverse=True)
            return islice(found, wanted.limit)
        after = self._place(*wanted.after) if wanted.after else None
        most = MOST if wanted.limit is None else min(wanted.limit, MOST)
        wanted = structs.replace(wanted, limit=most)
        return self._made_some(self.visible.listed(wanted, after))

    def _place(self, at: str | None, name: str) -> ListPlace:
        found = self._resolved([name]).get(name)
        return ListPlace(at, self._split(name)[0], found[0] if found else 0)

    def _made_some(self, rows: Iterator[Row]) -> Iterator[Conversation]:
        while page := list(islice(rows, PAGE)):
            yield from self._made(page)

    def _made(self, rows: Sequence[Row]) -> Iterator[OwnedConversation]:
        """Conversations of rows, with their links to what may be seen, called by their names."""
        links: dict[tuple[int, int], list[tuple[str, str, str, str | None]]] = {}
        for owner, number, *link in self.visible.beside(sql.LINKS, rows):
            links.setdefault((owner, number), []).append((link[0], link[1], link[2], link[3]))
        added = self._curations(rows)
        teams = self._teams(rows)
        ids = {row[3] for row in rows} | {id for some in links.values() for _, _, id, _ in some}
        owners = self.visible.owners(sorted(ids))
        for row in rows:
            owner, number, data, id, title = row[:5]
            told = [
                Link(kind, self.called(other, owner, owners), side, call)  # type: ignore[arg-type]
                for side, kind, other, call in links.get((owner, number), ())
                if owner in owners.get(other, ())
            ]
            read = conversation_of((number, data, id, title), {number: told}, {}, {})
            values = structs.asdict(read)
            values["id"] = self.called(id, owner, owners)
            values["curation"] = added.get((owner, number), UNSET)
            # Laptops do not say what they are called.
            values["machines"] = UNSET
            shared = sorted(teams.get((owner, number), ()))
            yield OwnedConversation(**values, owner=self._name_of(owner), teams=shared)

    def _curations(self, rows: Sequence[Row]) -> dict[tuple[int, int], Curation]:
        own = self.own
        found = {}
        for owner, number, *values in self.visible.beside(sql.CURATIONS, rows):
            curation = curation_of(values)
            found[owner, number] = curation if owner == own else told_to_teams(curation)
        return found

    def _teams(self, rows: Sequence[Row]) -> dict[tuple[int, int], list[str]]:
        own = self.own
        mine = [row for row in rows if row[0] == own]
        others = [row for row in rows if row[0] != own]
        teams: dict[tuple[int, int], list[str]] = {}
        for owner, number, team in (
            *self.visible.beside(sql.TEAMS, others),
            *self.visible.beside(sql.OWN_TEAMS, mine),
        ):
            teams.setdefault((owner, number), []).append(team)
        return teams

    # ── names ──

    def called(self, id: str, owner: int, owners: Mapping[str, Sequence[int]]) -> str:
        """The id, with whose it is where another one of that id is meant by it alone."""
        first = next(iter(owners.get(id, ())), owner)
        return id if first == owner else f"{id}{WHOSE}{self._name_of(owner)}"

    def _split(self, name: str) -> tuple[str, int]:
        """An id, and whose it is where that is said."""
        id, mark, owner = name.rpartition(WHOSE)
        if mark:
            for person, called in self.visible.sight.people.items():
                if called == owner:
                    return id, person
        return name, 0

    def _resolved(self, names: Iterable[str]) -> dict[str, tuple[int, str]]:
        """Whose conversation each name means, and its id there; of those that may be seen."""
        split = {name: self._split(name) for name in names}
        owners = self.visible.owners([id for id, _ in split.values()])
        found = {}
        for name, (id, person) in split.items():
            known = owners.get(id, [])
            if person in known or (known and not person):
                found[name] = (person or known[0], id)
        return found

    def owner_of(self, name: str) -> int:
        """Whose conversation this is; 0 where it is none that may be seen."""
        found = self._resolved([name]).get(name)
        return found[0] if found else 0

    def pick(self, ids: Sequence[str]) -> dict[str, Conversation]:
        wanted = self._resolved(ids)
        made = self.owned(wanted.values())
        return {
            name: structs.replace(made[each], id=name)
            for name, each in wanted.items()
            if each in made
        }

    def owned(
        self, wanted: Collection[tuple[int, str]]
    ) -> dict[tuple[int, str], OwnedConversation]:
        """Conversations by whose they are and their ids there, called by their names."""
        found = self.visible.chosen([id for _, id in wanted])
        rows = {(row[0], row[3]): row for row in found}
        chosen = [rows[each] for each in dict.fromkeys(wanted) if each in rows]
        return dict(zip(((row[0], row[3]) for row in chosen), self._made(chosen), strict=True))

    def find(self, name: str) -> Found:
        found = self._resolved([name]).get(name)
        if found is None:
            person, id = self._meant(name)
        else:
            person, id = found
        for row in self.visible.chosen([id]):
            if row[0] == person:
                (conversation,) = self._made([row])
                return Found(conversation, OwnedName.of(row[5], person), row[6], row[7])
        raise NotFound("no-conversation", id=name)

    def _meant(self, name: str) -> tuple[int, str]:
        beginning, person = self._split(name)
        found = self.visible.meant(beginning) if beginning else []
        found = [each for each in found if not person or each[1] == person]
        ids = list(dict.fromkeys(id for id, _ in found))
        if not ids:
            raise NotFound("no-conversation", id=name)
        # An id that is the beginning of all others means itself, not its sub-agents.
        whole = [id for id in ids if all(other.startswith(id) for other in ids)] or ids
        if len(whole) > 1:
            raise ambiguous(name, ids)
        people = [owner for id, owner in found if id == whole[0]]
        own = self.own
        return min(people, key=lambda each: (each != own, each)), whole[0]

    def short_ids(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: id for id in ids}

    def missing(self, ids: Collection[str]) -> set[str]:
        return set(ids) - self._resolved(ids).keys()

    # ── headings ──

    def headings(
        self,
        finished: bool = False,
        ids: Collection[str] | None = None,
        after: int = 0,
        since: str | None = None,
        beginning: str = "",
    ) -> Iterator[Heading]:
        # Numbers of all archives together mean nothing in one of them: then it is everything.
        if ids is None:
            yield from self._headings(self.visible.headings(finished, since, beginning))
            return
        wanted = self._resolved(ids)
        rows = self.visible.chosen_headings(finished, [id for _, id in wanted.values()])
        by_name = {(row[0], row[2]): row for row in rows}
        for name, each in wanted.items():
            if each in by_name:
                for heading in self._headings(iter([by_name[each]])):
                    yield heading._replace(id=name)

    def _headings(self, rows: Iterator[Row]) -> Iterator[Heading]:
        while page := list(islice(rows, PAGE)):
            added = self._curations(page)
            for owner, number, id, family, *rest, finished in page:
                values: Row = (id, OwnedName.of(family, owner), *rest, bool(finished))
                heading = Heading(*values)
                heading = heading._replace(added=added.get((owner, number), Curation()))
                yield heading if owner == self.own else without_notes(heading)

    def projects(self) -> Iterator[str]:
        newest: dict[str, str] = {}
        for cell in self.tally().cells:
            if cell.project:
                newest[cell.project] = max(newest.get(cell.project, ""), cell.newest or "")
        return iter(sorted(newest, key=lambda project: newest[project], reverse=True))

    def sightings(self, directory: str, below: bool = False) -> list[Sighting]:
        within = sql.WITHIN.format(of_project=sql.of_project(below))
        people = self.visible.ask(within, **sql.folders(directory), limit=SIGHTED)
        found = []
        for (person,) in people:
            found += self._sightings(person, directory, below)
        return sorted(found, key=lambda each: each.conversation.updated_at or "", reverse=True)

    def _sightings(self, person: int, directory: str, below: bool) -> list[Sighting]:
        seen = self._archive(person).sightings(directory, below)
        owners = self.visible.owners([each.conversation.id for each in seen])
        names = {
            each.conversation.id: self.called(each.conversation.id, person, owners)
            for each in seen
            if person in owners.get(each.conversation.id, ())
        }
        made = self.pick(list(names.values()))
        return [
            structs.replace(each, conversation=made[names[each.conversation.id]])
            for each in seen
            if names.get(each.conversation.id) in made
        ]

    # ── figures ──

    def answers(
        self, source: str | None = None, since: str | None = None
    ) -> Iterator[tuple[str, list[Answer]]]:
        wanted = Filter(source=source, since=since, subagents=True, limit=MOST)
        rows = self.visible.listed(wanted, None)
        while page := list(islice(rows, PAGE)):
            owners = self.visible.owners([row[3] for row in page])
            packed = self._answers({row[3] for row in page})
            for row in page:
                data = packed.get((row[0], row[3]))
                if data is not None:
                    yield self.called(row[3], row[0], owners), answers_in(data)

    def answers_of(self, ids: Sequence[str]) -> dict[str, list[Answer]]:
        wanted = self._resolved(ids)
        packed = self._answers({id for _, id in wanted.values()})
        return {name: answers_in(packed[each]) for name, each in wanted.items() if each in packed}

    def _answers(self, ids: Collection[str]) -> dict[tuple[int, str], bytes]:
        found = self.visible.ask(sql.ANSWERS, ids=sorted(ids)) if ids else []
        return {(owner, id): data for id, owner, data in found}

    # ── what changed ──

    def changes(self, after: int, until: int) -> list[Change]:
        """Each conversation once."""
        found: dict[tuple[int, str], Change] = {}
        while True:
            rows = self.visible.ask(sql.FED, after=after, until=until, limit=CHANGES)
            for seq, person, conversation, earlier, reached in rows:
                before = found.pop((person, conversation), None)
                first = before.before if before else earlier
                found[person, conversation] = Change(seq, conversation, first, reached)
            if len(rows) < CHANGES:
                break
            after = rows[-1][0]
        owners = self.visible.owners([each.conversation for each in found.values()])
        return [
            change._replace(conversation=self.called(change.conversation, person, owners))
            for (person, _), change in found.items()
        ]

    def reached(self, conversation: str, number: int | None = None) -> int:
        found = self._resolved([conversation]).get(conversation)
        return self._archive(found[0]).reached(found[1], number) if found else 0

    # ── what people added is their own ──

    def facts(self, found: Found | None = None) -> list[PersonFact]:
        family = found.family if found else ""
        if found is None or not isinstance(family, OwnedName) or family.person != self.own:
            return []
        return self._archive(family.person).facts(found)

    def curations(self, ids: Collection[str] | None = None) -> dict[str, Curation]:
        own = self.own
        return self._archive(own).curations(ids) if own else {}

    def machines(self) -> dict[str, list[int]]:
        return {}
