"""Times as a page tells them: in the reader's language, in this machine's time zone."""

from __future__ import annotations

from datetime import datetime

from rireki.show.times import local_time

__all__ = [
    "ago",
    "clock",
    "date_of",
    "day",
    "lasted",
    "moment",
    "months",
    "period",
    "second",
    "span",
    "weekdays",
]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "ja": ("月", "火", "水", "木", "金", "土", "日"),
}


def moment(locale: str, stamp: str | None) -> str:
    """Date and minute, or a dash."""
    local = local_time(stamp)
    return f"{_date(locale, local)} {local:%H:%M}" if local else "–"


def second(locale: str, stamp: str | None) -> str:
    """Date and second: what follows each other closely is told apart."""
    local = local_time(stamp)
    return f"{_date(locale, local)} {local:%H:%M:%S}" if local else "–"


def clock(stamp: str | None) -> str:
    local = local_time(stamp)
    return f"{local:%H:%M}" if local else "–"


def span(locale: str, first: str | None, last: str | None) -> str:
    """From when to when; the second date only where it is another."""
    start, end = moment(locale, first or last), moment(locale, last or first)
    if start == end:
        return end
    return f"{start} – {clock(last) if date_of(first) == date_of(last) else end}"


def ago(locale: str, stamp: str | None, now: datetime) -> str:
    """How long ago, for the last week; before that the date."""
    local = local_time(stamp)
    if local is None:
        return "–"
    seconds = (now - local).total_seconds()
    if seconds < -60 or seconds >= 7 * 86400:
        return _date(locale, local)
    for size, english, japanese in (
        (86400, "d", "日前"),
        (3600, "h", "時間前"),
        (60, "min", "分前"),
    ):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number}{japanese}" if locale == "ja" else f"{number} {english} ago"
    return "たった今" if locale == "ja" else "just now"


#: Seconds of a unit, and from how many seconds on a time is told in it.
_SPANS = ((86400, 2 * 86400, "d", "日"), (3600, 2 * 3600, "h", "時間"), (60, 60, "min", "分"))


def lasted(locale: str, seconds: float) -> str:
    """How long something took, in one unit; empty for less than a minute."""
    for size, least, english, japanese in _SPANS:
        if seconds >= least:
            number = int(seconds // size)
            return f"{number}{japanese}" if locale == "ja" else f"{number} {english}"
    return ""


def date_of(stamp: str | None) -> str:
    """The local day as 2026-11-16; empty for no time."""
    local = local_time(stamp)
    return local.date().isoformat() if local else ""


def day(locale: str, date: str, now: datetime) -> str:
    """A day as the heading of what happened on it."""
    if not date:
        return "日時不明" if locale == "ja" else "No date"
    local = datetime.fromisoformat(date)
    today = now.astimezone().date()
    distance = (today - local.date()).days
    if distance in (0, 1):
        names = ("今日", "昨日") if locale == "ja" else ("Today", "Yesterday")
        return names[distance]
    weekday = _DAYS[locale][local.weekday()]
    if locale == "ja":
        year = "" if local.year == today.year else f"{local.year}年"
        return f"{year}{local.month}月{local.day}日（{weekday}）"
    year = "" if local.year == today.year else f" {local.year}"
    return f"{weekday}, {local.day} {_MONTHS[local.month - 1]}{year}"


def _date(locale: str, local: datetime) -> str:
    if locale == "ja":
        return f"{local.year}年{local.month}月{local.day}日"
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}"


def period(locale: str, step: str, name: str) -> str:
    """A day, a week by its Monday, or a month, in few letters: `16 Nov`, `Nov 2026`."""
    if not name:
        return "不明" if locale == "ja" else "unknown"
    year, month, *rest = name.split("-")
    if step == "month":
        return f"{year}/{int(month)}" if locale == "ja" else f"{_MONTHS[int(month) - 1]} {year}"
    number = int(rest[0])
    if locale == "ja":
        return f"{int(month)}月{number}日"
    return f"{number} {_MONTHS[int(month) - 1]}"


def weekdays(locale: str) -> list[str]:
    """Monday first, in as few letters as can be."""
    return [name if locale == "ja" else name[:3] for name in _DAYS[locale]]


def months(locale: str) -> list[str]:
    """January first, in as few letters as can be."""
    return [f"{number + 1}月" if locale == "ja" else name for number, name in enumerate(_MONTHS)]
