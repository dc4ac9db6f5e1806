"""Figures as charts: a calendar of activity, patterns, tools, tokens by model and by project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Filter, Heading
from rireki.model.conversation import Answer, Conversation
from rireki.show.figures import answers_once, figures
from rireki.web.locale import dates
from rireki.web.locale.words import locale_of
from rireki.web.parts.calendar import calendar
from rireki.web.parts.frame import archive_reader_of, number_of, page, told

__all__ = ["ChartBar", "bars", "show_stats"]

_EVERY = Filter(subagents=True)
#: Bars of one chart.
MOST = 12


class ChartBar(NamedTuple):
    name: str
    value: int
    #: Of the longest bar, in percent.
    length: float
    lower_bound: bool = False


@told
async def show_stats(request: Request) -> Response:
    """`/stats`, of everything or of one source."""
    number = await number_of(request)
    source = request.query_params.get("source") or None
    values = await archive_reader_of(request).read(lambda archive: _values(archive, source))
    return page(
        request,
        "stats.html",
        number=number,
        source=source,
        months=dates.months(locale_of(request)),
        weekdays=dates.weekdays(locale_of(request)),
        **values,
    )


def _values(archive: Archive, source: str | None) -> dict[str, Any]:
    answers = list(answers_once(archive.answers(source)))
    tally = archive.tally()
    every: list[Heading | Conversation]
    every = [*(archive.headings() if tally is None else archive.conversations(_EVERY))]
    headings = {h.id: h for h in every if source in (None, h.source)}
    told = figures(archive, source)
    models = {name: total["output_tokens"] for name, total in told["tokens"].items()}
    bounded = {name for name, total in told["tokens"].items() if total["lower_bound"]}
    today = datetime.now(timezone.utc).astimezone().date()
    return {
        "sources": sorted({*(heading.source for heading in every), *filter(None, [source])}),
        "beyond": tally.beyond if tally else 0,
        "told": told,
        "days": calendar(_activity(headings.values(), answers), today),
        "patterns": bars(
            {name: each["count"] for name, each in told["patterns"].items()}, sort=False
        ),
        "by_source": bars(told["sources"]),
        "tools": bars(told["tools"]),
        "models": bars(models, bounded),
        "projects": bars(*_by_project(headings, answers)),
    }


def bars(
    values: Mapping[str, int], bounded: Iterable[str] = (), sort: bool = True
) -> list[ChartBar]:
    """The largest first; bars of one chart are as long as they are large."""
    least = set(bounded)
    ordered = (
        sorted(values.items(), key=lambda item: (-item[1], item[0])) if sort else [*values.items()]
    )
    longest = max(values.values(), default=0) or 1
    return [
        ChartBar(name, value, round(100 * value / longest, 2), name in least)
        for name, value in ordered[:MOST]
    ]


def _activity(
    headings: Iterable[Heading | Conversation], answers: Iterable[tuple[str, Answer]]
) -> Counter[str]:
    """Answers by day; a conversation whose answers have no times counts on its last day."""
    days: Counter[str] = Counter()
    dated = set()
    for conversation, answer in answers:
        if answer.at:
            days[dates.date_of(answer.at)] += 1
            dated.add(conversation)
    for heading in headings:
        if heading.id not in dated and heading.updated_at:
            days[dates.date_of(heading.updated_at)] += 1
    return days


def _by_project(
    headings: Mapping[str, Heading | Conversation], answers: Iterable[tuple[str, Answer]]
) -> tuple[Counter[str], set[str]]:
    """Tokens by project, and the projects that may have had more."""
    tokens: Counter[str] = Counter()
    bounded: set[str] = set()
    for conversation, answer in answers:
        heading = headings.get(conversation)
        if heading is not None and heading.project:
            tokens[heading.project] += answer.usage.output_tokens
            if answer.usage.lower_bound:
                bounded.add(heading.project)
    return tokens, bounded
