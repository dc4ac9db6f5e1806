"""A year of days as squares, a column per week. What is counted on a day is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

__all__ = ["CELL", "Calendar", "Day", "MonthName", "calendar"]

#: Weeks of the calendar.
WEEKS = 53
#: Steps of colour, the empty day not counted.
STEPS = 4
#: From one square to the next, and how large one is.
CELL, SQUARE = 14, 11
#: Room for the names of weekdays at the left, and of months above.
LEFT, TOP = 34, 18
#: Weeks that the name of a month needs.
NAME = 3


class Day(NamedTuple):
    """A square of the calendar."""

    date: str
    number: int
    level: int
    week: int
    weekday: int

    @property
    def x(self) -> int:
        return LEFT + self.week * CELL

    @property
    def y(self) -> int:
        return TOP + self.weekday * CELL


class MonthName(NamedTuple):
    """Where a month begins."""

    month: int
    x: int


class Calendar(NamedTuple):
    days: list[Day]
    months: list[MonthName]
    width: int = LEFT + WEEKS * CELL
    height: int = TOP + 7 * CELL

    @property
    def total(self) -> int:
        return sum(day.number for day in self.days)

    @property
    def busy(self) -> int:
        """Days on which there was something."""
        return sum(day.number > 0 for day in self.days)


def calendar(counts: Mapping[str, int], today: date) -> Calendar:
    """A square per day, the last week at the end; a day's colour is its share of the busiest."""
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    dates = [first + timedelta(days=offset) for offset in range((today - first).days + 1)]
    names = [day.isoformat() for day in dates]
    most = max((counts.get(name, 0) for name in names), default=0) or 1
    days = []
    for offset, name in enumerate(names):
        count = counts.get(name, 0)
        level = min(1 + STEPS * (count - 1) // most, STEPS) if count else 0
        days.append(Day(name, count, level, offset // 7, offset % 7))
    return Calendar(days, _months(dates))


def _months(dates: list[date]) -> list[MonthName]:
    """Above the week in which each begins, where its name has room."""
    found: list[MonthName] = []
    for offset, day in enumerate(dates):
        if offset == 0 or day.day == 1:
            x = LEFT + offset // 7 * CELL
            if found and x - found[-1].x < NAME * CELL:
                # Of a month that was nearly over only a few days are there.
                found.pop()
            found.append(MonthName(day.month, x))
    return found
