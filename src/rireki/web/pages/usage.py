"""`/usage`: tokens, money and turns over time, as charts that the server draws."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from functools import partial
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import NotFound
from rireki.model.conversation import Conversation
from rireki.model.prices import Prices
from rireki.model.when import when
from rireki.show.money import dollars, prices, shows_money
from rireki.show.usage import Total, Used, collect, grouped, namer, of_source, period_of, summed
from rireki.web.locale import dates, numbers
from rireki.web.locale.words import locale_of, say
from rireki.web.parts.charts import OTHERS, Curve, curve, stacked
from rireki.web.parts.frame import archive_reader_of, number_of, page, told

__all__ = ["SPANS", "UNITS", "WORDS", "show_usage"]

#: The periods to choose from: since when, in days, and by what their charts tell them at first.
PERIODS: dict[str, tuple[int | None, str]] = {
    "7d": (7, "day"),
    "30d": (30, "day"),
    "90d": (90, "week"),
    "1y": (365, "month"),
    "all": (None, "month"),
}
STEPS = ("day", "week", "month")
SPLITS = ("model", "project", "source")
MEASURES = ("tokens", "cost")
#: What the choices are called, and what providers count besides tokens.
WORDS = {
    "7d": "7 days",
    "30d": "30 days",
    "90d": "90 days",
    "1y": "12 months",
    "all": "Everything",
    "day": "Day",
    "week": "Week",
    "month": "Month",
    "model": "Model",
    "project": "Project",
    "source": "Source",
    "tokens": "Tokens",
    "cost": "Cost",
}
UNITS = {"credit": "credits", "premium request": "premium requests"}
#: Minutes, and what so many of them are told in.
SPANS = ((1440, "{n} days"), (60, "{n} hours"), (1, "{n} minutes"))
#: Rows of a list, columns of a chart.
MOST, COLUMNS = 8, 400
#: Steps of colour of the hours.
LEVELS = 4


class UsageChoice(NamedTuple):
    """What the address asks for; what it says that there is not counts for nothing."""

    period: str
    step: str
    split: str
    measure: str
    source: str | None
    conversation: str | None


class Row(NamedTuple):
    """A conversation with all that was used for it, its sub-agents' share included."""

    about: Conversation
    total: Total
    subagents: int
    #: Of that, what its sub-agents used.
    theirs: Total


class ToolUse(NamedTuple):
    name: str
    calls: int
    errors: int


@told
async def show_usage(request: Request) -> Response:
    """`/usage`, of a period, of everything or of one source."""
    number = await number_of(request)
    known = prices() if shows_money() else None
    asked = _asked(request, known is not None)
    make = partial(_values, asked=asked, known=known, locale=locale_of(request))
    values = await archive_reader_of(request).read(make)
    return page(request, "usage.html", number=number, **values)


def _asked(request: Request, money: bool) -> UsageChoice:
    query = request.query_params

    def one_of(name: str, known: Iterable[str], otherwise: str) -> str:
        return said if (said := query.get(name, "")) in known else otherwise

    period = one_of("period", PERIODS, "30d")
    return UsageChoice(
        period,
        one_of("by", STEPS, PERIODS[period][1]),
        one_of("split", SPLITS, "model"),
        one_of("of", MEASURES if money else MEASURES[:1], "tokens"),
        query.get("source") or None,
        query.get("conversation") or None,
    )


def _values(
    archive: Archive, asked: UsageChoice, known: Prices | None, locale: str
) -> dict[str, Any]:
    today = datetime.now(timezone.utc).astimezone().date()
    days = PERIODS[asked.period][0]
    first = today - timedelta(days=days - 1) if days else None
    since = when(first.isoformat(), datetime.now(timezone.utc)) if first else None
    used = collect(archive, known, since=since)
    sources = sorted(
        {one.source for one in used.conversations.values()} | {*filter(None, [asked.source])}
    )
    if asked.source:
        used = of_source(used, asked.source)
    periods = _periods(used, asked.step, first, today)
    rows = _rows(used)
    long = sorted(rows, key=lambda row: (-row.total.answers, row.about.id))[:MOST]
    dear = sorted(rows, key=lambda row: (-_weight(row, known), row.about.id))[:MOST]
    chosen = asked.conversation or (dear[0].about.id if dear else None)
    tally = archive.tally()
    return {
        "beyond": tally.beyond if tally else 0,
        "asked": asked,
        "words": WORDS,
        "units": UNITS,
        "sources": sources,
        "periods": PERIODS,
        "money": known is not None,
        "total": summed(used),
        "chart": stacked(_split(used, asked, periods)),
        "caching": stacked(_caching(used, asked.step, periods), 1),
        "hours": _hours(used),
        "models": grouped(used, "model"),
        "long": long,
        "dear": dear,
        "spawners": _spawners(rows),
        "tools": _tools(used),
        "context": _context(archive, chosen),
        "compact": partial(numbers.compact, locale),
        "share": numbers.share,
        "dollars": dollars,
        "others": OTHERS,
        "told_period": partial(_told_period, locale, asked.step),
        "weekdays": dates.weekdays(locale),
        "lasted": partial(_lasted, locale),
    }


def _periods(used: Used, step: str, first: date | None, today: date) -> list[str]:
    """Every period from the first to today, also those in which nothing was used."""
    known = [cell.slot.day for cell in used.cells if cell.slot]
    known += [turn.slot.day for turn in used.turns if turn.slot]
    start = first or min(map(date.fromisoformat, known), default=today)
    # A clock that was wrong by a century makes no chart of a hundred thousand days; one that was
    # in another time zone may be a day ahead.
    last = min(max([today, *map(date.fromisoformat, known)]), today + timedelta(days=1))
    found: dict[str, None] = {}
    day = last
    while day >= min(start, last) and len(found) <= COLUMNS:
        found.setdefault(period_of(day.isoformat(), step))
        day -= timedelta(days=1)
    return list(reversed(found))[-COLUMNS:]


def _split(used: Used, asked: UsageChoice, periods: list[str]) -> Mapping[str, Mapping[str, float]]:
    parts: dict[str, defaultdict[str, float]] = {name: defaultdict(float) for name in periods}
    time, name = namer(used, asked.step), namer(used, asked.split)
    for cell in used.cells:
        column = parts.get(time(cell))
        if column is not None:
            total = cell.total
            column[name(cell)] += total.cost if asked.measure == "cost" else total.tokens
    return parts


def _caching(used: Used, step: str, periods: list[str]) -> Mapping[str, Mapping[str, float]]:
    """Which part of what models read came from the cache."""
    sums = grouped(used, step)
    return {
        name: {"": total.cache_read / total.prompt if total and total.prompt else 0.0}
        for name in periods
        for total in [sums.get(name)]
    }


class Hour(NamedTuple):
    answers: int
    level: int


def _hours(used: Used) -> list[list[Hour]]:
    """Answers by weekday, Monday first, and hour."""
    counts: Counter[tuple[int, int]] = Counter()
    weekdays: dict[str, int] = {}
    for cell in used.cells:
        if cell.slot is not None:
            day = cell.slot.day
            if day not in weekdays:
                weekdays[day] = date.fromisoformat(day).weekday()
            counts[weekdays[day], cell.slot.hour] += cell.total.answers
    most = max(counts.values(), default=0) or 1
    return [
        [
            Hour(n := counts[day, hour], min(1 + LEVELS * (n - 1) // most, LEVELS) if n else 0)
            for hour in range(24)
        ]
        for day in range(7)
    ]


def _rows(used: Used) -> list[Row]:
    totals: defaultdict[str, Total] = defaultdict(Total)
    theirs: defaultdict[str, Total] = defaultdict(Total)
    agents: Counter[str] = Counter(owner for id, owner in used.owners.items() if id != owner)
    for cell in used.cells:
        owner = used.owners.get(cell.conversation, cell.conversation)
        totals[owner].merge(cell.total)
        if owner != cell.conversation:
            theirs[owner].merge(cell.total)
    return [
        Row(used.conversations[id], total, agents[id], theirs[id])
        for id, total in totals.items()
        if id in used.conversations
    ]


def _weight(row: Row, known: Prices | None) -> float:
    return row.total.cost if known is not None else row.total.tokens


def _spawners(rows: list[Row]) -> list[Row]:
    found = [row for row in rows if row.subagents]
    return sorted(found, key=lambda row: (-row.theirs.tokens, row.about.id))[:MOST]


def _tools(used: Used) -> list[ToolUse]:
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    # What was only updated a little before the period was read in vain: it has no cell.
    ids = {cell.conversation for cell in used.cells} | {turn.conversation for turn in used.turns}
    for about in (used.conversations[id] for id in ids):
        calls.update(about.tools)
        errors.update(about.tool_errors)
    return [ToolUse(name, number, errors[name]) for name, number in calls.most_common(2 * MOST)]


class Context(NamedTuple):
    """How much a model was given to read for each answer of a conversation."""

    about: Conversation
    curve: Curve
    most: int


def _context(archive: Archive, id: str | None) -> Context | None:
    if id is None:
        return None
    try:
        found = archive.find(id)
    except NotFound:
        return None
    kept = archive.kept_as(found.family, found.grouping).get(found.conversation.id)
    answers = sorted(
        (one for one in (kept.answers if kept else ()) if one.has_tokens),
        key=lambda one: one.at or "",
    )
    sizes = [
        one.usage.input_tokens + one.usage.cache_read_tokens + one.usage.cache_write_tokens
        for one in answers
    ]
    return Context(found.conversation, curve(sizes), max(sizes)) if sizes else None


def _told_period(locale: str, step: str, name: str) -> str:
    return dates.period(locale, step, name)


def _lasted(locale: str, about: Conversation) -> str:
    """From its first to its last moment, in words."""
    if about.times_from != "source" or not about.started_at or not about.updated_at:
        return ""
    begin, end = map(datetime.fromisoformat, (about.started_at, about.updated_at))
    minutes = int((end - begin).total_seconds() // 60)
    for size, words in SPANS:
        if minutes >= 2 * size:
            return say(locale, words, n=minutes // size)
    return say(locale, "a minute") if minutes else ""
