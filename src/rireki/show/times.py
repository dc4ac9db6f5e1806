"""Times as people say them: "3 h ago", "7d", a local date; the clock is always handed in."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, timezone

from rireki.errors import RirekiError
from rireki.model.times import to_datetime

__all__ = ["ago", "clock", "day", "moment", "span", "when"]

_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def when(text: str, now: datetime, end_of_day: bool = False) -> str:
    """What a person typed (`7d`, `yesterday`, `2026-11-15`, `2026-11-15T18:00`) in our spelling.

    A time without zone is a local one. A date is its first moment, or its last with `end_of_day`.
    """
    found = _moment_of(text.strip(), now, end_of_day)
    if found is None:
        raise RirekiError(
            f"cannot read the time {text!r}",
            "Say 3h, 7d, 2w, yesterday, 2026-11-15 or 2026-11-15T18:30.",
        )
    spelled = found.astimezone(timezone.utc)
    return spelled.strftime("%Y-%m-%dT%H:%M:%S.") + f"{spelled.microsecond // 1000:03d}Z"


def _moment_of(text: str, now: datetime, end_of_day: bool) -> datetime | None:
    try:
        if age := _AGE.fullmatch(text):
            return now - timedelta(**{_UNITS[age[2].lower()]: int(age[1])})
        if text.lower() == "now":
            return now
        named = {"today": 0, "yesterday": 1}.get(text.lower())
        if named is not None:
            text = (now.astimezone() - timedelta(days=named)).date().isoformat()
        if _DATE.fullmatch(text):
            hour = time.max if end_of_day else time.min
            return datetime.combine(datetime.fromisoformat(text), hour).astimezone()
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return None


def moment(stamp: str | None) -> str:
    """A stored time as local date and minute, or a dash."""
    local = _local(stamp)
    return local.strftime("%Y-%m-%d %H:%M") if local else "–"


def day(stamp: str | None) -> str:
    local = _local(stamp)
    return local.strftime("%Y-%m-%d") if local else ""


def clock(stamp: str | None) -> str:
    local = _local(stamp)
    return local.strftime("%H:%M") if local else ""


def span(first: str | None, last: str | None) -> str:
    """From when to when, the second date only where it is another."""
    if not first or not last or moment(first) == moment(last):
        return moment(last or first)
    end = clock(last) if day(first) == day(last) else moment(last)
    return f"{moment(first)} – {end}"


def ago(stamp: str | None, now: datetime) -> str:
    """How long ago, for the last week; before that (and for clocks that run ahead) the date."""
    local = _local(stamp)
    if local is None:
        return "–"
    seconds = (now - local).total_seconds()
    if seconds < -60 or seconds >= 7 * 86400:
        return local.date().isoformat()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def _local(stamp: str | None) -> datetime | None:
    found = to_datetime(stamp) if stamp else None
    try:
        return found.astimezone() if found else None
    except (OverflowError, ValueError, OSError):
        return None
