"""One directory: every conversation it ever had, and which of them it held at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from functools import partial
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Sighting
from rireki.errors import NotFound
from rireki.model.conversation import Conversation
from rireki.model.prices import Prices
from rireki.model.times import to_datetime
from rireki.show.money import dollars, prices, shows_money
from rireki.show.usage import Total, Used, collect_of, period_of, summed
from rireki.web.archive_reader import ArchiveReader
from rireki.web.locale import dates, numbers
from rireki.web.locale.words import locale_of
from rireki.web.pages.conversation import as_of_of
from rireki.web.parts.charts import OTHERS, Chart, stacked
from rireki.web.parts.frame import archive_reader_of, doing_now, is_on, number_of, page, told
from rireki.web.parts.listing import duration
from rireki.web.parts.most_changed import MostChanged, most_changed
from rireki.web.parts.worktrees import siblings_of
from rireki.web.scope import scope_of

__all__ = ["DirectoryEntry", "held_in", "show_project"]

#: The width the bars are drawn on.
WIDTH = 1000
#: Projects that are listed at the side.
PROJECTS = 40
#: Up to so many days each has a column, up to so many weeks each week; and columns at most.
DAYS, WEEKS, COLUMNS = 45, 60, 400


class DirectoryEntry(NamedTuple):
    """A conversation, and from when to when the directory held it."""

    conversation: Conversation
    directory: str
    first: str
    #: None while the source still holds it there.
    last: str | None
    current: bool
    #: Where its bar stands, of a width of 1000.
    start: int = 0
    length: int = WIDTH
    #: How much of it something was said in.
    spoken: int = 0

    def was_there(self, at: str) -> bool:
        return self.first <= at and (self.last is None or at < self.last)


class ProjectFigures(NamedTuple):
    """What all conversations of a project come to."""

    total: Total
    step: str
    chart: Chart
    files: MostChanged


class ProjectAsked(NamedTuple):
    """What the address asks for."""

    path: str
    below: bool
    #: Without the worktrees of the same repository.
    alone: bool
    #: Whether the disk may be looked at: it is the reader's own.
    look: bool


@told
async def show_project(request: Request) -> Response:
    """`/project?path=`, with `below` also the directories below it, `as_of` at a moment."""
    number = await number_of(request)
    reader = archive_reader_of(request)
    known = prices() if shows_money() else None
    locale = locale_of(request)
    asked = ProjectAsked(
        request.query_params.get("path", ""),
        is_on(request, "below"),
        is_on(request, "alone"),
        scope_of(request).may_add,
    )

    def work(archive: Archive) -> tuple[list[str], list[str], list[Sighting], ProjectFigures]:
        projects = list(archive.projects())
        siblings = siblings_of(asked.path, projects, asked.look)
        paths = [asked.path, *(siblings if not asked.alone else ())]
        seen = _sightings(archive, paths, asked.below)
        return projects, siblings, seen, _figures(reader, archive, seen, paths, known)

    projects, siblings, seen, figures = await reader.read(work)
    rows = held_in(seen, _now())
    turns = sorted({row.first for row in rows} | {row.last for row in rows if row.last})
    at = as_of_of(request)
    chosen = sum(turn <= at for turn in turns) - 1 if at else len(turns) - 1
    return page(
        request,
        "project.html",
        number=number,
        asked=asked,
        path=asked.path,
        below=asked.below,
        siblings=siblings,
        projects=projects[:PROJECTS],
        figures=figures,
        money=known is not None,
        rows=rows,
        turns=turns,
        chosen=max(chosen, 0),
        at=turns[max(chosen, 0)],
        doing=await doing_now(request),
        others=OTHERS,
        dollars=dollars,
        compact=partial(numbers.compact, locale),
        told_period=partial(dates.period, locale, figures.step),
        lasted=lambda about: dates.lasted(locale, duration(about)),
    )


def _figures(
    reader: ArchiveReader,
    archive: Archive,
    seen: Sequence[Sighting],
    paths: Sequence[str],
    known: Prices | None,
) -> ProjectFigures:
    found = [sighting.conversation for sighting in seen]
    used = collect_of(archive, known, found)
    slots = [cell.slot for cell in used.cells] + [turn.slot for turn in used.turns]
    days = sorted(slot.day for slot in slots if slot)
    span = (date.fromisoformat(days[-1]) - date.fromisoformat(days[0])).days if days else 0
    step = "day" if span <= DAYS else "week" if span <= WEEKS * 7 else "month"
    return ProjectFigures(
        summed(used),
        step,
        stacked(_columns(used, step, days)),
        most_changed(reader, archive, found, paths),
    )


def _columns(used: Used, step: str, days: Sequence[str]) -> dict[str, dict[str, float]]:
    """Tokens of each model, for every period between the first and the last."""
    columns: dict[str, dict[str, float]] = {}
    if days:
        day, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
        while day <= last and len(columns) < COLUMNS:
            columns.setdefault(period_of(day.isoformat(), step), {})
            day += timedelta(days=1)
    for cell in used.cells:
        column = columns.get(period_of(cell.slot.day, step)) if cell.slot else None
        if column is not None:
            column[cell.model] = column.get(cell.model, 0.0) + cell.total.tokens
    return columns


def held_in(seen: Sequence[Sighting], now: str) -> list[DirectoryEntry]:
    """The conversations of a directory with the bars of a common time line."""
    rows = [_held(sighting) for sighting in seen]
    begin = min(_seconds(row.first) for row in rows)
    # Another machine's clock may run ahead of this one's.
    now = max(now, *(row.last or row.first for row in rows))
    span = max(_seconds(now) - begin, 1.0)
    placed = []
    for row in rows:
        start = round(WIDTH * (_seconds(row.first) - begin) / span)
        end = round(WIDTH * (_seconds(row.last or now) - begin) / span)
        # Too short to be seen is not the same as nothing.
        length = max(end - start, 6)
        start = min(start, WIDTH - length)
        about = row.conversation
        spoken = round(WIDTH * (_seconds(about.updated_at or row.first) - begin) / span) - start
        placed.append(row._replace(start=start, length=length, spoken=min(max(spoken, 6), length)))
    return placed


def _held(sighting: Sighting) -> DirectoryEntry:
    about = sighting.conversation
    first = min(filter(None, [about.started_at, sighting.first_seen]))
    is_there = sighting.current or about.upstream != "gone"
    last = None if is_there else max(filter(None, [about.updated_at, sighting.last_seen]))
    return DirectoryEntry(about, sighting.directory, first, last, sighting.current)


def _sightings(archive: Archive, paths: Sequence[str], below: bool) -> list[Sighting]:
    found: dict[str, Sighting] = {}
    for path in paths:
        for sighting in archive.sightings(path, below) if path else ():
            found.setdefault(sighting.conversation.id, sighting)
    if not found:
        raise NotFound("no-project", path=paths[0])
    newest = sorted(found.values(), key=lambda one: one.conversation.updated_at or "", reverse=True)
    return newest if len(paths) > 1 else list(found.values())


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _seconds(stamp: str) -> float:
    found = to_datetime(stamp)
    return found.timestamp() if found else 0.0
