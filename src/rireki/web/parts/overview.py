"""What the first page tells at a glance: this week beside the week before, and a year of days."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import NamedTuple

from rireki.archive.base import Archive, ArchiveTally
from rireki.model.prices import Prices
from rireki.model.when import when
from rireki.show.usage import collect, summed
from rireki.web.parts.calendar import Calendar, calendar
from rireki.web.parts.turn_days import TurnDays

__all__ = ["Overview", "WeekFigure", "overview"]

WEEK = 7


class WeekFigure(NamedTuple):
    """One number of the last seven days, and of the seven before."""

    name: str
    now: float
    before: float
    #: Whether there was more than that.
    least: bool = False

    @property
    def change(self) -> float | None:
        """As a share of the week before; None where that had nothing."""
        return (self.now - self.before) / self.before if self.before else None


class Overview(NamedTuple):
    figures: list[WeekFigure]
    calendar: Calendar


def overview(archive: Archive, days: TurnDays, prices: Prices | None, today: date) -> Overview:
    """No cost without prices, nor where the sums are kept at hand: those are of no model."""
    tally = archive.tally()
    if tally is not None:
        return _tallied(tally, today)
    begin, middle = (_midnight(today - timedelta(days=back * WEEK - 1)) for back in (2, 1))
    now = summed(collect(archive, prices, since=middle))
    before = summed(collect(archive, prices, since=begin, before=middle))
    figures = [
        WeekFigure("conversations", len(now.conversations), len(before.conversations)),
        WeekFigure("turns", now.turns, before.turns),
        WeekFigure("tokens", now.tokens, before.tokens, now.lower_bound),
    ]
    if prices is not None:
        figures.append(WeekFigure("cost", now.cost, before.cost, bool(now.unpriced)))
    return Overview(figures, calendar(days.of(archive), today))


def _tallied(tally: ArchiveTally, today: date) -> Overview:
    names = [(today - timedelta(days=back)).isoformat() for back in range(2 * WEEK)]
    turns = [sum(tally.days.get(name, 0) for name in some) for some in (names[:WEEK], names[WEEK:])]
    (conversations, tokens), (conversations_before, tokens_before) = tally.weeks
    figures = [
        WeekFigure("conversations", conversations, conversations_before),
        WeekFigure("turns", turns[0], turns[1]),
        WeekFigure("tokens", tokens, tokens_before),
    ]
    return Overview(figures, calendar(tally.days, today))


def _midnight(day: date) -> str | None:
    return when(day.isoformat(), datetime.now(timezone.utc))
