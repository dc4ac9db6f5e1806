"""One directory: every conversation it ever had, and which of them it held at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Sighting
from rireki.errors import NotFound
from rireki.model.conversation import Conversation
from rireki.model.times import to_datetime
from rireki.web.pages.conversation import as_of_of
from rireki.web.parts.frame import archive_reader_of, doing_now, is_on, number_of, page, told

__all__ = ["DirectoryEntry", "held_in", "show_project"]

#: The width the bars are drawn on.
WIDTH = 1000


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

    def was_there(self, at: str) -> bool:
        return self.first <= at and (self.last is None or at < self.last)


@told
async def show_project(request: Request) -> Response:
    """`/project?path=`, with `below` also the directories below it, `as_of` at a moment."""
    number = await number_of(request)
    path = request.query_params.get("path", "")
    below = is_on(request, "below")
    seen = await archive_reader_of(request).read(lambda archive: _sightings(archive, path, below))
    rows = held_in(seen, _now())
    turns = sorted({row.first for row in rows} | {row.last for row in rows if row.last})
    at = as_of_of(request)
    chosen = sum(turn <= at for turn in turns) - 1 if at else len(turns) - 1
    return page(
        request,
        "project.html",
        number=number,
        path=path,
        below=below,
        rows=rows,
        turns=turns,
        chosen=max(chosen, 0),
        at=turns[max(chosen, 0)],
        doing=await doing_now(request),
    )


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
        placed.append(row._replace(start=min(start, WIDTH - length), length=length))
    return placed


def _held(sighting: Sighting) -> DirectoryEntry:
    about = sighting.conversation
    first = min(filter(None, [about.started_at, sighting.first_seen]))
    is_there = sighting.current or about.upstream != "gone"
    last = None if is_there else max(filter(None, [about.updated_at, sighting.last_seen]))
    return DirectoryEntry(about, sighting.directory, first, last, sighting.current)


def _sightings(archive: Archive, path: str, below: bool) -> list[Sighting]:
    seen = archive.sightings(path, below) if path else []
    if not seen:
        raise NotFound("no-project", path=path)
    return seen


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _seconds(stamp: str) -> float:
    found = to_datetime(stamp)
    return found.timestamp() if found else 0.0
