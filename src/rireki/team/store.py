"""A team's database, opened: everybody's archive, who there is, who may read what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rireki.archive.base import Archive, Change
from rireki.archive.forgetting import drop_strand
from rireki.archive.open import now
from rireki.archive.postgres.connections import ACROSS_SETTINGS, Connections
from rireki.archive.postgres.store import TeamStore
from rireki.errors import NotFound
from rireki.home import Home
from rireki.shares.plan import GroupName
from rireki.shares.pushing import GroupFor, ShareChange
from rireki.team.audience import Audience
from rireki.team.owner_view import OwnerView
from rireki.team.people import Member, People
from rireki.team.seen import Noted, SeenArchive
from rireki.team.statements import PEOPLE
from rireki.team.tables import TeamTables
from rireki.team.visible import Sight, VisibleRows

__all__ = ["Narrowed", "Team"]

#: Questions to all archives that are asked at once: what is more waits.
ACROSS = 12


class Narrowed(NamedTuple):
    """To what of all he may see somebody keeps; empty: to nothing."""

    person: str = ""
    team: str = ""


class Team:
    """For any thread; archives are opened for one thread each."""

    def __init__(
        self,
        database: str,
        folder: Path,
        *,
        create: bool = False,
        clock: Callable[[], str] = now,
    ) -> None:
        """`folder` is this machine's: for the indexes of everybody's archives."""
        self.folder = folder
        self.clock = clock
        self.store = TeamStore(database, create=create, folder=folder, clock=clock)
        self._connections = Connections(database)
        #: For what is asked of all archives together.
        self._across = Connections(database, ACROSS, ACROSS_SETTINGS)
        self.tables = TeamTables(self._connections)
        if create:
            self.tables.create()
        self.people = People(self.tables, clock)
        self.audience = Audience(self.tables, self.people, clock)
        self.name = self.tables.name
        self.home = Home(folder / "team")

    def close(self) -> None:
        self._connections.close()
        self._across.close()
        self.store.close()

    # ── archives ──

    @contextmanager
    def archive(self, person: int) -> Iterator[Archive]:
        archive = self.store.archive(person)
        try:
            yield archive
        finally:
            archive.close()

    def seen_by(
        self,
        member: Member,
        narrowed: Narrowed = Narrowed(),  # noqa: B008 - it cannot be changed
        noted: Noted | None = None,
    ) -> SeenArchive:
        """Everything a member may see; `noted` is told whose and what he reads."""
        return self.seen(self.sight(member, narrowed), noted)

    def seen(self, sight: Sight, noted: Noted | None = None) -> SeenArchive:
        beside = self.store.archive(0)
        beside.home, beside.name = self.home, self.name
        rows = VisibleRows(self._across, sight)
        return SeenArchive(rows, self.store.archive, beside, self.fed, noted)

    def sight(self, member: Member, narrowed: Narrowed) -> Sight:
        """What a member sees, as long as nobody's rights change. Raises NotFound for a person, or a
        team, of whom he may see nothing."""
        if narrowed.team and narrowed.team not in member.roles:
            raise NotFound("no-team", name=narrowed.team)
        known = self.people.teams()
        chosen = [narrowed.team] if narrowed.team else member.teams()
        teams = [known[name] for name in chosen]
        names = self.people.names()
        people = {
            id: names[id] for (id,) in self.tables.ask(PEOPLE, {"teams": teams}) if id in names
        }
        if not narrowed.team:
            people[member.id] = member.name
        if narrowed.person:
            people = {id: name for id, name in people.items() if name == narrowed.person}
            if not people:
                raise NotFound("no-person", name=narrowed.person)
        own = 0 if narrowed.team or member.id not in people else member.id
        return Sight(member.id, people, own, teams[0] if narrowed.team else 0)

    def views(
        self,
        member: Member,
        narrowed: Narrowed = Narrowed(),  # noqa: B008 - as above
        noted: Callable[[int, GroupName, str], None] | None = None,
    ) -> list[OwnerView]:
        names = self.people.names()
        found = self.audience.visible(member)
        views = [] if narrowed.team else [self._own(member)]
        for person in sorted(found, key=lambda each: names.get(each, "")):
            groups = found[person]
            if narrowed.team:
                groups = {name: teams for name, teams in groups.items() if narrowed.team in teams}
            archive = self.store.archive(person)
            note = _noter(noted, person, groups) if noted else _ignored
            views.append(OwnerView(archive, person, names.get(person, "?"), groups, {}, note))
        if narrowed.team and narrowed.team in member.roles:
            views.insert(0, self._shared_of_own(member, narrowed.team))
        return [v for v in views if not narrowed.person or v.owner == narrowed.person]

    def _own(self, member: Member) -> OwnerView:
        teams = self.audience.teams_of(member.id)
        return OwnerView(self.store.archive(member.id), member.id, member.name, None, teams)

    def _shared_of_own(self, member: Member, team: str) -> OwnerView:
        teams = self.audience.teams_of(member.id)
        shared = {name: known for name, known in teams.items() if team in known}
        return OwnerView(self.store.archive(member.id), member.id, member.name, shared, {})

    # ── what a laptop says ──

    def change(self, member: Member, change: ShareChange) -> None:
        if change.withdrawn:
            self.audience.withdraw(member, change.withdrawn)
            self._withdraw(member, change.withdrawn)
        if change.shared:
            self.audience.share(member, change.shared)
        if change.uncounted:
            self.audience.uncount(member, change.uncounted)
        if change.counted:
            self.audience.count(member, change.counted)

    def _withdraw(self, member: Member, groups: Sequence[GroupFor]) -> None:
        """Remove the records; that it may come again is what tells it from forgetting."""
        with self.archive(member.id) as archive:
            for group in groups:
                archive.rows.again(lambda group=group: _drop(archive, group))  # type: ignore[misc]

    # ── the feed of all ──

    def fed(self) -> int:
        ((number,),) = self.tables.ask("SELECT coalesce(max(seq), 0) FROM team_feed")
        return int(number)

    def changes(self, after: int, until: int) -> list[tuple[int, Change]]:
        """Each conversation once, with whose it is."""
        found: dict[tuple[int, str], Change] = {}
        for seq, person, conversation, earlier, reached in self.tables.ask(FED, after, until):
            before = found.pop((person, conversation), None)
            first = before.before if before else earlier
            found[person, conversation] = Change(seq, conversation, first, reached)
        return [(person, change) for (person, _), change in found.items()]

    def feed(self, person: int) -> int:
        """Tell everybody's feed what is new in a person's archive; returns how much that was."""
        with self.archive(person) as archive, self.tables.together() as rows:
            rows.next("feed turn")
            known = rows.ask("SELECT number FROM team_fed WHERE person = %s", person)
            after, number = (known[0][0] if known else 0), archive.number()
            changes = archive.changes(after, number)
            for change in changes:
                seq = rows.next("feed")
                values = (seq, person, change.conversation, change.before, change.reached)
                rows.ask(FEED, *values)
            rows.ask(SET_FED, person, number)
        return len(changes)

    def waiting(self) -> list[int]:
        """Whose archives have something to be interpreted."""
        return [owner for (owner,) in self.tables.ask(WAITING)]

    def numbers(self) -> dict[int, int]:
        """Up to which number everybody's archive is."""
        return dict(self.tables.ask("SELECT owner, number FROM counter WHERE owner > 0"))


FED = """SELECT seq, person, conversation, earlier, reached FROM team_feed
          WHERE seq > %s AND seq <= %s ORDER BY seq"""
FEED = """INSERT INTO team_feed (seq, person, conversation, earlier, reached)
          VALUES (%s, %s, %s, %s, %s)"""
SET_FED = """INSERT INTO team_fed (person, number) VALUES (%s, %s)
             ON CONFLICT (person) DO UPDATE SET number = EXCLUDED.number"""
WAITING = "SELECT DISTINCT owner FROM dirty WHERE owner > 0 ORDER BY owner"


def _ignored(group: GroupName) -> None:
    return


def _noter(
    noted: Callable[[int, GroupName, str], None], person: int, groups: dict[GroupName, list[str]]
) -> Callable[[GroupName], None]:
    return lambda group: noted(person, group, next(iter(groups.get(group, [])), ""))


def _drop(archive: Archive, group: GroupFor) -> None:
    family, grouping = group.family, group.grouping
    with archive.rows.wiping(), archive.writing() as batch:
        rows = batch.rows
        for (id,) in rows.get("conversation", "id", family=family, grouping=grouping):
            batch.projection.log(batch.number, id, 0)
            rows.remove("conversation", id=id)
        for (strand,) in rows.get("strand", "id", family=family, conversation=grouping):
            drop_strand(rows, strand)
        rows.remove("dirty", family=family, conversation=grouping)
