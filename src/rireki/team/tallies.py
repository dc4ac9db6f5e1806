"""What all archives come to, by whom it may be seen: counted in one go, now and then, and kept at hand.

A large team's take seconds to count, which no page waits for: so they are a little older than the
lists. What is taken back is in none from that moment on: until they were counted again there are none.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone

import msgspec

from rireki.archive.base import ArchiveTally, ArchiveTallyCell
from rireki.archive.postgres.connections import Connections
from rireki.archive.postgres.questions import told
from rireki.archive.postgres.trouble import explained
from rireki.errors import RirekiError
from rireki.team.statements import CELLS, DAYS, EVERYBODY, ONE, WEEKS
from rireki.team.tables import Row, TeamTables
from rireki.team.visible import Sight

__all__ = ["Tallies"]

#: Days that are told one by one, and of a week.
YEAR, WEEK = 7 * 53, 7
#: Projects that are told apart, of what is shared alike.
PROJECTS = 300
#: For how long they count as new at least, in seconds, and as a multiple of what counting took.
NEW, TIMES = 1.0, 20
#: How long the first page waits for the first ones.
PATIENCE = 0.5


class _Counted(msgspec.Struct, kw_only=True):
    """By the teams something is shared with, as one text, or by whose it is where it is with none."""

    at: float
    took: float
    #: How often something had been taken back.
    withdrawn: int
    cells: dict[str, list[ArchiveTallyCell]]
    #: How many projects are not told apart there.
    others: dict[str, int]
    days: dict[str, dict[str, int]]
    #: Conversations and tokens of the last seven days, and of the seven before.
    weeks: dict[str, list[tuple[int, int]]]

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.at > max(NEW, TIMES * self.took)


class Tallies:
    """For any thread."""

    def __init__(self, tables: TeamTables, connections: Connections) -> None:
        self._tables = tables
        self._connections = connections
        self._counted: _Counted | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def of(self, sight: Sight) -> ArchiveTally:
        """What somebody may see comes to; nothing while that is not known."""
        if len(sight.people) == 1:
            # Of one person that is soon done.
            return _summed(self._make(time.monotonic(), next(iter(sight.people))), sight)
        ((withdrawn,),) = self._tables.ask(WITHDRAWN)
        counted = self._newest(withdrawn)
        known = counted is not None and counted.withdrawn == withdrawn
        return _summed(counted, sight) if counted and known else ArchiveTally()

    def _newest(self, withdrawn: int) -> _Counted | None:
        counted = self._counted
        if counted is None or counted.withdrawn != withdrawn or counted.is_old:
            thread = self.count_again()
            if counted is None or counted.took < PATIENCE:
                thread.join(PATIENCE)
        return self._counted

    def count_again(self) -> threading.Thread:
        """In the background; one at a time."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._count, name="tallies", daemon=True)
                self._thread.start()
            return self._thread

    def _count(self) -> None:
        begun = time.monotonic()
        try:
            self._counted = self._make(begun)
        except RirekiError:
            # While the database is away there are those of before.
            return

    def _make(self, begun: float, person: int = 0) -> _Counted:
        """Of everybody, or of one."""
        ((withdrawn,),) = self._tables.ask(WITHDRAWN)
        names, starts = _starts()
        found: dict[str, list[ArchiveTallyCell]] = defaultdict(list)
        for key, *values in self._ask(CELLS, person):
            found[key].append(ArchiveTallyCell(*values))
        cells, others = {}, {}
        for key, some in found.items():
            cells[key], others[key] = _newest_projects(some)
        days: dict[str, dict[str, int]] = defaultdict(dict)
        for key, bucket, turns in self._ask(DAYS, person, starts=starts):
            if 0 < bucket <= len(names):
                days[key][names[bucket - 1]] = int(turns)
        weeks: dict[str, list[tuple[int, int]]] = defaultdict(lambda: [(0, 0), (0, 0)])
        begin, middle = starts[-2 * WEEK], starts[-WEEK]
        for key, is_now, conversations, tokens in self._ask(
            WEEKS, person, begin=begin, middle=middle
        ):
            weeks[key][0 if is_now else 1] = (int(conversations), int(tokens))
        took = time.monotonic() - begun
        return _Counted(
            at=time.monotonic(),
            took=took,
            withdrawn=withdrawn,
            cells=cells,
            others=others,
            days=dict(days),
            weeks=dict(weeks),
        )

    def _ask(self, statement: str, person: int, **values: object) -> Iterable[Row]:
        asked = statement.format(**(ONE if person else EVERYBODY))
        values["person"] = person
        with explained(self._connections.name), self._connections.borrow() as connection:
            return told(connection.execute(asked.encode(), values).fetchall())


def _summed(counted: _Counted, sight: Sight) -> ArchiveTally:
    """What is the reader's of it."""
    keys = [key for key in counted.cells if _is_seen(key, sight)]
    days: dict[str, int] = defaultdict(int)
    weeks = [[0, 0], [0, 0]]
    for key in keys:
        for day, turns in counted.days.get(key, {}).items():
            days[day] += turns
        for place, sums in enumerate(counted.weeks.get(key, ())):
            weeks[place] = [a + b for a, b in zip(weeks[place], sums, strict=True)]
    cells = [cell for key in keys for cell in counted.cells[key]]
    others = sum(counted.others.get(key, 0) for key in keys)
    return ArchiveTally(cells, dict(days), [(c, t) for c, t in weeks], others=others)


def _newest_projects(cells: list[ArchiveTallyCell]) -> tuple[list[ArchiveTallyCell], int]:
    """With all but the newest projects as one; and how many those are."""
    cells.sort(key=lambda cell: cell.newest or "", reverse=True)
    projects = list(dict.fromkeys(cell.project for cell in cells if cell.project))
    kept, rest = set(projects[:PROJECTS]), len(projects[PROJECTS:])
    told: dict[tuple[object, ...], ArchiveTallyCell] = {}
    for cell in cells:
        project = cell.project if cell.project in kept else None
        name = (project, cell.source, cell.aside, cell.finished)
        before = told.get(name)
        number = cell.number + (before.number if before else 0)
        newest = before.newest if before else cell.newest
        told[name] = cell._replace(project=project, number=number, newest=newest)
    return list(told.values()), rest


def _is_seen(key: str, sight: Sight) -> bool:
    if key.startswith("#"):
        return key == f"#{sight.own}"
    return not sight.teams.isdisjoint(map(int, key.split(",")))


def _starts() -> tuple[Sequence[str], Sequence[str]]:
    """The days of a year until now, and when each began, as times are stored; here, where it counts."""
    today = datetime.now(timezone.utc).astimezone().date()
    days = [today - timedelta(days=back) for back in range(YEAR - 1, -1, -1)]
    moments = [datetime(day.year, day.month, day.day).astimezone(timezone.utc) for day in days]
    return [day.isoformat() for day in days], [f"{m:%Y-%m-%dT%H:%M:%S}.000Z" for m in moments]


WITHDRAWN = "SELECT coalesce(max(value), 0) FROM team_counter WHERE name = 'withdrawn'"
