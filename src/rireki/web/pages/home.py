"""The first page: what waits, what runs, this week, the year, and the conversations; the first import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Filter
from rireki.intake.forget import leaving
from rireki.model.activity import Activity
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.model.prices import Prices
from rireki.search.last_words import LastWords
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer
from rireki.show.money import dollars, prices, shows_money
from rireki.show.transcript import Transcript
from rireki.show.usage import collect
from rireki.web.archive_reader import ArchiveReader
from rireki.web.locale import dates, numbers
from rireki.web.locale.words import locale_of
from rireki.web.parts.costs import Cost, costs_of
from rireki.web.parts.frame import (
    answer,
    archive_reader_of,
    doing_now,
    is_on,
    number_of,
    page,
    piece,
    templates,
    told,
)
from rireki.web.parts.keeper_status import WatchStatus, is_first_visit, watched
from rireki.web.parts.listing import SORTS, Listing, Wanted, days_around, duration, listing
from rireki.web.parts.overview import Overview, overview
from rireki.web.scope import scope_of

__all__ = ["FIGURES", "home_rows", "show_home", "status_piece", "warm"]

#: What the numbers of the week are called.
FIGURES = {
    "conversations": "conversations",
    "turns": "turns",
    "tokens": "tokens",
    "cost": "cost",
}
#: Conversations that are told above the list: more wait or run only by mistake.
NOW = 12


class ListedFacts(NamedTuple):
    """What rows tell besides what the conversations say of themselves."""

    doing: Mapping[str, Activity]
    words: Mapping[str, LastWords]
    costs: Mapping[str, Cost]

    def values(self, locale: str) -> dict[str, Any]:
        """For the template of a row."""
        return {
            "doing": self.doing,
            "last_words": self.words,
            "costs": self.costs,
            "dollars": dollars,
            "lasted": lambda about: dates.lasted(locale, duration(about)),
        }


class NowRow(NamedTuple):
    """A conversation in which something goes on, or waits."""

    about: Conversation
    doing: Activity


@told
async def show_home(request: Request) -> Response:
    """`/`: conversations by day; `?after=` is the next page of them."""
    reader = archive_reader_of(request)
    number = await number_of(request)
    known = prices() if shows_money() else None
    # Of many people's, no other order has a beginning that is known.
    sorts = {} if scope_of(request).person else SORTS
    wanted = Wanted.of(request, known is not None)
    wanted = wanted if sorts else wanted._replace(sort="")
    after = request.query_params.get("after", "")
    made = await reader.read(
        lambda archive: listing(archive, wanted, after, lambda: _all_costs(reader, archive, known))
    )
    facts = await _facts_of(request, made.rows, known)
    values = facts.values(locale_of(request)) | {"wanted": wanted, "listing": made}
    values["days"] = _days(made.rows, wanted)
    if is_on(request, "fragment"):
        return await _home_pieces(request, made, values)
    whole = wanted.everything and not after
    response = page(
        request,
        "home.html",
        number=number,
        sorts={name: words for name, words in sorts.items() if known or name != "cost"},
        first_page=not after and not wanted.sort,
        first_visit=await _first_visit(reader),
        now=await _now(request, facts.doing) if whole else [],
        overview=await _overview(reader, known) if whole else None,
        figures=FIGURES,
        leaving=await reader.read(leaving),
        around=await _around(reader, wanted.day),
        compact=lambda number: numbers.compact(locale_of(request), number),
        months=dates.months(locale_of(request)),
        weekdays=dates.weekdays(locale_of(request)),
        **values,
    )
    response.background = BackgroundTask(warm)
    return response


async def _home_pieces(request: Request, made: Listing, values: dict[str, Any]) -> Response:
    """What a script asks for: rows and filters, and what is going on."""
    html = piece(request, "_days.html", **values)
    side = piece(request, "_side_home.html", **values)
    now = piece(request, "_now.html", now=await _now(request, values["doing"]))
    return answer({"html": html, "side": side, "now": now, "next": made.next})


@told
async def home_rows(request: Request) -> Response:
    """`/fragments/home?ids=`: the rows of these conversations, for a list that is open."""
    known = prices() if shows_money() else None
    wanted = Wanted.of(request, known is not None)
    ids = [id for id in request.query_params.getlist("ids") if id]
    found = await archive_reader_of(request).read(lambda archive: archive.pick(ids))
    facts = await _facts_of(request, list(found.values()), known)
    rows = [_row(request, id, found.get(id), wanted, facts) for id in ids]
    now = piece(request, "_now.html", now=await _now(request, facts.doing))
    return answer({"rows": rows, "now": now})


@told
async def status_piece(request: Request) -> Response:
    """`/fragments/status`: how the import is getting on, while somebody waits for it."""
    seen = await _first_visit(archive_reader_of(request))
    if seen is None:
        return answer({"done": True})
    return answer({"done": False, "html": piece(request, "_first.html", seen=seen)})


async def _first_visit(archive_reader: ArchiveReader) -> WatchStatus | None:
    """What was found on this machine, while the first import runs or when there is nothing."""
    empty = not await archive_reader.read(_has_any)
    if not is_first_visit(archive_reader, empty):
        return None
    return await watched(archive_reader)


def _has_any(archive: Archive) -> bool:
    return any(archive.conversations(Filter(subagents=True, limit=1)))


async def _facts_of(
    request: Request, rows: Sequence[Conversation], known: Prices | None
) -> ListedFacts:
    reader = archive_reader_of(request)
    costs = await reader.read(lambda archive: costs_of(archive, rows, known))
    words = await reader.last_words([about.id for about in rows])
    return ListedFacts(await doing_now(request), words, costs)


async def _now(request: Request, doing: Mapping[str, Activity]) -> list[NowRow]:
    """What waits for the person first, then what is at work; the newest first."""
    busy = [one for one in doing.values() if one.waits or one.state == "working"]
    busy.sort(key=lambda one: one.at or "", reverse=True)
    busy.sort(key=lambda one: not one.waits)
    ids = [one.conversation for one in busy[:NOW]]
    known = await archive_reader_of(request).read(lambda archive: archive.pick(ids))
    return [NowRow(known[one.conversation], one) for one in busy if one.conversation in known]


async def _overview(reader: ArchiveReader, known: Prices | None) -> Overview:
    today = datetime.now(timezone.utc).astimezone().date()

    def make(archive: Archive) -> Overview:
        if archive.tally() is not None:
            # It is kept at hand there.
            return overview(archive, reader.turn_days, known, today)
        name = ("overview", archive.number(), str(today), known)
        known_as: Overview = reader.figures.get(
            name, lambda: overview(archive, reader.turn_days, known, today)
        )
        return known_as

    return await reader.read(make)


async def _around(reader: ArchiveReader, day: str) -> tuple[str, str]:
    """The days before and after, where one day is shown."""
    if not day:
        return "", ""

    def around(archive: Archive) -> tuple[str, str]:
        tally = archive.tally()
        return days_around(reader.turn_days.of(archive) if tally is None else tally.days, day)

    return await reader.read(around)


def _all_costs(
    reader: ArchiveReader, archive: Archive, known: Prices | None
) -> Mapping[str, float]:
    """What every conversation cost, its sub-agents included; kept until something changes."""

    def make() -> Mapping[str, float]:
        used = collect(archive, known)
        costs: dict[str, float] = {}
        for cell in used.cells:
            owner = used.owners.get(cell.conversation, cell.conversation)
            costs[owner] = costs.get(owner, 0.0) + cell.total.cost
        return costs

    costs: Mapping[str, float] = reader.figures.get(("costs", archive.number(), known), make)
    return costs


def _row(
    request: Request, id: str, about: Conversation | None, wanted: Wanted, facts: ListedFacts
) -> dict[str, Any]:
    """No HTML for one that is not there any more, or does not belong on this list."""
    if about is None or not wanted.takes(about):
        return {"id": id, "html": None}
    html = piece(request, "_row.html", about=about, **facts.values(locale_of(request)))
    return {"id": id, "html": html, "day": dates.date_of(about.updated_at)}


def _days(rows: Sequence[Conversation], wanted: Wanted) -> list[tuple[str, list[Conversation]]]:
    """By day, where they are in the order of time."""
    if wanted.sort not in ("", "oldest"):
        return [("", list(rows))] if rows else []
    return [
        (date, list(some)) for date, some in groupby(rows, lambda c: dates.date_of(c.updated_at))
    ]


_SAID = "A list:\n\n- `one`\n\n```python\nx = 1\n```\n"


@cache
def warm() -> None:
    """Once: every template, and what the renderer imports for Markdown and code."""
    for name in templates().list_templates():
        templates().get_template(name)
    message = Message(id="m", author="agent", display="bubble", parts=[Text(_SAID)])
    TranscriptRenderer(
        Transcript(Conversation(id="x/y", source="x", native_id="y"), [message]), RenderOptions()
    ).render(0)
