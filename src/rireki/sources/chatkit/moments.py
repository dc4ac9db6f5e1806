"""When rows were written, and so in which order they stand.

ChatKit writes the local time of its server without an offset; other stores write
offsets, or numbers. A time without offset is taken as local here, once, when the
row is first read: what is kept then says which moment was meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from rireki.sources.kit.tables import TableRow, Value

__all__ = ["Dated", "in_order", "spelled"]

#: From here on a number counts milliseconds, not seconds.
_MILLISECONDS = 100_000_000_000


class Dated(NamedTuple):
    row: TableRow
    moment: datetime | None
    #: The row says a time of day, but not where.
    is_local: bool


def in_order(rows: Sequence[TableRow], times: Sequence[Value]) -> list[Dated]:
    """The rows by their moments, then as they arrived; one without a moment follows its elder."""
    dated: list[Dated] = []
    keys: list[datetime] = []
    last = datetime.min.replace(tzinfo=timezone.utc)
    for row, time in zip(rows, times, strict=True):
        read = _read(time)
        is_local = read is not None and read.tzinfo is None
        moment = _settled(read, last) if read else None
        last = moment or last
        dated.append(Dated(row, moment, is_local))
        keys.append(last)
    return [dated[place] for place in sorted(range(len(dated)), key=keys.__getitem__)]


def spelled(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _read(time: Value) -> datetime | None:
    try:
        if isinstance(time, str):
            return datetime.fromisoformat(time)
        if isinstance(time, int | float):
            seconds = time / 1000 if abs(time) >= _MILLISECONDS else time
            return datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _settled(time: datetime, last: datetime) -> datetime | None:
    """The moment meant. In the hour that clocks go through twice, arrival decides which one."""
    try:
        moment = time.astimezone(timezone.utc)
        if time.tzinfo is None and moment < last:
            return max(moment, time.replace(fold=1).astimezone(timezone.utc))
    except (ValueError, OverflowError, OSError):
        return None
    return moment
