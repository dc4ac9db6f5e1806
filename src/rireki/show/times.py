"""Times as people read them: "3 h ago", a local date; the clock is always handed in."""

from __future__ import annotations

from datetime import datetime

from rireki.model.conversation import Conversation
from rireki.model.times import to_datetime
from rireki.show.catalogue import say

__all__ = ["ago", "clock", "day", "local_time", "moment", "span", "span_of"]


def moment(stamp: str | None) -> str:
    """A stored time as local date and minute, or a dash."""
    local = local_time(stamp)
    return local.strftime("%Y-%m-%d %H:%M") if local else "–"


def day(stamp: str | None) -> str:
    local = local_time(stamp)
    return local.strftime("%Y-%m-%d") if local else ""


def clock(stamp: str | None) -> str:
    local = local_time(stamp)
    return local.strftime("%H:%M") if local else ""


def span(first: str | None, last: str | None) -> str:
    """From when to when, the second date only where it is another."""
    if not first or not last or moment(first) == moment(last):
        return moment(last or first)
    end = clock(last) if day(first) == day(last) else moment(last)
    return f"{moment(first)} – {end}"


def span_of(conversation: Conversation) -> str:
    """From when to when it went on, or, where its source keeps no times, was seen."""
    told = span(conversation.started_at, conversation.updated_at)
    return f"seen {told}" if conversation.times_from == "rireki" else told


def ago(stamp: str | None, now: datetime) -> str:
    """How long ago, for the last week; before that (and for clocks that run ahead) the date."""
    local = local_time(stamp)
    if local is None:
        return "–"
    seconds = (now - local).total_seconds()
    if seconds < -60 or seconds >= 7 * 86400:
        return local.date().isoformat()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return say(f"{int(seconds // size)} {unit} ago")
    return say("just now")


def local_time(stamp: str | None) -> datetime | None:
    """A stored time in this machine's time zone."""
    found = to_datetime(stamp) if stamp else None
    try:
        return found.astimezone() if found else None
    except (OverflowError, ValueError, OSError):
        return None
