"""Times as people type them: `7d`, `yesterday`, a local date; the clock is always handed in."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone

from rireki.errors import RirekiError

__all__ = ["when"]

_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
#: Not compiled here: every list would pay for it, and few name a time.
_AGE = r"(\d{1,6})\s*(m|min|h|d|w)"
_DATE = r"\d{4}-\d{2}-\d{2}"
_PERIOD = r"(\d{4})(?:-(\d{2}))?"


def when(text: str, now: datetime, end_of_day: bool = False) -> str:
    """What a person typed (`7d`, `yesterday`, `2026-11-15`, `2026-11-15T18:00`) in our spelling.

    A time without zone is a local one. A date, a month or a year is its first moment, or its last
    with `end_of_day`.
    """
    found = _moment_of(text.strip(), now, end_of_day)
    if found is None:
        raise RirekiError("bad-time", value=text)
    spelled = found.astimezone(timezone.utc).replace(tzinfo=None)
    # Not strftime: it writes the year 26 with two digits, and text must sort as time.
    return spelled.isoformat(timespec="milliseconds") + "Z"


def _moment_of(text: str, now: datetime, end_of_day: bool) -> datetime | None:
    try:
        if age := re.fullmatch(_AGE, text, re.IGNORECASE):
            return now - timedelta(**{_UNITS[age[2].lower()]: int(age[1])})
        if text.lower() == "now":
            return now
        named = {"today": 0, "yesterday": 1}.get(text.lower())
        if named is not None:
            text = (now.astimezone() - timedelta(days=named)).date().isoformat()
        if period := re.fullmatch(_PERIOD, text):
            text = _day_of(int(period[1]), int(period[2] or 0), end_of_day)
        if re.fullmatch(_DATE, text):
            hour = time.max if end_of_day else time.min
            return datetime.combine(datetime.fromisoformat(text), hour).astimezone()
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return None


def _day_of(year: int, month: int, last: bool) -> str:
    """The first or last day of a month, or of a year if that is all there is."""
    if not last:
        return date(year, month or 1, 1).isoformat()
    month = month or 12
    following = date(year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).isoformat()
