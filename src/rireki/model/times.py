"""Times as one spelling: ISO 8601 in UTC with milliseconds and a Z, so that text sorts as time."""

from __future__ import annotations

from datetime import datetime, timezone

__all__ = ["from_iso", "from_ms", "from_unix", "to_datetime"]


def from_ms(milliseconds: float) -> str | None:
    """Unix milliseconds → `2026-11-15T18:29:46.542Z`; None when out of range."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    except (OverflowError, OSError, ValueError):
        return None
    return _spell(moment)


def from_unix(number: object) -> str | None:
    """Unix seconds or milliseconds, told apart by their size; None for anything else."""
    if isinstance(number, bool) or not isinstance(number, int | float) or number <= 0:
        return None
    return from_ms(number if number > 1e11 else number * 1000)


def from_iso(text: object) -> str | None:
    """Any ISO 8601 time → our spelling; a time without offset is taken as UTC; None when it is none."""
    if not isinstance(text, str) or not text:
        return None
    if len(text) == 24 and text[-1] == "Z" and text[10] == "T" and text[19] == ".":
        return text
    moment = to_datetime(text)
    return _spell(moment) if moment else None


def to_datetime(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).astimezone(
            timezone.utc
        )
    except (OverflowError, ValueError):
        return None


def _spell(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
