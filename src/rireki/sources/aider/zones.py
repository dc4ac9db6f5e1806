"""Aider writes local times without a zone. What the zone was is noted when they are read, with the cursor."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from rireki.model.times import from_iso
from rireki.sources.reader import Known, Roll, Update

__all__ = ["as_utc", "with_zones"]

_TIME = re.compile(rb"# (?:aider chat started at )?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_ZONES = "zones"
#: From which local time on, how many seconds the clock was ahead of UTC.
Zones = Sequence[tuple[str, int]]


def with_zones(updates: Iterable[Update | Roll], known: Known) -> Iterator[Update | Roll]:
    """What was read, with the zones of the times in it: this machine's, at those times."""
    zones = _zones(known.cursors.get(""))
    for update in updates:
        if isinstance(update, Update):
            pieces = [piece for content in update.contents for piece in content.pieces]
            for found in filter(None, (_TIME.match(piece.data) for piece in pieces)):
                time = found[1].decode()
                ahead = _ahead(time)
                if ahead is not None and (not zones or _at(zones, time) != ahead):
                    insort(zones, (time, ahead))
            update.cursor = {**update.cursor, _ZONES: [list(one) for one in zones]}
        yield update


def as_utc(time: str, cursor: Any) -> str | None:
    """A time of Aider's in our spelling; where no zone was noted, it is taken as UTC."""
    zones = _zones(cursor)
    try:
        local = datetime.fromisoformat(time)
        moment = local - timedelta(seconds=_at(zones, time[:19]) if zones else 0)
    except (ValueError, OverflowError):
        return None
    return from_iso(moment.isoformat())


def _at(zones: Zones, time: str) -> int:
    return zones[max(0, bisect_right(zones, time, key=lambda one: one[0]) - 1)][1]


def _ahead(time: str) -> int | None:
    try:
        ahead = datetime.fromisoformat(time).astimezone().utcoffset()
    except (ValueError, OverflowError, OSError):
        return None
    return round(ahead.total_seconds()) if ahead else 0


def _zones(cursor: Any) -> list[tuple[str, int]]:
    noted = cursor.get(_ZONES) if isinstance(cursor, dict) else None
    pairs = [one for one in noted or () if isinstance(one, list | tuple) and len(one) == 2]
    return [(str(time), ahead) for time, ahead in pairs if isinstance(ahead, int)]
