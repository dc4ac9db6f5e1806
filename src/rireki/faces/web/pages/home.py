"""The first page: projects and conversations, newest first, and how the first import is getting on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Filter
from rireki.faces.web.desk import Desk
from rireki.faces.web.pages import dates
from rireki.faces.web.pages.doing import doing_now
from rireki.faces.web.pages.frame import answer, desk_of, is_on, number_of, page, piece, told
from rireki.faces.web.pages.warm import warm
from rireki.faces.web.pages.watched import Watched, is_first_visit, watched
from rireki.model.activity import Activity
from rireki.model.conversation import Conversation

__all__ = ["home_rows", "show_home", "status_piece"]

#: Rows of one page.
SIZE = 60
#: Projects that are listed at the side; all others are found by the filter.
PROJECTS = 40


class Wanted(NamedTuple):
    """Which conversations are listed, as the address says it."""

    source: str = ""
    project: str = ""
    state: str = ""
    subagents: bool = False

    @classmethod
    def of(cls, request: Request) -> Wanted:
        given = request.query_params
        return cls(
            given.get("source", ""),
            given.get("project", ""),
            given.get("state", ""),
            is_on(request, "subagents"),
        )

    def listed(self, archive: Archive, after: str = "") -> Iterator[Conversation]:
        """Newest first; with `after`, what comes behind that place, wherever it has moved."""
        upstream = self.state if self.state in ("gone", "changed") else None
        wanted = Filter(
            source=self.source or None,
            project=self.project or None,
            upstream=upstream,
            subagents=self.subagents,
            after=_place_of(after) if after else None,
        )
        for conversation in archive.conversations(wanted):
            if self.state != "unfinished" or not conversation.finished:
                yield conversation

    def takes(self, about: Conversation) -> bool:
        """Whether a conversation that changed belongs on the list."""
        project = (about.project or "").replace("\\", "/")
        wanted = self.project.replace("\\", "/").rstrip("/")
        return (
            (not self.source or about.source == self.source)
            and (not wanted or project == wanted or project.startswith(f"{wanted}/"))
            and (self.subagents or about.nature != "subagent")
            and self.state in ("", about.upstream, "unfinished" if not about.finished else "")
        )


class Facets(NamedTuple):
    """What the list can be narrowed down to."""

    #: (path, conversations), the one used last first.
    projects: list[tuple[str, int]]
    sources: list[tuple[str, int]]
    more_projects: int


class Listing(NamedTuple):
    rows: list[Conversation]
    #: Where the next page begins; empty at the end.
    next: str
    facets: Facets


@told
async def show_home(request: Request) -> Response:
    """`/`: conversations by day; `?after=` is the next page of them."""
    number = await number_of(request)
    wanted = Wanted.of(request)
    after = request.query_params.get("after", "")
    listing = await desk_of(request).read(lambda archive: _listing(archive, wanted, after))
    doing = await doing_now(request)
    days = _days(listing.rows)
    if is_on(request, "fragment"):
        html = piece(request, "_days.html", days=days, doing=doing)
        side = piece(request, "_side_home.html", wanted=wanted, listing=listing)
        return answer({"html": html, "side": side, "next": listing.next})
    response = page(
        request,
        "home.html",
        number=number,
        wanted=wanted,
        listing=listing,
        days=days,
        doing=doing,
        first_page=not after,
        first_visit=await _first_visit(desk_of(request)),
    )
    response.background = BackgroundTask(warm)
    return response


@told
async def home_rows(request: Request) -> Response:
    """`/fragments/home?ids=`: the rows of these conversations, for a list that is open."""
    wanted = Wanted.of(request)
    ids = [id for id in request.query_params.getlist("ids") if id]
    known = await desk_of(request).read(lambda archive: archive.pick(ids))
    doing = await doing_now(request)
    return answer({"rows": [_row(request, id, known.get(id), wanted, doing) for id in ids]})


@told
async def status_piece(request: Request) -> Response:
    """`/fragments/status`: how the import is getting on, while somebody waits for it."""
    seen = await _first_visit(desk_of(request))
    if seen is None:
        return answer({"done": True})
    return answer({"done": False, "html": piece(request, "_first.html", seen=seen)})


async def _first_visit(desk: Desk) -> Watched | None:
    """What was found on this machine, while the first import runs or when there is nothing."""
    empty = not await desk.read(lambda archive: archive.count())
    if not is_first_visit(desk, empty):
        return None
    return await watched(desk)


def _row(
    request: Request,
    id: str,
    about: Conversation | None,
    wanted: Wanted,
    doing: Mapping[str, Activity],
) -> dict[str, Any]:
    """No HTML for one that is not there any more, or does not belong on this list."""
    if about is None or not wanted.takes(about):
        return {"id": id, "html": None}
    html = piece(request, "_row.html", about=about, doing=doing)
    return {"id": id, "html": html, "day": dates.date_of(about.updated_at)}


def _listing(archive: Archive, wanted: Wanted, after: str) -> Listing:
    rows = list(islice(wanted.listed(archive, after), SIZE + 1))
    following = _place(rows[SIZE - 1]) if len(rows) > SIZE else ""
    return Listing(rows[:SIZE], following, _facets(archive))


def _place(about: Conversation) -> str:
    """Where a conversation stands in the order of the list."""
    return f"{about.updated_at or ''} {about.id}"


def _place_of(text: str) -> tuple[str | None, str]:
    at, _, id = text.partition(" ")
    return at or None, id


def _facets(archive: Archive) -> Facets:
    projects: dict[str, int] = {}
    sources: dict[str, int] = {}
    headings = sorted(archive.headings(), key=lambda h: h.updated_at or "", reverse=True)
    for heading in headings:
        if heading.nature == "subagent":
            continue
        sources[heading.source] = sources.get(heading.source, 0) + 1
        if heading.project:
            projects[heading.project] = projects.get(heading.project, 0) + 1
    shown = list(projects.items())[:PROJECTS]
    return Facets(shown, sorted(sources.items()), len(projects) - len(shown))


def _days(rows: Sequence[Conversation]) -> list[tuple[str, list[Conversation]]]:
    return [
        (date, list(some)) for date, some in groupby(rows, lambda c: dates.date_of(c.updated_at))
    ]
