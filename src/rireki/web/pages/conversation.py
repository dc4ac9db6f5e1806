"""One conversation: its head, a window of its messages, and the outline of what was asked."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive, Filter
from rireki.errors import NotFound
from rireki.model.conversation import Conversation
from rireki.model.times import to_datetime
from rireki.model.when import when
from rireki.search.language.match import Matcher
from rireki.search.language.parse import parse
from rireki.search.language.patterns import TooSlow
from rireki.search.language.query import QueryError
from rireki.search.text.documents import docs_of
from rireki.show.formats import FORMATS
from rireki.show.heading import RELATIONS
from rireki.show.safe import safe
from rireki.sources import registry
from rireki.web.archive_reader import OpenConversation
from rireki.web.pages.drive import drive_region, goes_on_elsewhere, obstacle_of
from rireki.web.parts.frame import archive_reader_of, doing_now, is_on, number_of, page, piece, told
from rireki.web.parts.render_cache import RenderedConversation, masker_of, told_of
from rireki.web.scope import scope_of

__all__ = [
    "UnitRange",
    "as_of_of",
    "last_window",
    "regions_of",
    "show_conversation",
    "told_at",
    "window_around",
]

#: Units that stand on a page at first, and that come with one more look.
SIZE = 60
#: The outline of a conversation with more prompts than this is brought later.
OUTLINE = 200
#: Conversations of its project that stand at its side, before and after it; and how far back is looked.
NEAR, LOOKED = 4, 200
#: Words of a search that are looked for in the message it led to.
FOUND = 50
#: What changes with the messages: an element of the page, and what it is made of.
_REGIONS = {
    "head": "_facts.html",
    "state": "_state.html",
    "added": "_added.html",
    "ties": "_ties.html",
    "resume": "_resume.html",
    "troubles": "_troubles.html",
    "children": "_children.html",
    "changed": "_changed.html",
}
#: What changed so lately is opened at its end.
LIVELY = timedelta(minutes=15)


class UnitRange(NamedTuple):
    """The units from one to another, the second not included."""

    first: int
    last: int


def window_around(total: int, index: int, size: int = SIZE) -> UnitRange:
    """The unit stands in the upper half, with something before it to read on from."""
    first = max(min(index - size // 4, total - size), 0)
    return UnitRange(first, min(first + size, total))


def last_window(total: int, size: int = SIZE) -> UnitRange:
    return UnitRange(max(total - size, 0), total)


@told
async def show_conversation(request: Request) -> Response:
    """`/c/ID`, and `?at=MESSAGE`: the conversation, opened at a message."""
    number = await number_of(request)
    at = request.query_params.get("at")
    ready, everything = await told_at(request, at)
    talk = ready.talk
    id = talk.conversation.id
    doing = (await doing_now(request)).get(id)
    target = ready.place(at) if at else None
    # What is being written by an agent comes to the page as it is.
    is_current = as_of_of(request) is None and not is_on(request, "mask")
    region = drive_region(request, talk) if is_current else None
    lively = doing is not None or _is_lively(talk) or bool(region and region.session)
    at_end = target is None and _opens_at_end(request, lively)
    window = _window(len(ready), target, at_end)
    return page(
        request,
        "talk.html",
        number=number,
        told=ready,
        about=talk.conversation,
        doing=doing,
        region=region,
        formats=[(name, each.title) for name, each in FORMATS.items()],
        obstacle=obstacle_of(request, talk) if is_current else None,
        elsewhere=is_current and goes_on_elsewhere(request, talk),
        everything=everything,
        masked=is_on(request, "mask"),
        as_of=as_of_of(request),
        window=window,
        units=await run_in_threadpool(_rendered, request, ready, window, target),
        opened=ready.name(target) if target is not None else "",
        found_words=await run_in_threadpool(_found_words, request, ready, target),
        at_end=at_end,
        outline=ready.outline() if talk.conversation.turns <= OUTLINE else None,
        neighbours=await _neighbours_of(request, talk.conversation),
        **await _around(request, talk),
    )


async def told_at(request: Request, at: str | None) -> tuple[RenderedConversation, bool]:
    """The conversation, with all it has when that is asked for or a hidden message is."""
    id = request.path_params["id"]
    as_of = as_of_of(request)
    everything, mask = is_on(request, "all"), is_on(request, "mask")
    ready = await told_of(request, id, everything, as_of, mask)
    if at and ready.place(at) is None:
        if not everything:
            ready, everything = await told_of(request, id, True, as_of, mask), True
        if ready.place(at) is None:
            raise NotFound("no-message-at", id=ready.talk.conversation.id, message=at)
    return ready, everything


def as_of_of(request: Request) -> str | None:
    """The moment that was asked about, in the archive's spelling."""
    given = request.query_params.get("as_of")
    return when(given, datetime.now(timezone.utc), end_of_day=True) if given else None


async def regions_of(request: Request, ready: RenderedConversation) -> dict[str, Markup]:
    """What surrounds the messages and changes with them, by the id of its element on the page.

    All of it: a command that goes on with what the source has thrown away since would lead the
    reader into another conversation.
    """
    talk = ready.talk
    doing = (await doing_now(request)).get(talk.conversation.id)
    values = {"about": talk.conversation, "doing": doing, **await _around(request, talk)}
    values["told"] = ready
    return {name: piece(request, template, **values) for name, template in _REGIONS.items()}


def _opens_at_end(request: Request, lively: bool) -> bool:
    """A talk that goes on is opened where it goes on, one that is over at its beginning."""
    return is_on(request, "end") or (lively and not is_on(request, "start"))


def _window(total: int, target: int | None, at_end: bool) -> UnitRange:
    if target is not None:
        return window_around(total, target)
    return last_window(total) if at_end else UnitRange(0, min(SIZE, total))


def _is_lively(talk: OpenConversation) -> bool:
    if talk.conversation.seen_once:
        return False
    last = to_datetime(talk.conversation.updated_at or "")
    return last is not None and datetime.now(timezone.utc) - last < LIVELY


def _rendered(
    request: Request, ready: RenderedConversation, window: UnitRange, target: int | None
) -> list[Markup]:
    # What a search found may stand where a long output is usually cut.
    whole = bool(request.query_params.get("q", "").strip())
    return [
        ready.opened(index, whole) if index == target else ready.render(index)
        for index in range(*window)
    ]


def _found_words(request: Request, ready: RenderedConversation, target: int | None) -> list[str]:
    """What a search that led here found in the message, as it is written there."""
    query = request.query_params.get("q", "")
    if target is None or not query.strip():
        return []
    wanted = ready.teller.units[target].messages
    docs = docs_of(message for message in ready.story.messages if message.id in wanted)
    try:
        matcher = Matcher(parse(query, datetime.now(timezone.utc), registry.names()))
        found = {
            safe(text[start:end]): None
            for doc in docs
            for _, text in doc.parts
            for start, end in matcher.spans(text, FOUND)
        }
    except (QueryError, TooSlow):
        return []
    return [word for word in found if word.strip()][:FOUND]


async def _around(request: Request, talk: OpenConversation) -> dict[str, Any]:
    """What it is tied to, and how to go on with it."""
    about = talk.conversation
    ties = await archive_reader_of(request).read(lambda archive: _ties(archive, about))
    if is_on(request, "mask"):
        masker = masker_of(request)
        ties = [(relation, masker.conversation(other)) for relation, other in ties]
    return {
        "ties": ties,
        "children": talk.children,
        "note": talk.notes.get("", ""),
        "own": scope_of(request).may_add,
        "resume": _resume(talk.here),
    }


async def _neighbours_of(request: Request, about: Conversation) -> list[Conversation]:
    """The conversations of its project that stand around it, newest first."""
    near = await archive_reader_of(request).read(lambda archive: _neighbours(archive, about))
    return (
        [masker_of(request).conversation(each) for each in near] if is_on(request, "mask") else near
    )


def _neighbours(archive: Archive, about: Conversation) -> list[Conversation]:
    if not about.project:
        return []
    wanted = Filter(project=about.project, below=False, hidden=False, limit=LOOKED)
    listed = list(archive.conversations(wanted))
    place = next((at for at, each in enumerate(listed) if each.id == about.id), 0)
    first = max(min(place - NEAR, len(listed) - 2 * NEAR - 1), 0)
    return listed[first : first + 2 * NEAR + 1]


def _ties(archive: Archive, about: Conversation) -> list[tuple[str, Conversation]]:
    """What others are to it. Asked for anew: a fork is found without a change of what it left."""
    links = archive.pick([about.id]).get(about.id, about).links
    told = [(RELATIONS.get((link.kind, link.side)), link.id) for link in links]
    known = archive.pick([other for _, other in told])
    return [(relation, known[other]) for relation, other in told if relation and other in known]


def _resume(about: Conversation) -> dict[str, str | None]:
    """The command that goes on with it; for one the source has lost, what brings it back."""
    reader = registry.find(about.source)
    if about.upstream == "gone":
        restore = f"rireki restore {about.id} --to DIR"
        after = reader.revive(about) if reader is not None else None
        return {"command": None, "restore": restore, "after": after}
    command = reader.resume(about) if reader is not None else None
    return {"command": command, "restore": None, "after": None}
