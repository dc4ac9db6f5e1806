"""Which conversations the first page lists, in which order, and what that can be narrowed down to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timezone
from itertools import islice
from typing import Any, NamedTuple

from starlette.requests import Request

from rireki.archive.base import Archive, ArchiveTally, Filter
from rireki.errors import RirekiError
from rireki.intake.curate import tags_of_all
from rireki.model.conversation import Conversation, Curation
from rireki.model.when import when
from rireki.web.parts.frame import is_on

__all__ = ["SIZE", "SORTS", "Facets", "Listing", "Wanted", "days_around", "duration", "listing"]

#: Rows of one page.
SIZE = 60
#: Conversations that are fetched at once where not all of them fit.
BATCH = 200
#: What is listed only where it is asked for.
ASIDE = ("subagent", "notes")
#: Projects that are listed at the side; all others are found by the filter.
PROJECTS = 40
#: Tags that are listed there.
TAGS = 30
#: Orders to choose from besides the newest first, and what they are called.
SORTS = {
    "": "Newest first",
    "oldest": "Oldest first",
    "longest": "Longest first",
    "turns": "Most turns first",
    "cost": "Dearest first",
}


class Wanted(NamedTuple):
    """Which conversations are listed, as the address says it."""

    source: str = ""
    project: str = ""
    state: str = ""
    subagents: bool = False
    #: Also the directories below the project.
    below: bool = False
    #: Only what went on on this local day.
    day: str = ""
    sort: str = ""
    #: What the person added: with this tag, starred, hidden.
    tag: str = ""
    starred: bool = False
    hidden: bool = False

    @classmethod
    def of(cls, request: Request, money: bool = True) -> Wanted:
        given = request.query_params
        sort, day = given.get("sort", ""), given.get("day", "")
        return cls(
            given.get("source", ""),
            _directory(given.get("project", "")),
            given.get("state", ""),
            is_on(request, "subagents"),
            is_on(request, "below"),
            day if _is_day(day) else "",
            sort if sort in SORTS and (money or sort != "cost") else "",
            given.get("tag", ""),
            is_on(request, "starred"),
            is_on(request, "hidden"),
        )

    @property
    def everything(self) -> bool:
        """Whether nothing is left out but what is left out always."""
        added = self.tag or self.starred or self.hidden
        chosen = self.source or self.project or self.state or self.subagents or self.day
        return not (added or chosen)

    def holds(self, project: str | None) -> bool:
        """Whether what happened in a directory is listed."""
        return not self.project or self.counts(project, self.project)

    def counts(self, project: str | None, path: str) -> bool:
        """Whether a project is counted as that directory."""
        return project == path or (self.below and _is_below(project, path))

    def listed(self, archive: Archive, after: str = "") -> Iterator[Conversation]:
        """Newest first; with `after`, what comes behind that place, wherever it has moved."""
        place = _place_of(after) if after else None
        first, last = _bounds(self.day) if self.day else (None, None)
        while True:
            wanted = Filter(
                source=self.source or None,
                project=self.project or None,
                below=self.below,
                upstream=self.state if self.state in ("gone", "changed") else None,
                subagents=self.subagents,
                since=first,
                begun=last,
                tags=[self.tag] if self.tag else [],
                starred=self.starred,
                hidden=self.hidden,
                after=place,
                limit=BATCH,
            )
            batch = list(archive.conversations(wanted))
            for about in batch:
                fits = self.state != "unfinished" or about.unfinished
                if fits and (last is None or _went_on(about, first or "", last)):
                    yield about
            if len(batch) < BATCH:
                return
            place = (batch[-1].updated_at, batch[-1].id)

    def takes(self, about: Conversation) -> bool:
        """Whether a conversation that changed belongs on the list."""
        return (
            (not self.source or about.source == self.source)
            and self.holds(about.project)
            and (self.subagents or about.nature not in ASIDE)
            and self.state in ("", about.upstream, "unfinished" if about.unfinished else "")
            and (not self.day or _went_on(about, *_bounds(self.day)))
            and self.has_added(about.added)
        )

    def has_added(self, added: Curation) -> bool:
        """Whether a person added, or did not add, what is wanted."""
        return (
            not added.leaving
            and added.hidden == self.hidden
            and (added.starred or not self.starred)
            and (not self.tag or self.tag in added.tags)
        )


class Facets(NamedTuple):
    """What the list can be narrowed down to."""

    #: (path, conversations), the one used last first.
    projects: list[tuple[str, int]]
    sources: list[tuple[str, int]]
    more_projects: int
    #: Tags with how many conversations have each; how many are starred, and hidden.
    tags: list[tuple[str, int]]
    starred: int
    hidden: int


class Listing(NamedTuple):
    rows: list[Conversation]
    #: Where the next page begins; empty at the end.
    next: str
    facets: Facets


def listing(
    archive: Archive, wanted: Wanted, after: str, costs: Callable[[], Mapping[str, float]]
) -> Listing:
    """One page of the list. What conversations cost is asked only where they are sorted by it."""
    if wanted.sort:
        begin = int(after) if after.isdecimal() and len(after) < 8 else 0
        ordered = _sorted(wanted, wanted.listed(archive), costs)
        rows = ordered[begin : begin + SIZE]
        following = str(begin + SIZE) if len(ordered) > begin + SIZE else ""
    else:
        rows = list(islice(wanted.listed(archive, after), SIZE + 1))
        following = _place(rows[SIZE - 1]) if len(rows) > SIZE else ""
    return Listing(rows[:SIZE], following, _facets(archive, wanted))


def duration(about: Conversation) -> float:
    """Seconds from its first to its last moment; 0 where its source keeps no times."""
    if about.times_from != "source" or not about.started_at or not about.updated_at:
        return 0.0
    begin, end = map(datetime.fromisoformat, (about.started_at, about.updated_at))
    return (end - begin).total_seconds()


def _sorted(
    wanted: Wanted, rows: Iterable[Conversation], costs: Callable[[], Mapping[str, float]]
) -> list[Conversation]:
    if wanted.sort == "oldest":
        # What has no time stands at the end, as ever.
        return sorted(rows, key=lambda about: (about.updated_at is None, about.updated_at or ""))
    known = costs() if wanted.sort == "cost" else {}
    keys: dict[str, Callable[[Conversation], float]] = {
        "longest": duration,
        "turns": lambda about: about.turns,
        "cost": lambda about: known.get(about.id, 0.0),
    }
    return sorted(rows, key=keys[wanted.sort], reverse=True)


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
    tally = archive.tally()
    for project, source, number in _counted(archive, wanted, tally):
        if wanted.holds(project):
            sources[source] += number
        if project and wanted.source in ("", source):
            projects[project] += number
    shown = [(path, _within(projects, wanted, path)) for path in islice(projects, PROJECTS)]
    curations = [added for added in archive.curations().values() if not added.leaving]
    return Facets(
        shown,
        sorted(sources.items()),
        len(projects) - len(shown) + (tally.others if tally else 0),
        list(islice(tags_of_all(archive).items(), TAGS)),
        sum(added.starred and not added.hidden for added in curations),
        sum(added.hidden for added in curations),
    )


def _within(projects: Mapping[str, int], wanted: Wanted, path: str) -> int:
    """How many count as a directory's: its own, or also those below."""
    if not wanted.below:
        return projects[path]
    return sum(n for other, n in projects.items() if wanted.counts(other, path))


def _counted(
    archive: Archive, wanted: Wanted, tally: ArchiveTally | None
) -> Iterable[tuple[str | None, str, int]]:
    """Project and source of whatever is in the state that is wanted, newest first, with how many have both."""
    if tally is not None:
        return _tallied(tally, wanted)
    if wanted.state in ("gone", "changed") or wanted.day:
        only = wanted._replace(source="", project="", below=False, sort="")
        return ((about.project, about.source, 1) for about in only.listed(archive))
    unfinished = wanted.state == "unfinished"
    fitting = [
        heading
        for heading in archive.headings(finished=unfinished)
        if (wanted.subagents or heading.nature not in ASIDE)
        and not (unfinished and heading.finished)
        and wanted.has_added(heading.added)
    ]
    fitting.sort(key=lambda heading: heading.updated_at or "", reverse=True)
    return ((heading.project, heading.source, 1) for heading in fitting)


def _tallied(tally: ArchiveTally, wanted: Wanted) -> Iterable[tuple[str | None, str, int]]:
    """The same, of what is kept at hand: nothing where it does not tell."""
    if wanted.state in ("gone", "changed") or wanted.day or not wanted.has_added(Curation()):
        return ()
    unfinished = wanted.state == "unfinished"
    fitting = [
        cell
        for cell in tally.cells
        if (wanted.subagents or not cell.aside) and not (unfinished and cell.finished)
    ]
    fitting.sort(key=lambda cell: cell.newest or "", reverse=True)
    return ((cell.project, cell.source, cell.number) for cell in fitting)


def _directory(path: str) -> str:
    """A path as sources write it, without the slash that people put behind it."""
    return path.rstrip("/") or path


def _is_below(project: str | None, path: str) -> bool:
    """Whether a project is that directory or inside it."""
    inner, outer = ((each or "").replace("\\", "/").rstrip("/") for each in (project, path))
    return inner == outer or inner.startswith(f"{outer}/")


# ── a day ──


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text and bool(_bounds(text)[0])
    except (ValueError, OverflowError, RirekiError):
        return False


def _bounds(day: str) -> tuple[str, str]:
    """The first and the last moment of a local day."""
    now = datetime.now(timezone.utc)
    return when(day, now) or "", when(day, now, end_of_day=True) or ""


def _went_on(about: Conversation, first: str, last: str) -> bool:
    """Whether something was said in it between two times."""
    moments: list[Any] = [about.started_at, about.updated_at, *about.turns_at]
    return any(moment is not None and first <= moment <= last for moment in moments)


def days_around(counts: Mapping[str, int], day: str) -> tuple[str, str]:
    """The nearest days before and after on which there was something; empty where there are none."""
    known = sorted(name for name, number in counts.items() if number and name)
    earlier = [name for name in known if name < day]
    later = [name for name in known if name > day]
    return (earlier[-1] if earlier else ""), (later[0] if later else "")
