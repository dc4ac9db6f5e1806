"""Rows of all archives together that one reader may see. Knows nothing of what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from rireki.archive.base import Filter
from rireki.archive.postgres.connections import Connection, Connections
from rireki.archive.postgres.questions import stored, told
from rireki.archive.postgres.trouble import explained
from rireki.team import statements as sql
from rireki.team.tables import Row

__all__ = ["ListPlace", "Sight", "VisibleRows"]

#: Rows that are fetched at once.
PAGE = 140
#: Up to so many people are asked one by one for what each has newest; of more, nearly whatever is
#: newest of all may be seen.
FEW = 48
#: In the order of the list: equals by their id, and by whose they are.
BEHIND = """(coalesce(c.updated_at, '') < %(time)s OR coalesce(c.updated_at, '') = %(time)s
             AND (c.id, c.owner) > (%(id)s, %(last)s))"""
#: What a name may mean that is told; what is found of one name.
MEANT = 50


class Sight(NamedTuple):
    """Who reads, and to what he keeps."""

    reader: int
    #: By number, whoever he may see anything of; himself, where it is his own that he sees.
    people: Mapping[int, str]
    #: His own number, or 0 where he keeps to what is shared.
    own: int
    #: The number of the team to which he keeps, or 0.
    team: int = 0
    #: The numbers of the teams by which he sees what others share.
    teams: frozenset[int] = frozenset()

    def values(self) -> dict[str, Any]:
        return {
            "reader": self.reader,
            "own": self.own,
            "team": self.team,
            "people": list(self.people),
        }


class ListPlace(NamedTuple):
    """Where a conversation stands in a list."""

    at: str | None
    id: str
    owner: int


class VisibleRows:
    """For any thread."""

    def __init__(self, connections: Connections, sight: Sight) -> None:
        self._connections = connections
        self.sight = sight

    def ask(self, statement: str, **values: Any) -> list[Row]:
        with explained(self._connections.name), self._connections.borrow() as connection:
            return self._run(connection, statement, self.sight, values)

    def _run(
        self, connection: Connection, statement: str, sight: Sight, values: Mapping[str, Any]
    ) -> list[Row]:
        values = dict(zip(values, stored(values.values()), strict=True))
        asked = {**sight.values(), **values}
        return told(connection.execute(statement.encode(), asked, binary=True).fetchall())

    # ── lists ──

    def listed(self, wanted: Filter, after: ListPlace | None) -> Iterator[Row]:
        """Newest first, some at a time; behind a place."""
        left = wanted.limit
        while left is None or left > 0:
            size = PAGE if left is None else min(left, PAGE)
            rows = self._page(wanted, after, size)
            yield from rows
            if len(rows) < size:
                return
            left = None if left is None else left - size
            after = ListPlace(rows[-1][8], rows[-1][3], rows[-1][0])

    def _page(self, wanted: Filter, after: ListPlace | None, size: int) -> list[Row]:
        if after is None:
            return self._rows(wanted, (), {}, size)
        values = {"time": after.at or "", "id": after.id, "last": after.owner}
        if not after.at:
            return self._rows(wanted, ("c.updated_at IS NULL", BEHIND), values, size)
        # With a bound of its own an index says where to begin.
        rows = self._rows(wanted, ("c.updated_at <= %(time)s", BEHIND), values, size)
        if len(rows) < size:
            rows += self._rows(wanted, ("c.updated_at IS NULL",), {}, size - len(rows))
        return rows

    def _rows(
        self, wanted: Filter, more: Sequence[str], values: Mapping[str, Any], size: int
    ) -> list[Row]:
        tags = [msgspec.json.encode(tag).decode() for tag in wanted.tags]
        conditions, asked = sql.conditions_of(wanted, tags)
        said = "".join(f" AND {each}" for each in (*conditions, *more))
        asked |= {**values, "limit": size}
        sight = self.sight
        if len(sight.people) > FEW:
            return self.ask(sql.LISTED.format(among=sql.AMONG, conditions=said), **asked)
        return self._of_each(sql.LISTED.format(among=sql.OF_ONE, conditions=said), sight, asked)

    def _of_each(self, statement: str, sight: Sight, values: dict[str, Any]) -> list[Row]:
        """The newest of each, and the newest of these: an index has them in order."""
        with explained(self._connections.name), self._connections.borrow() as connection:
            lists = [
                self._run(connection, statement, sight, {**values, "person": person})
                for person in sight.people
            ]
        return list(islice(merge(*lists, key=_place), values["limit"]))

    # ── by name ──

    def chosen(self, ids: Sequence[str]) -> list[Row]:
        return self.ask(sql.CHOSEN, ids=list(ids)) if ids else []

    def owners(self, ids: Sequence[str]) -> dict[str, list[int]]:
        """Whose conversations of these ids can be seen; the reader's own first."""
        found: dict[str, list[int]] = {}
        for id, owner in self.ask(sql.OWNERS, ids=list(ids)) if ids else ():
            found.setdefault(id, []).append(owner)
        own = self.sight.own
        return {
            id: sorted(some, key=lambda each: (each != own, each)) for id, some in found.items()
        }

    def meant(self, name: str) -> list[tuple[str, int]]:
        """What has this name, else what has had it, else whose own id it is, else what begins so."""
        native = name.partition("/")[2] or name
        for statement, prefix, beyond in (
            (sql.ALIASED, name, name),
            (sql.NATIVE, native, f"{native}\1"),
            (sql.BEGINNING, name, name + sql.LAST),
            (sql.NATIVE, name, name + sql.LAST),
            (sql.ALIASED, name, name + sql.LAST),
        ):
            found = self.ask(statement, prefix=prefix, beyond=beyond, limit=MEANT)
            if found:
                return [(id, owner) for id, owner in found]
        return []

    def audience(self, person: int, family: str, grouping: str) -> list[str] | None:
        """The teams by which the reader may see a group of another one; None where he may not."""
        sight = self.sight
        if person not in sight.people:
            return None
        found = self.ask(sql.AUDIENCE, person=person, family=family, grouping=grouping)
        return [name for (name,) in found] if found or person == sight.own else None

    # ── headings ──

    def headings(self, finished: bool, since: str | None, beginning: str) -> Iterator[Row]:
        said, values = "", {}
        if since is not None:
            said, values = " AND c.updated_at >= %(since)s", {"since": since}
        if beginning:
            said += """ AND (c.id >= %(prefix)s AND c.id < %(beyond)s
                         OR c.native_id >= %(prefix)s AND c.native_id < %(beyond)s)"""
            values |= {"prefix": beginning, "beyond": beginning + sql.LAST}
        finishes = sql.FINISHED if finished else "true"
        statement = sql.HEADINGS.replace("{finished}", finishes).replace("{conditions}", said)
        owner = number = 0
        while True:
            rows = self.ask(statement, **values, owner=owner, number=number, limit=PAGE)
            yield from rows
            if len(rows) < PAGE:
                return
            owner, number = rows[-1][:2]

    def chosen_headings(self, finished: bool, ids: Sequence[str]) -> list[Row]:
        statement = sql.CHOSEN_HEADINGS.replace("{finished}", sql.FINISHED if finished else "true")
        return self.ask(statement, ids=list(ids)) if ids else []

    # ── of a page of rows ──

    def beside(self, statement: str, rows: Sequence[Row]) -> list[Row]:
        """What another table has of these rows, which begin with whose they are and their number."""
        if not rows:
            return []
        return self.ask(statement, owners=[r[0] for r in rows], numbers=[r[1] for r in rows])


def _place(row: Row) -> tuple[_Backwards, str, int]:
    return _Backwards(row[8] or ""), row[3], row[0]


class _Backwards(str):
    """A text that comes before what it is behind."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)
