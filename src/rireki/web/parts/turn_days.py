"""How many turns each day had, kept at hand: what changed since is all that is read again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from rireki.archive.base import Archive, Filter
from rireki.model.conversation import Conversation
from rireki.show.times import local_time

__all__ = ["TurnDays"]

#: So many changed conversations are looked up; of more, everything is read again.
MANY = 2000


class CountedMoment(NamedTuple):
    """When a turn began, and where: a fork has the turns of its parent with the same times."""

    source: str
    project: str | None
    at: str


class TurnDays:
    """Of one archive. May be asked from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget_all()

    def of(self, archive: Archive) -> dict[str, int]:
        """Turns by local day."""
        with self._lock:
            number = archive.number()
            if number != self._number:
                self._bring_up(archive, number)
            return {day: count for day, count in self._days.items() if count}

    def clear(self) -> None:
        """From now on it is asked of another archive."""
        with self._lock:
            self._forget_all()

    def _forget_all(self) -> None:
        self._number = -1
        self._moments: dict[str, list[tuple[CountedMoment, int]]] = {}
        self._held: Counter[CountedMoment] = Counter()
        self._days: Counter[str] = Counter()
        #: The local day of each hour, where days begin with an hour.
        self._hours: dict[str, str] = {}

    def _bring_up(self, archive: Archive, number: int) -> None:
        changes = archive.changes(self._number, number) if self._number >= 0 else None
        if changes is None or number < self._number or len(changes) > MANY:
            self._forget_all()
            fresh: Iterable[Conversation] = archive.conversations(Filter())
        else:
            ids = list(dict.fromkeys(change.conversation for change in changes))
            for id in ids:
                self._drop(id)
            fresh = archive.pick(ids).values()
        for about in fresh:
            self._add(about)
        self._number = number

    def _add(self, about: Conversation) -> None:
        if about.nature != "conversation":
            return
        moments = [(CountedMoment(about.source, about.project, at), 1) for at in about.turns_at]
        undated = about.turns - len(about.turns_at)
        if undated > 0 and about.updated_at:
            at = f"{about.updated_at} {about.id}"
            moments.append((CountedMoment(about.source, about.project, at), undated))
        self._moments[about.id] = moments
        for moment, turns in moments:
            self._held[moment] += 1
            if self._held[moment] == 1:
                self._days[self._day(moment.at)] += turns

    def _drop(self, id: str) -> None:
        for moment, turns in self._moments.pop(id, ()):
            self._held[moment] -= 1
            if not self._held[moment]:
                del self._held[moment]
                self._days[self._day(moment.at)] -= turns

    def _day(self, at: str) -> str:
        hour = at[:13]
        if hour in self._hours:
            return self._hours[hour]
        local = local_time(at.partition(" ")[0])
        day = local.date().isoformat() if local else ""
        if local and at[14:16] == f"{local.minute:02}":
            self._hours[hour] = day
        return day
