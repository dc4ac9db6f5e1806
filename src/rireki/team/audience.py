"""Which conversations may be read by which team, what is counted for it, and who read what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from secrets import token_hex

import msgspec

from rireki.errors import RirekiError
from rireki.shares.counts import CountedConversation, ModelCount
from rireki.shares.plan import GroupName
from rireki.shares.pushing import CountedFor, GroupFor
from rireki.team.people import AUDITS, SHARES, Member, People
from rireki.team.tables import TeamTables

__all__ = ["AuditEntry", "Audience", "TeamFigures"]

#: Entries of the log that are given at once.
MOST = 500


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody was given something of another one's conversation."""

    at: str
    reader: str
    device: str
    #: `read`, or `found` where it was named among what a search found.
    what: str
    owner: str
    conversation: str


class TeamFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted of a team, without names."""

    team: str
    conversations: int = 0
    messages: int = 0
    turns: int = 0
    people: int = 0
    models: list[ModelCount] = []


class Audience:
    def __init__(self, tables: TeamTables, people: People, clock: Callable[[], str]) -> None:
        self.tables = tables
        self.people = people
        self.clock = clock

    # ── who may read what ──

    def share(self, member: Member, groups: Sequence[GroupFor]) -> None:
        """Exactly these teams may read each of the groups.

        Rights are those of the rows, with every question; their number tells who else there is to
        be asked, and what is kept at hand of what may be read no more.
        """
        numbers = self._own_teams(member, {team for each in groups for team in each.teams})
        rows = [
            (member.id, each.family, each.grouping, numbers[team])
            for each in groups
            for team in each.teams
        ]
        kept = [
            (member.id, each.family, each.grouping, [numbers[team] for team in each.teams])
            for each in groups
        ]
        with self.tables.together() as together:
            known = together.ask(SHARES_WITH, member.id, list(numbers.values()))
            gone = together.ask_many(UNSHARE_WITH, kept)
            together.ask_many(SHARE, rows)
            if gone:
                together.next("withdrawn")
            if gone or len(known) < len(numbers):
                together.next("rights")

    def withdraw(self, member: Member, groups: Sequence[GroupFor]) -> None:
        with self.tables.together() as together:
            for each in groups:
                together.ask(UNSHARE, member.id, each.family, each.grouping)
            together.next("withdrawn")
            together.next("rights")

    def _own_teams(self, member: Member, names: Iterable[str]) -> dict[str, int]:
        """Teams somebody may give to, by name. Raises RirekiError for another one."""
        known = self.people.teams()
        for name in names:
            if name not in member.teams(SHARES):
                raise RirekiError("not-your-team", team=name, names=member.teams(SHARES))
        return {name: known[name] for name in names}

    def visible(self, member: Member) -> dict[int, dict[GroupName, list[str]]]:
        """The groups of others that a member may read, by whose they are; with the teams."""
        found: dict[int, dict[GroupName, list[str]]] = defaultdict(dict)
        for person, family, grouping, team in self.tables.ask(VISIBLE, member.id, member.id):
            found[person].setdefault((family, grouping), []).append(team)
        return dict(found)

    def teams_of(self, person: int) -> dict[GroupName, list[str]]:
        """With whom somebody shares what."""
        found: dict[GroupName, list[str]] = {}
        for family, grouping, team in self.tables.ask(SHARED_BY, person):
            found.setdefault((family, grouping), []).append(team)
        return found

    # ── figures alone ──

    def count(self, member: Member, counted: Sequence[CountedFor]) -> None:
        numbers = self._own_teams(member, {team for each in counted for team in each.teams})
        keys = [(member.id, each.figures.key) for each in counted]
        rows = [
            (*_figures(member.id, each.figures), numbers[t]) for each in counted for t in each.teams
        ]
        with self.tables.together() as together:
            together.ask_many(UNCOUNT, keys)
            together.ask_many(COUNT, rows)

    def uncount(self, member: Member, keys: Sequence[str]) -> None:
        with self.tables.together() as together:
            together.ask_many(UNCOUNT, [(member.id, key) for key in keys])

    def figures(self, member: Member) -> list[TeamFigures]:
        """Of each team of a member, what is counted there."""
        return [self._figures(team) for team in member.teams()]

    def _figures(self, team: str) -> TeamFigures:
        rows = self.tables.ask(COUNTED, team)
        told = [msgspec.json.decode(data, type=CountedConversation) for _, data in rows]
        return TeamFigures(
            team=team,
            conversations=len(told),
            messages=sum(each.messages for each in told),
            turns=sum(each.turns for each in told),
            people=len({person for person, _ in rows}),
            models=_summed([model for each in told for model in each.models]),
        )

    # ── who read what ──

    def note(self, member: Member, what: str, person: int, group: GroupName, team: str) -> None:
        """Somebody was given something, as one of a team."""
        values = (self.clock(), token_hex(4), member.id, member.device, what, person, *group, team)
        self.tables.ask(NOTE, *values)

    def log(self, member: Member) -> list[AuditEntry]:
        """What was read of one's own, and, for who audits a team, what its people read of each other;
        the newest first."""
        names = self.people.names()
        return [
            AuditEntry(
                at=at,
                reader=names.get(reader, "?"),
                device=device,
                what=what,
                owner=names.get(person, "?"),
                conversation=f"{family}/{grouping}",
            )
            for at, reader, device, what, person, family, grouping in self.tables.ask(
                LOG, member.id, member.teams(AUDITS)
            )
        ]


def _figures(person: int, told: CountedConversation) -> tuple[object, ...]:
    day = (told.updated_at or "")[:10]
    return person, told.key, told.source, day, msgspec.json.encode(told).decode()


def _summed(models: Sequence[ModelCount]) -> list[ModelCount]:
    sums: dict[str, ModelCount] = {}
    for each in models:
        before = sums.get(each.model, ModelCount(model=each.model))
        sums[each.model] = ModelCount(
            model=each.model,
            answers=before.answers + each.answers,
            input_tokens=before.input_tokens + each.input_tokens,
            output_tokens=before.output_tokens + each.output_tokens,
            cache_read_tokens=before.cache_read_tokens + each.cache_read_tokens,
            cache_write_tokens=before.cache_write_tokens + each.cache_write_tokens,
        )
    return [sums[model] for model in sorted(sums)]


UNSHARE = "DELETE FROM team_audience WHERE person = %s AND family = %s AND grouping = %s"
UNSHARE_WITH = """DELETE FROM team_audience WHERE person = %s AND family = %s AND grouping = %s
                   AND team <> ALL(%s::bigint[])"""
SHARES_WITH = """SELECT t.id FROM team_team t WHERE EXISTS (
                 SELECT 1 FROM team_audience s WHERE s.person = %s AND s.team = t.id)
                   AND t.id = ANY(%s::bigint[])"""
SHARE = """INSERT INTO team_audience (person, family, grouping, team) VALUES (%s, %s, %s, %s)
           ON CONFLICT DO NOTHING"""
VISIBLE = """SELECT s.person, s.family, s.grouping, t.name FROM team_audience s
               JOIN team_member m ON m.team = s.team JOIN team_team t ON t.id = s.team
              WHERE m.person = %s AND s.person <> %s"""
SHARED_BY = """SELECT s.family, s.grouping, t.name FROM team_audience s
                 JOIN team_team t ON t.id = s.team WHERE s.person = %s"""
UNCOUNT = "DELETE FROM team_counted WHERE person = %s AND key = %s"
COUNT = """INSERT INTO team_counted (person, key, source, day, data, team)
           VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (person, key, team)
           DO UPDATE SET source = EXCLUDED.source, day = EXCLUDED.day, data = EXCLUDED.data"""
COUNTED = """SELECT c.person, c.data FROM team_counted c JOIN team_team t ON t.id = c.team
              WHERE t.name = %s"""
NOTE = """INSERT INTO team_audit (at, id, reader, device, what, person, family, grouping, team)
          VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"""
LOG = f"""SELECT at, reader, device, what, person, family, grouping FROM team_audit
           WHERE person = %s OR team = ANY(%s) ORDER BY at DESC, id LIMIT {MOST}"""
