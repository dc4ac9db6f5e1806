"""Questions about the conversations of many people at once, each with the teams that may read it.

They are asked for what is in the indexes alone: what somebody may see is decided by whoever asks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from rireki.archive.base import Heading, PendingGroup
from rireki.archive.curation import curation_of
from rireki.archive.postgres.questions import stored, told
from rireki.model.conversation import Curation
from rireki.team.shelf_name import GroupOfOwner, ShelfName
from rireki.team.tables import Row, TeamTables

__all__ = ["OwnedHeading", "ShelfRows"]

_LAST = chr(0x10FFFF)


class OwnedHeading(NamedTuple):
    """A conversation with the name it has in an index."""

    name: ShelfName
    heading: Heading


class ShelfRows:
    def __init__(self, tables: TeamTables, *, finished: bool = False) -> None:
        """`finished`: headings tell whether the conversation is."""
        self.tables = tables
        self._finished = FINISHED if finished else "true"

    def _ask(self, question: str, *values: Any) -> list[Row]:
        return told(self.tables.ask(question, *stored(values)))

    # ── how far everything is ──

    def numbers(self, person: int = 0) -> dict[int, int]:
        """Up to which number everybody's archive is, or one person's."""
        return dict(self._ask(NUMBER, person) if person else self._ask(NUMBERS))

    def changed(self, after: Mapping[int, int], most: int | None = None) -> list[tuple[int, str]]:
        """The conversations that were read anew, or went, after a number of their owner's."""
        if not after:
            return []
        found = self._ask(CHANGED, *_columns(after.items()), most)
        return [(owner, id) for owner, id in found]

    def went(self, owner: int, after: int) -> bool:
        """Whether something went from an archive after a number."""
        return bool(self._ask(WENT, owner, after))

    def audience(self, owner: int) -> dict[tuple[str, str], tuple[int, ...]]:
        """The teams that may read each group of an owner."""
        found: dict[tuple[str, str], tuple[int, ...]] = {}
        for family, grouping, team in self._ask(AUDIENCE, owner):
            found[family, grouping] = (*found.get((family, grouping), ()), team)
        return found

    def teams(self, owner: int, family: str, grouping: str) -> tuple[int, ...]:
        """The teams that may read a group."""
        return tuple(team for (team,) in self._ask(TEAMS, owner, family, grouping))

    def pending(
        self, person: int, teams: Collection[int], most: int
    ) -> list[tuple[PendingGroup, tuple[int, ...]]]:
        """Groups that wait to be interpreted, of a person or shared with teams, each with its teams."""
        return [
            (_group(owner, family, grouping, number), tuple(teams))
            for owner, family, grouping, number, teams in self._ask(
                PENDING, person, list(teams), most
            )
        ]

    # ── conversations ──

    def headings(self, chosen: Collection[tuple[int, str]]) -> list[OwnedHeading]:
        """These conversations, by owner and id, as far as they are there."""
        return self._headings(CHOSEN, *_columns(chosen)) if chosen else []

    def headings_in(self, groups: Collection[tuple[int, str, str]]) -> list[OwnedHeading]:
        """The conversations of these groups: owner, family, grouping."""
        return self._headings(GROUPED, *_columns(groups, 3)) if groups else []

    def beginning(self, owners: Collection[int], prefix: str) -> list[OwnedHeading]:
        """Those whose id, or the agent's own, begins so."""
        between = (prefix, prefix + _LAST)
        return self._headings(BEGINNING, list(owners), *between, *between)

    def curated(self, owners: Collection[int]) -> list[OwnedHeading]:
        """Those to which people added something."""
        return self._headings(CURATED, list(owners))

    def _headings(self, condition: str, *values: Any) -> list[OwnedHeading]:
        rows = self._ask(HEADINGS.format(chosen=condition, finished=self._finished), *values)
        return [_heading(*row) for row in rows]


def _columns(rows: Iterable[tuple[Any, ...]], width: int = 2) -> list[list[Any]]:
    """A list per column: PostgreSQL makes rows of them again."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    return columns or [[] for _ in range(width)]


def _group(owner: int, family: str, grouping: str, number: int) -> PendingGroup:
    return PendingGroup(str(GroupOfOwner(owner, family)), grouping, number)


def _heading(owner: int, *row: Any) -> OwnedHeading:
    (
        id,
        family,
        grouping,
        source,
        nature,
        project,
        title,
        updated_at,
        changed,
        finished,
        *curated,
    ) = row
    name = ShelfName(owner, id, tuple(curated.pop()))
    heading = Heading(
        str(name),
        str(GroupOfOwner(owner, family)),
        grouping,
        *(source, nature, project, title, updated_at, changed, finished),
        added=Curation() if curated[1] is None else curation_of(curated),
    )
    return OwnedHeading(name, heading)


FINISHED = "c.nature = 'prompts' OR coalesce(c.data::json ->> 'finished' = 'true', false)"
_TEAMS = """ARRAY(SELECT a.team FROM team_audience a
                   WHERE a.person = {0}.owner AND a.family = {0}.family
                     AND a.grouping = {0}.{1} ORDER BY a.team)"""
HEADINGS = f"""
    SELECT c.owner, c.id, c.family, c.grouping, c.source, c.nature, c.project, c.title,
           c.updated_at, c.changed, {{finished}}, k.title, k.tags, k.starred, k.hidden, k.notes,
           {_TEAMS.format("c", "grouping")}
      FROM {{chosen}}
      LEFT JOIN curation k ON k.owner = c.owner AND k.conversation = c.number
"""
CHOSEN = """unnest(%s::bigint[], %s::text[]) AS w (owner, id)
      JOIN conversation c ON c.owner = w.owner AND c.id = w.id"""
GROUPED = """unnest(%s::bigint[], %s::text[], %s::text[]) AS w (owner, family, grouping)
      JOIN conversation c
        ON c.owner = w.owner AND c.family = w.family AND c.grouping = w.grouping"""
BEGINNING = """(SELECT * FROM conversation b WHERE b.owner = ANY(%s::bigint[])
         AND (b.id >= %s AND b.id < %s OR b.native_id >= %s AND b.native_id < %s)) c"""
CURATED = """(SELECT o.* FROM curation m
         JOIN conversation o ON o.owner = m.owner AND o.number = m.conversation
        WHERE m.owner = ANY(%s::bigint[])) c"""
NUMBERS = "SELECT owner, number FROM counter WHERE owner > 0"
NUMBER = "SELECT owner, number FROM counter WHERE owner = %s"
CHANGED = """
    SELECT DISTINCT h.owner, h.conversation
      FROM unnest(%s::bigint[], %s::bigint[]) AS w (owner, number)
      JOIN change h ON h.owner = w.owner AND h.number > w.number
     LIMIT %s
"""
WENT = "SELECT 1 FROM change WHERE owner = %s AND number > %s AND reached = 0 LIMIT 1"
AUDIENCE = """SELECT family, grouping, team FROM team_audience WHERE person = %s
               ORDER BY family, grouping, team"""
TEAMS = """SELECT team FROM team_audience WHERE person = %s AND family = %s AND grouping = %s
            ORDER BY team"""
PENDING = f"""
    SELECT d.owner, d.family, d.conversation, d.number, {_TEAMS.format("d", "conversation")}
      FROM dirty d
     WHERE d.owner = %s OR EXISTS (
           SELECT 1 FROM team_audience m
            WHERE m.person = d.owner AND m.family = d.family AND m.grouping = d.conversation
              AND m.team = ANY(%s::bigint[]))
     ORDER BY d.owner, d.family, d.conversation LIMIT %s
"""
