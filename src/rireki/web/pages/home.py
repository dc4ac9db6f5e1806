"""The first page: projects and conversations, newest first, and how the first import is getting on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, islice
from typing import Any, NamedTuple

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Filter, Heading
from rireki.model.activity import Activity
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer
from rireki.show.transcript import Transcript
from rireki.web.archive_reader import ArchiveReader
from rireki.web.locale import dates
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

__all__ = ["home_rows", "show_home", "status_piece", "warm"]

#: Rows of one page.
SIZE = 60
#: What is listed only where it is asked for.
ASIDE = ("subagent", "notes")
#: Projects that are listed at the side; all others are found by the filter.
PROJECTS = 40


class Wanted(NamedTuple):
    """Which conversations are listed, as the address says it."""

    source: str = ""
    project: str = ""
    state: str = ""
    subagents: bool = False
    #: Also the directories below the project.
    below: bool = False

    @classmethod
    def of(cls, request: Request) -> Wanted:
        given = request.query_params
        return cls(
            given.get("source", ""),
            _directory(given.get("project", "")),
            given.get("state", ""),
            is_on(request, "subagents"),
            is_on(request, "below"),
        )

    def holds(self, project: str | None) -> bool:
        """Whether what happened in a directory is listed."""
        return not self.project or self.counts(project, self.project)

    def counts(self, project: str | None, path: str) -> bool:
        """Whether a project is counted as that directory."""
        return project == path or (self.below and _is_below(project, path))

    def listed(self, archive: Archive, after: str = "") -> Iterator[Conversation]:
        """Newest first; with `after`, what comes behind that place, wherever it has moved."""
        upstream = self.state if self.state in ("gone", "changed") else None
        wanted = Filter(
            source=self.source or None,
            project=self.project or None,
            below=self.below,
            upstream=upstream,
            subagents=self.subagents,
            after=_place_of(after) if after else None,
        )
        for conversation in archive.conversations(wanted):
            if self.state != "unfinished" or conversation.unfinished:
                yield conversation

    def takes(self, about: Conversation) -> bool:
        """Whether a conversation that changed belongs on the list."""
        return (
            (not self.source or about.source == self.source)
            and self.holds(about.project)
            and (self.subagents or about.nature not in ASIDE)
            and self.state in ("", about.upstream, "unfinished" if about.unfinished else "")
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
    listing = await archive_reader_of(request).read(
        lambda archive: _listing(archive, wanted, after)
    )
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
        first_visit=await _first_visit(archive_reader_of(request)),
    )
    response.background = BackgroundTask(warm)
    return response


@told
async def home_rows(request: Request) -> Response:
    """`/fragments/home?ids=`: the rows of these conversations, for a list that is open."""
    wanted = Wanted.of(request)
    ids = [id for id in request.query_params.getlist("ids") if id]
    known = await archive_reader_of(request).read(lambda archive: archive.pick(ids))
    doing = await doing_now(request)
    return answer({"rows": [_row(request, id, known.get(id), wanted, doing) for id in ids]})


@told
async def status_piece(request: Request) -> Response:
    """`/fragments/status`: how the import is getting on, while somebody waits for it."""
    seen = await _first_visit(archive_reader_of(request))
    if seen is None:
        return answer({"done": True})
    return answer({"done": False, "html": piece(request, "_first.html", seen=seen)})


async def _first_visit(archive_reader: ArchiveReader) -> WatchStatus | None:
    """What was found on this machine, while the first import runs or when there is nothing."""
    empty = not await archive_reader.read(lambda archive: archive.count())
    if not is_first_visit(archive_reader, empty):
        return None
    return await watched(archive_reader)


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
    return Listing(rows[:SIZE], following, _facets(archive, wanted))


def _place(about: Conversation) -> str:
    """Where a conversation stands in the order of the list."""
    return f"{about.updated_at or ''} {about.id}"


def _place_of(text: str) -> tuple[str | None, str]:
    at, _, id = text.partition(" ")
    return at or None, id


def _facets(archive: Archive, wanted: Wanted) -> Facets:
    """How many conversations each choice would list, with the other choices as they are."""
    projects: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    for about in _counted(archive, wanted):
        if wanted.holds(about.project):
            sources[about.source] += 1
        if about.project and wanted.source in ("", about.source):
            projects[about.project] += 1
    shown = [
        (path, sum(n for other, n in projects.items() if wanted.counts(other, path)))
        for path in islice(projects, PROJECTS)
    ]
    return Facets(shown, sorted(sources.items()), len(projects) - len(shown))


def _counted(archive: Archive, wanted: Wanted) -> Iterable[Conversation | Heading]:
    """Whatever is in the state that is wanted, newest first."""
    if wanted.state in ("gone", "changed"):
        return Wanted(state=wanted.state, subagents=wanted.subagents).listed(archive)
    unfinished = wanted.state == "unfinished"
    fitting = [
        heading
        for heading in archive.headings(finished=unfinished)
        if (wanted.subagents or heading.nature not in ASIDE)
        and not (unfinished and heading.finished)
    ]
    return sorted(fitting, key=lambda heading: heading.updated_at or "", reverse=True)


def _directory(path: str) -> str:
    """A path as sources write it, without the slash that people put behind it."""
    return path.rstrip("/") or path


def _is_below(project: str | None, path: str) -> bool:
    """Whether a project is that directory or inside it."""
    inner, outer = ((each or "").replace("\\", "/").rstrip("/") for each in (project, path))
    return inner == outer or inner.startswith(f"{outer}/")


def _days(rows: Sequence[Conversation]) -> list[tuple[str, list[Conversation]]]:
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
