"""Pieces of pages for scripts: messages before, after or around another, and those that changed.

Each answer names units by their ids and says what stands before them, so that a
page can put them where they belong without being made anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.errors import NotFound
from rireki.show.transcript import prompts_before
from rireki.web.pages.conversation import (
    SIZE,
    UnitRange,
    last_window,
    regions_of,
    told_at,
    window_around,
)
from rireki.web.pages.drive import drive_region
from rireki.web.parts.frame import answer, is_on, number_of, piece, told
from rireki.web.parts.render_cache import OutlinePrompt, RenderedConversation

__all__ = ["conversation_fragments"]

#: More changed messages than this are not sent one by one: the page asks for its window again.
MANY = 200


@told
async def conversation_fragments(request: Request) -> Response:
    """`/fragments/ID` with one of `around`, `before`, `after`, `messages`, `end`, `outline`."""
    number = await number_of(request)
    given = request.query_params
    ready, _ = await told_at(request, given.get("around"))
    if is_on(request, "outline"):
        html = await run_in_threadpool(piece, request, "_outline.html", told=ready)
        return answer({"number": number, "html": html})
    if "messages" in given:
        return answer(await _changed(request, ready, number))
    window = _window(request, ready)
    if window is None:
        # The page goes by a message that has become another meanwhile: it has to look again.
        return answer({"number": number, "total": len(ready), "units": [], "gone": True})
    units = await run_in_threadpool(_units, ready, range(*window))
    around = ready.place(given["around"]) if "around" in given else None
    at = ready.name(around) if around is not None else None
    told = {"number": number, "total": len(ready), "at": at, "units": units}
    return answer({**told, "journal": ready.talk.journal.number})


def _window(request: Request, ready: RenderedConversation) -> UnitRange | None:
    given = request.query_params
    total = len(ready)
    edge = given.get("before") or given.get("after")
    if edge:
        hint = given.get("index", "")
        place = ready.place(edge, int(hint) if hint.isdecimal() and len(hint) < 9 else None)
        if place is None:
            return None
        if "before" in given:
            return UnitRange(max(place - SIZE, 0), place)
        return UnitRange(place + 1, min(place + 1 + SIZE, total))
    if "around" in given:
        return window_around(total, _index(ready, given["around"]))
    return last_window(total) if is_on(request, "end") else UnitRange(0, min(SIZE, total))


def _index(ready: RenderedConversation, message: str) -> int:
    index = ready.place(message)
    if index is None:
        raise NotFound("message-gone", id=ready.talk.conversation.id, message=message)
    return index


def _units(ready: RenderedConversation, indexes: Iterable[int]) -> list[dict[str, Any]]:
    return [
        {
            "id": ready.name(index),
            "index": index,
            "after": ready.name(index - 1) if index else None,
            "html": ready.render(index),
        }
        for index in indexes
    ]


async def _changed(request: Request, ready: RenderedConversation, number: int) -> dict[str, Any]:
    """The units that tell these messages, and the head of the conversation, which counts them."""
    wanted = _named(ready, request.query_params.getlist("messages"))
    # A prompt does not change when it is answered, but its mark does.
    wanted += prompts_before(ready.story.messages, set(wanted))
    places = sorted({index for index in map(ready.place, wanted) if index is not None})
    if len(places) > MANY:
        return {"number": number, "many": True}
    # What ended a turn before does not any more: what the turn took is told behind its last message.
    places = sorted({*places, *(place - 1 for place in places if _goes_on(ready, place))})
    prompts = await run_in_threadpool(_prompts, ready, set(places))
    return {
        **_tail(ready),
        "number": number,
        "total": len(ready),
        "journal": ready.talk.journal.number,
        "units": await run_in_threadpool(_units, ready, places),
        "title": str(piece(request, "_title.html", about=ready.talk.conversation)),
        "regions": await regions_of(request, ready),
        # Whether an agent can go on with it from this page.
        "continues": not is_on(request, "mask") and drive_region(request, ready.talk) is not None,
        "outline": [
            {"id": p.id, "html": piece(request, "_prompt.html", told=ready, prompt=p)}
            for p in prompts
        ],
    }


def _goes_on(ready: RenderedConversation, place: int) -> bool:
    turn = ready.turns[place]
    return turn in (ready.look.spent or ()) and place > 0 and ready.turns[place - 1] == turn


def _tail(ready: RenderedConversation) -> dict[str, Any]:
    """The order of the last units, where it may change: what waits in a queue stands behind all else."""
    if not ready.talk.journal.number:
        return {}
    first = max(len(ready) - SIZE, 0)
    return {"tail": {"first": first, "ids": [ready.name(i) for i in range(first, len(ready))]}}


def _prompts(ready: RenderedConversation, places: set[int]) -> list[OutlinePrompt]:
    """The lines of the outline that changed."""
    return [prompt for prompt in ready.outline(places) if prompt.place in places]


def _named(ready: RenderedConversation, given: list[str]) -> list[str]:
    """Ids, each for itself or several with commas between them."""
    names: list[str] = []
    for value in given:
        names += [value] if ready.place(value) is not None else value.split(",")
    return [name for name in names if name]
