"""What pages say about driven agents: a new conversation, all that waits, the part below a talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.drive.agents import AgentProgram
from rireki.drive.checks import checked_project
from rireki.drive.values import Ask, Status
from rireki.errors import NotFound, RirekiError
from rireki.model.conversation import Conversation
from rireki.show.handover import so_far
from rireki.show.html.calls import raw_value
from rireki.show.html.code import code_block
from rireki.show.html.diff import TextChange, diff
from rireki.show.html.markup import Markup, anchor, join, tag
from rireki.show.html.page import Page, RenderOptions
from rireki.show.html.prose import prose
from rireki.show.html.shapes import asked
from rireki.sources import registry
from rireki.web.archive_reader import OpenConversation
from rireki.web.driving import OFF, PREFIX, Driving
from rireki.web.locale.words import locale_of, say
from rireki.web.parts.frame import answer, archive_reader_of, is_on, number_of, page, piece, told
from rireki.web.projects import is_allowed, recent_projects
from rireki.web.scope import scope_of

__all__ = [
    "asks_piece",
    "begun_conversation",
    "drive_region",
    "driving_of",
    "goes_on_elsewhere",
    "obstacle_of",
    "show_inbox",
    "show_new",
    "tell_ask",
]


class Region(NamedTuple):
    """What stands below a conversation: a session that drives it, or agents that could."""

    #: The drive id; empty when nobody drives it.
    session: str
    agents: list[AgentProgram]


class Card(NamedTuple):
    ask: Ask
    status: Status
    title: str
    detail: Markup


@told
async def show_new(request: Request) -> Response:
    """`/new`: where an agent is to work, which one, and what it is to do."""
    driving = _on(request)
    number = await number_of(request)
    projects = await archive_reader_of(request).read(
        lambda archive: recent_projects(archive, driving.settings)
    )
    given = request.query_params.get("from")
    earlier = await archive_reader_of(request).talk(given) if given else None
    agents = driving.settings.agents
    roots = [str(root) for root in driving.roots]
    wanted = request.query_params.get("project") or (earlier and earlier.conversation.project)
    return page(
        request,
        "drive_new.html",
        number=number,
        projects=projects,
        chosen=wanted or (projects or roots)[0],
        earlier=earlier.conversation if earlier else None,
        prefilled=await run_in_threadpool(_so_far, earlier, locale_of(request)) if earlier else "",
        agents=_offered(agents, earlier.conversation if earlier else None),
        absent=[agent for agent in agents if not agent.found],
        roots=roots,
    )


def _offered(agents: Sequence[AgentProgram], earlier: Conversation | None) -> list[AgentProgram]:
    """Those that are here; of a conversation that is to go on elsewhere, its own agent last."""
    here = [agent for agent in agents if agent.found]
    own = {earlier.source, *earlier.held_by} if earlier else set()
    return sorted(here, key=lambda agent: agent.source in own)


def _so_far(earlier: OpenConversation, locale: str) -> str:
    """The conversation as the beginning of a prompt that the person looks over and sends."""
    found = so_far(earlier.messages)
    gap = say(locale, "[Messages left out here: {n}]", n=found.left_out) if found.left_out else ""
    source = earlier.conversation.source
    pieces = [
        say(locale, "This conversation was held with another agent ({agent}):", agent=source),
        "---",
        found.opening,
        gap,
        found.newest,
        "---",
        say(locale, "Go on with it from here."),
    ]
    return "\n\n".join(piece for piece in pieces if piece)


@told
async def show_inbox(request: Request) -> Response:
    """`/inbox`: everything that waits for the person, the eldest first."""
    driving = _on(request)
    number = await number_of(request)
    statuses = [session.status for session in driving.bridge.sessions()]
    cards = await run_in_threadpool(lambda: list(_cards(statuses, locale_of(request))))
    return page(request, "drive_inbox.html", number=number, cards=cards, where=True)


@told
async def asks_piece(request: Request) -> Response:
    """`/fragments/asks?session=`: the cards of what these sessions wait for."""
    driving = _on(request)
    statuses = [
        session.status
        for id in request.query_params.getlist("session")
        if (session := driving.session_of(PREFIX + id)) is not None
    ]
    cards = await run_in_threadpool(lambda: list(_cards(statuses, locale_of(request))))
    where = is_on(request, "where")
    asks = [
        {
            "id": card.ask.id,
            "title": card.title,
            "html": piece(request, "_drive_ask.html", card=card, where=where),
        }
        for card in cards
    ]
    return answer({"asks": asks})


def _cards(statuses: Sequence[Status], locale: str) -> Iterator[Card]:
    waiting = [(ask, status) for status in statuses for ask in status.asks]
    for ask, status in sorted(waiting, key=lambda each: each[0].number):
        yield Card(ask, status, _title(ask, status, locale), tell_ask(ask, locale))


def _title(ask: Ask, status: Status, locale: str) -> str:
    if ask.what != "prompts":
        return ask.title
    return say(locale, "Prompts from before rireki was restarted: {n}", n=len(status.recovered))


# ── Below a conversation ──


def driving_of(request: Request) -> Driving | None:
    return scope_of(request).driving


def drive_region(request: Request, talk: OpenConversation) -> Region | None:
    """None where agents are not driven, or neither drive this one nor could."""
    driving = driving_of(request)
    if driving is None:
        return None
    about = talk.here
    session = driving.session_of(about.id, talk.journal.session)
    if session is not None:
        return Region(session.status.id, [])
    agents = _could_go_on(driving, about)
    return Region("", agents) if agents else None


class Obstacle(NamedTuple):
    """Why no agent can go on with a conversation from here, and what to do about it."""

    why: str
    hint: str
    #: The command that changes it.
    command: str = ""


def obstacle_of(request: Request, talk: OpenConversation) -> Obstacle | None:
    """None where agents are not driven, where one can go on, and where none ever could."""
    driving, about = driving_of(request), talk.here
    if driving is None or not _goes_on_somewhere(about) or drive_region(request, talk) is not None:
        return None
    assert about.project is not None
    locale = locale_of(request)
    try:
        checked_project(about.project, driving.roots)
    except RirekiError as error:
        if not Path(about.project).is_dir():
            return Obstacle(*error.lines(locale))
        return Obstacle(
            error.lines(locale)[0],
            say(locale, "To continue it here, start the server so:"),
            _wider(driving, about.project),
        )
    why = say(locale, "No agent on this machine goes on with it.")
    return Obstacle(why, _how_to_get(driving, about))


def _wider(driving: Driving, project: str) -> str:
    """How to serve with one root more. The roots there are stay."""
    roots = [*map(str, driving.roots), project]
    return " ".join(["rireki serve --drive", *(f"--root {quote(root)}" for root in roots)])


def _how_to_get(driving: Driving, about: Conversation) -> str:
    reasons = [agent.reason for agent in _holders(driving, about) if agent.reason]
    return "; ".join(reasons)


def _goes_on_somewhere(about: Conversation) -> bool:
    """Whether its own agent could go on with it, wherever that may be."""
    if about.upstream == "gone" or about.nature != "conversation" or not about.project:
        return False
    reader = registry.find(about.source)
    return reader is not None and reader.resume(about) is not None


def _holders(driving: Driving, about: Conversation) -> list[AgentProgram]:
    holders = {about.source, *about.held_by}
    return [agent for agent in driving.settings.agents if agent.source in holders]


def _could_go_on(driving: Driving, about: Conversation) -> list[AgentProgram]:
    """The agents that are here and know the conversation, if its directory is one of ours."""
    if not _goes_on_somewhere(about) or not is_allowed(driving.settings, about.project or ""):
        return []
    return [agent for agent in _holders(driving, about) if agent.found]


def goes_on_elsewhere(request: Request, talk: OpenConversation) -> bool:
    """Whether an agent is here that could be told of the conversation and go on from there."""
    driving = driving_of(request)
    here = driving is not None and any(agent.found for agent in driving.settings.agents)
    return here and any(message.author in ("person", "agent") for message in talk.messages)


def begun_conversation(request: Request, id: str) -> OpenConversation | None:
    """A conversation that was begun from here, and is not in the archive yet."""
    driving = driving_of(request)
    session = driving.session_of(id) if driving else None
    if session is None:
        return None
    status = session.status
    source, _, native = status.conversation.partition("/")
    about = Conversation(
        id=status.conversation if native else PREFIX + status.id,
        source=source,
        native_id=native or status.id,
        project=status.project,
        title=status.title,
        started_at=status.started_at or None,
        updated_at=status.started_at or None,
    )
    return OpenConversation(
        conversation=about,
        here=about,
        family=source,
        grouping=native,
        messages=[],
        changed=0,
        children=[],
    )


def _on(request: Request) -> Driving:
    driving = driving_of(request)
    if driving is None:
        raise NotFound(OFF)
    return driving


# ── What an agent wants to do ──


def tell_ask(ask: Ask, locale: str) -> Markup:
    """The part of a card that says what would be done: the command, the change, the plan, every argument.

    Nothing is cut: whoever allows something has to have seen all of it.
    """
    page = Page(RenderOptions(locale=locale, full=True), anchor(ask.id, "ask"), ask.id, level=3)
    return join(_told(ask, page, locale))


def _told(ask: Ask, page: Page, locale: str) -> Iterator[Markup]:
    if ask.what == "plan" and ask.detail:
        yield tag("div", prose(ask.detail, page), class_="plan")
        return
    if ask.diffs:
        yield from (_changed(change, page) for change in ask.diffs)
    shape = None
    if isinstance(ask.arguments, Mapping):
        shape = asked(ask.arguments, [], page)
        if shape is not None and not ask.diffs:
            yield shape.body
    if ask.arguments and ask.what == "permission":
        inside = tag("div", raw_value(ask.arguments, page), class_="inside")
        summary = tag("summary", say(locale, "Every argument"))
        # Where no form is known for it, this is all there is to see.
        bare = shape is None and not ask.diffs
        yield tag("details", summary, inside, class_="call", open=bare)
    if ask.detail and not ask.diffs and shape is None:
        yield code_block(ask.detail, "", page)


def _changed(change: Mapping[str, Any], page: Page) -> Markup:
    old, new = change.get("old") or "", change.get("new") or ""
    return diff([TextChange(str(old), str(new), str(change.get("path") or ""))], page).shown
