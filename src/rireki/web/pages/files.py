"""The files a conversation changed, each with what became of it from the first edit to the last."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.show.edits import ChangedFile, EditSpot, changed_files
from rireki.show.html.changes import render_spot
from rireki.show.html.page import LINES, SIZE, RenderOptions
from rireki.web.archive_reader import OpenConversation
from rireki.web.locale.words import locale_of
from rireki.web.pages.conversation import as_of_of
from rireki.web.parts import urls
from rireki.web.parts.frame import archive_reader_of, is_on, number_of, page, told
from rireki.web.parts.render_cache import masker_of

__all__ = ["FileDiff", "Place", "show_files"]

#: Characters of diffs on one page; files behind them are shown when they are asked for.
MOST = 1_500_000
#: Messages that are named at one place.
NAMED = 8


class Place(NamedTuple):
    """A place in a file: the diff, and the messages it came from, each with its turn."""

    shown: Markup
    messages: list[tuple[str, int]]
    whole: bool


class FileDiff(NamedTuple):
    file: ChangedFile
    #: Whether one of its places may be cut.
    is_long: bool
    #: None where it has to be asked for: there is too much for one page.
    places: list[Place] | None
    added: int = 0
    removed: int = 0


@told
async def show_files(request: Request) -> Response:
    """`/files/ID`, and `file=PATH` for one of them alone."""
    number = await number_of(request)
    talk = await archive_reader_of(request).talk(request.path_params["id"], as_of_of(request))
    if is_on(request, "mask"):
        talk = await run_in_threadpool(talk.masked, masker_of(request))
    files = await run_in_threadpool(_files, request, talk)
    chosen = request.query_params.get("file")
    return page(
        request,
        "files.html",
        number=number,
        about=talk.conversation,
        files=files,
        chosen=chosen,
        children=talk.children,
        added=sum(each.added for each in files),
        removed=sum(each.removed for each in files),
        # What the address says of the conversation is said by its links as well.
        kept={name: request.query_params.get(name) for name in ("as_of", "mask")},
    )


def _files(request: Request, talk: OpenConversation) -> list[FileDiff]:
    chosen = request.query_params.get("file")
    turns = {message.id: message.turn or 0 for message in talk.messages}
    id = talk.conversation.id
    look = RenderOptions(
        locale=locale_of(request),
        raw_url=lambda message: urls.raw_url(id, [message]),
        full=chosen is not None,
    )
    room, told = MOST, []
    for file in changed_files(talk.messages, talk.conversation.project):
        if chosen not in (None, file.path):
            continue
        if room <= 0:
            told.append(FileDiff(file, True, None))
            continue
        told.append(_diff(file, turns, look))
        room -= sum(len(place.shown) for place in told[-1].places or [])
    return told


def _diff(file: ChangedFile, turns: dict[str, int], look: RenderOptions) -> FileDiff:
    shown = [(spot, render_spot(spot, look)) for spot in file.left]
    tell = partial(_place, turns)
    return FileDiff(
        file,
        not look.full and any(_is_long(spot) for spot in file.left),
        [tell(spot, diff.shown) for spot, diff in shown],
        sum(diff.added for _, diff in shown),
        sum(diff.removed for _, diff in shown),
    )


def _is_long(spot: EditSpot) -> bool:
    words = spot.before + spot.after
    return len(words) > SIZE or words.count("\n") > LINES


def _place(turns: dict[str, int], spot: EditSpot, shown: Markup) -> Place:
    # One link for each turn: the first message that changed something in it.
    first = {turns.get(message, 0): message for message in reversed(spot.messages)}
    named = [(message, turn) for turn, message in sorted(first.items())]
    return Place(shown, named[:NAMED], spot.whole)
