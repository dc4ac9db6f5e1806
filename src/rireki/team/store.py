"""A team's database, opened: everybody's archive, who there is, who may read what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rireki.archive.base import Archive
from rireki.archive.curation import drop_facts
from rireki.archive.forgetting import drop_strand
from rireki.archive.open import now
from rireki.archive.postgres.connections import ACROSS_SETTINGS, Connections
from rireki.archive.postgres.store import TeamStore
from rireki.errors import NotFound
from rireki.home import Home
from rireki.shares.pushing import GroupFor, ShareChange
from rireki.team.audience import Audience
from rireki.team.people import Member, People
from rireki.team.seen import Noted, SeenArchive
from rireki.team.statements import PEOPLE
from rireki.team.tables import TeamTables
from rireki.team.tallies import Tallies
from rireki.team.visible import Sight, VisibleRows
from rireki.team.waking import Waker

__all__ = ["FeedEntry", "Narrowed", "Team"]

#: Questions to all archives that are asked at once: what is more waits.
ACROSS = 12


class Narrowed(NamedTuple):
    """To what of all he may see somebody keeps; empty: to nothing."""

    person: str = ""
    team: str = ""


class FeedEntry(NamedTuple):
    """A conversation that was read anew, and the teams it is shared with."""

    seq: int
    person: int
    conversation: str
    earlier: int
    reached: int
    teams: frozenset[int]


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
        self._database = database
        self.store = TeamStore(database, create=create, folder=folder, clock=clock)
        self._connections = Connections(database)
        #: For what is asked of all archives together.
        self._across = Connections(database, ACROSS, ACROSS_SETTINGS)
        self.tables = TeamTables(self._connections)
        if create:
            self.tables.create()
        self._sharing: dict[int, tuple[int, Sequence[int]]] = {}
        self.tallies = Tallies(self.tables, self._across)
        self.people = People(self.tables, clock)
        self.audience = Audience(self.tables, self.people, clock)
        self.name = self.tables.name
        self.home = Home(folder / "team")

    def close(self) -> None:
        self._connections.close()
        self._across.close()
        self.store.close()

    def waker(self, woken: Callable[[], None]) -> Waker:
        """Tells the other servers of this team, and is told by them: `woken`."""
        return Waker(Connections(self._database, 2), woken)

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
        return SeenArchive(rows, self.store.archive, beside, self.fed, self.tallies.of, noted)

    def sight(self, member: Member, narrowed: Narrowed) -> Sight:
        """What a member sees, as long as nobody's rights change. Raises NotFound for a person, or a
        team, of whom he may see nothing."""
        if narrowed.team and narrowed.team not in member.roles:
            raise NotFound("no-team", name=narrowed.team)
        known = self.people.teams()
        chosen = [narrowed.team] if narrowed.team else member.teams()
        teams = [known[name] for name in chosen]
        names = self.people.names()
        shared = {id for team in teams for id in self._sharing_with(team, member.rights)}
        people = {id: names[id] for id in sorted(shared) if id in names}
        if not narrowed.team:
            people[member.id] = member.name
        if narrowed.person:
            people = {id: name for id, name in people.items() if name == narrowed.person}
            if not people:
                raise NotFound("no-person", name=narrowed.person)
        own = 0 if narrowed.team or member.id not in people else member.id
        return Sight(member.id, people, own, teams[0] if narrowed.team else 0, frozenset(teams))

    def _sharing_with(self, team: int, rights: int) -> Sequence[int]:
        """Whoever shares something with a team: another number of rights tells of others."""
        known = self._sharing.get(team)
        if known is None or known[0] != rights:
            found = [id for (id,) in self.tables.ask(PEOPLE, {"team": team})]
            known = self._sharing[team] = (rights, found)
        return known[1]

    # ── what a laptop says ──

    def change(self, member: Member, change: ShareChange) -> None:
        if change.withdrawn:
            self.audience.withdraw(member, change.withdrawn)
            self._withdraw(member, change.withdrawn)
        if change.shared:
            before = self.audience.teams_of(member.id)
            self.audience.share(member, change.shared)
            others = [
                each
                for each in change.shared
                if set(before.get((each.family, each.grouping), ())) != set(each.teams)
            ]
            self._note_audience(member, others)
        if change.uncounted:
            self.audience.uncount(member, change.uncounted)
        if change.counted:
            self.audience.count(member, change.counted)

    def _note_audience(self, member: Member, groups: Sequence[GroupFor]) -> None:
        """Whom it is shared with is a change of a conversation: it is indexed anew, and told of."""
        with self.archive(member.id) as archive:
            archive.rows.again(lambda: _change(archive, groups))

    def _withdraw(self, member: Member, groups: Sequence[GroupFor]) -> None:
        """Remove the records; that it may come again is what tells it from forgetting."""
        with self.archive(member.id) as archive:
            for group in groups:
                archive.rows.again(lambda group=group: _drop(archive, group))  # type: ignore[misc]

    # ── the feed of all ──

    def fed(self) -> int:
        ((number,),) = self.tables.ask("SELECT coalesce(max(seq), 0) FROM team_feed")
        return int(number)

    def fed_and_rights(self) -> tuple[int, int]:
        """Up to where the feed is, and the number of everybody's rights, both of one moment."""
        ((number, rights),) = self.tables.ask(FED_AND_RIGHTS)
        return number, rights

    def entries(self, after: int, until: int) -> list[FeedEntry]:
        """What is new in the feed, with whom it may be told."""
        return [
            FeedEntry(seq, person, conversation, earlier, reached, frozenset(filter(None, teams)))
            for seq, person, conversation, earlier, reached, teams in self.tables.ask(
                ENTRIES, after, until
            )
        ]

    def twins(self, ids: Collection[str]) -> set[str]:
        """Those of which several people have a conversation."""
        return {id for (id,) in self.tables.ask(TWINS, list(ids))} if ids else set()

    def feed(self, person: int) -> int:
        """Tell everybody's feed what is new in a person's archive; returns how much that was."""
        with self.archive(person) as archive, self.tables.together() as rows:
            rows.next("feed turn")
            known = rows.ask("SELECT number FROM team_fed WHERE person = %s", person)
            after, number = (known[0][0] if known else 0), archive.number()
            changes = archive.changes(after, number)
            last = rows.next("feed", len(changes)) if changes else 0
            told = [
                (last - len(changes) + place, person, each.conversation, each.before, each.reached)
                for place, each in enumerate(changes, 1)
            ]
            rows.ask_many(FEED, told)
            rows.ask(SET_FED, person, number)
        return len(changes)

    def waiting(self) -> list[int]:
        """Whose archives have something to be interpreted."""
        return [owner for (owner,) in self.tables.ask(WAITING)]

    def numbers(self) -> dict[int, int]:
        """Up to which number everybody's archive is."""
        return dict(self.tables.ask("SELECT owner, number FROM counter WHERE owner > 0"))


FED_AND_RIGHTS = """SELECT (SELECT coalesce(max(seq), 0) FROM team_feed),
                           (SELECT coalesce(max(value), 0) FROM team_counter WHERE name = 'rights')"""
ENTRIES = """SELECT f.seq, f.person, f.conversation, f.earlier, f.reached, array_agg(s.team)
               FROM team_feed f
               LEFT JOIN conversation c ON c.owner = f.person AND c.id = f.conversation
               LEFT JOIN team_audience s
                 ON s.person = c.owner AND s.family = c.family AND s.grouping = c.grouping
              WHERE f.seq > %s AND f.seq <= %s GROUP BY f.seq ORDER BY f.seq"""
TWINS = """SELECT c.id FROM conversation c WHERE c.id = ANY(%s::text[])
            GROUP BY c.id HAVING count(*) > 1"""
FEED = """INSERT INTO team_feed (seq, person, conversation, earlier, reached)
          VALUES (%s, %s, %s, %s, %s)"""
SET_FED = """INSERT INTO team_fed (person, number) VALUES (%s, %s)
             ON CONFLICT (person) DO UPDATE SET number = EXCLUDED.number"""
WAITING = "SELECT DISTINCT owner FROM dirty WHERE owner > 0 ORDER BY owner"


def _change(archive: Archive, groups: Sequence[GroupFor]) -> None:
    with archive.writing() as batch:
        for each in groups:
            family, grouping = each.family, each.grouping
            found = batch.rows.get("conversation", "number, id", family=family, grouping=grouping)
            for number, id in found:
                batch.rows.change("conversation", {"number": number}, changed=batch.number)
                batch.projection.log(batch.number, id, archive.reached(id))


def _drop(archive: Archive, group: GroupFor) -> None:
    family, grouping = group.family, group.grouping
    with archive.rows.wiping(), archive.writing() as batch:
        rows = batch.rows
        drop_facts(rows, family, grouping)
        for (id,) in rows.get("conversation", "id", family=family, grouping=grouping):
            batch.projection.log(batch.number, id, 0)
            rows.remove("conversation", id=id)
        for (strand,) in rows.get("strand", "id", family=family, conversation=grouping):
            drop_strand(rows, strand)
        rows.remove("dirty", family=family, conversation=grouping)
