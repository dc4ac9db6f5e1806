"""What a person adds: a title, tags, a star, notes, hiding; and forgetting, which can be taken back.

Plain forms, which come back to where they were sent from; a script gets the pieces that changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rireki.archive.base import Archive, Found
from rireki.errors import NotFound, RirekiError
from rireki.intake.curate import (
    notes_of,
    save_search,
    set_hidden,
    set_note,
    set_starred,
    set_tags,
    set_title,
    tags_of_all,
)
from rireki.intake.forget import forget_soon, keep_after_all
from rireki.show.heading import facts
from rireki.show.safe import safe_for_browsers
from rireki.web.pages.conversation import regions_of
from rireki.web.parts import urls
from rireki.web.parts.form import read_form
from rireki.web.parts.frame import answer, archive_reader_of, is_on, page, piece, told
from rireki.web.parts.leaving import schedule
from rireki.web.parts.render_cache import told_of
from rireki.web.scope import scope_of

__all__ = [
    "change_conversation",
    "forget_conversation",
    "keep_searches",
    "show_curate",
    "show_forget",
]


@told
async def show_curate(request: Request) -> Response:
    """`/curate/ID`: the form; with `?message=` that of a note on a message."""
    _ensure_own(request)
    id = request.path_params["id"]
    message = request.query_params.get("message", "")
    ready = await told_of(request, id, everything=bool(message))
    if message and ready.place(message) is None:
        raise NotFound("no-message-at", id=ready.talk.conversation.id, message=message)
    about = ready.talk.conversation

    def look(archive: Archive) -> dict[str, Any]:
        found = archive.find(about.id)
        notes = {note.message: note.text for note in notes_of(archive, found)}
        return {"note": notes.get(message, ""), "known_tags": list(tags_of_all(archive))}

    values: dict[str, Any] = {"about": about, "message": message}
    values |= await archive_reader_of(request).read(look)
    if is_on(request, "fragment"):
        return answer({"html": piece(request, "_curate.html", as_dialog=True, **values)})
    return page(request, "curate.html", **values)


@told
async def change_conversation(request: Request) -> Response:
    """What a form of `/curate/ID` says, and the star beside a title."""
    _ensure_own(request)
    said = await read_form(request)
    id, message = request.path_params["id"], said.get("message", "")
    if message:
        message = await _message(request, id, message)

    def work(archive: Archive) -> str:
        found = archive.find(id)
        _change(archive, found, said, message)
        return found.conversation.id

    id = await archive_reader_of(request).read(work)
    back = urls.message_url(id, message) + "#opened" if message else urls.conversation_url(id)
    if not is_on(request, "fragment"):
        return RedirectResponse(back, 303)
    return answer(await _pieces(request, id, message))


def _change(archive: Archive, found: Found, said: Mapping[str, str], message: str) -> None:
    if "star" in said:
        set_starred(archive, found, said["star"] == "1")
    if "note" in said:
        set_note(archive, found, said["note"] if said["note"].strip() else None, message)
    if "title" in said:
        given = " ".join(said["title"].split())
        shown = safe_for_browsers(found.conversation.title)
        if given != " ".join(shown.split()):
            set_title(archive, found, given or None)
    if "tags" in said:
        wanted = [tag for tag in said["tags"].replace("、", ",").split(",") if tag.strip(" #")]
        kept = {tag.strip().removeprefix("#").casefold() for tag in wanted}
        gone = [tag for tag in found.conversation.added.tags if tag.casefold() not in kept]
        set_tags(archive, found, wanted, gone)
    if "hidden" in said:
        set_hidden(archive, found, said["hidden"] == "1")


async def _message(request: Request, id: str, name: str) -> str:
    """The whole id of a message."""
    ready = await told_of(request, id, everything=True)
    place = ready.place(name)
    if place is None:
        raise NotFound("no-message-at", id=ready.talk.conversation.id, message=name)
    return ready.teller.units[place].id


async def _pieces(request: Request, id: str, message: str) -> dict[str, Any]:
    """What of an open page is another now."""
    ready = await told_of(request, id, everything=bool(message))
    place = ready.place(message) if message else None
    unit = None
    if place is not None:
        html = await run_in_threadpool(ready.render, place)
        unit = {"id": ready.name(place), "html": html}
    about = ready.talk.conversation
    return {
        "regions": await regions_of(request, ready),
        "title": str(piece(request, "_title.html", about=about)),
        "starred": about.added.starred,
        "unit": unit,
    }


# ── forgetting ──


@told
async def show_forget(request: Request) -> Response:
    """`/forget/ID`: the question, as the command asks it."""
    _ensure_own(request)
    found = await archive_reader_of(request).read(lambda a: a.find(request.path_params["id"]))
    about = found.conversation
    values: dict[str, Any] = {"about": about, "facts": list(facts(about))}
    if is_on(request, "fragment"):
        return answer({"html": piece(request, "_forget.html", as_dialog=True, **values)})
    return page(request, "forget.html", **values)


@told
async def forget_conversation(request: Request) -> Response:
    """Yes to that question; or, with `undo`, no after all."""
    _ensure_own(request)
    said = await read_form(request)
    undo, now = "undo" in said, datetime.now(timezone.utc)

    def work(archive: Archive) -> str:
        found = archive.find(request.path_params["id"])
        if undo:
            keep_after_all(archive, found)
        else:
            forget_soon(archive, found, now)
        return found.conversation.id

    id = await archive_reader_of(request).read(work)
    if not undo:
        schedule(archive_reader_of(request))
    return RedirectResponse(urls.conversation_url(id) if undo else "/", 303)


# ── searches ──


@told
async def keep_searches(request: Request) -> Response:
    """A search is saved under a name, or a saved one taken away."""
    _ensure_own(request)
    said = await read_form(request)
    query = said.get("q", "")
    name = said.get("name", "").strip() or query
    wanted = None if "remove" in said else query
    await archive_reader_of(request).read(lambda archive: save_search(archive, name, wanted))
    return RedirectResponse(urls.search_url(query) if query else "/search", 303)


def _ensure_own(request: Request) -> None:
    """One adds to one's own archive; what others see of it is not theirs to change."""
    if not scope_of(request).may_add:
        raise RirekiError("not-yours-to-add")
