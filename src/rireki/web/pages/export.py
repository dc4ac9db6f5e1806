"""A conversation to take away: the very documents that `rireki show --format` writes."""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.intake.interpret import read_conversation
from rireki.show.html.export import export_html
from rireki.show.html.page import RenderOptions
from rireki.show.json import line
from rireki.show.markdown import markdown
from rireki.show.safe import one_line
from rireki.show.transcript import Transcript
from rireki.web.locale.words import locale_of
from rireki.web.pages.conversation import as_of_of
from rireki.web.parts.frame import archive_reader_of, is_on, told
from rireki.web.parts.render_cache import story_of

__all__ = ["export_conversation"]

#: The ending and the type of each format.
FORMS = {
    "markdown": ("md", "text/markdown"),
    "html": ("html", "text/html"),
    "json": ("json", "application/json"),
}
_UNFIT = re.compile(r'[\\/:*?"<>|%\x00-\x1f]+')


@told
async def export_conversation(request: Request) -> Response:
    """`/export/ID?format=markdown|html|json`, with `all`, `full` and `as_of` as on the page."""
    form = request.query_params.get("format", "markdown")
    if form not in FORMS:
        raise RirekiError(
            f"{form!r} is no format to write a conversation in",
            f"Choose one of {', '.join(FORMS)}.",
        )
    as_of = as_of_of(request)
    archive_reader = archive_reader_of(request)
    talk = await archive_reader.talk(request.path_params["id"], as_of)
    story = story_of(talk, is_on(request, "all"), as_of)
    full, locale = is_on(request, "full"), locale_of(request)
    if form == "html":
        document = await archive_reader.read(
            lambda archive: _html(archive, story, as_of, full, locale)
        )
    elif form == "json":
        document = await run_in_threadpool(_json, story)
    else:
        document = await run_in_threadpool(_markdown, story, full)
    ending, kind = FORMS[form]
    return Response(
        # Half a surrogate pair cannot be written; everything else is as the command writes it.
        document.encode(errors="replace"),
        media_type=f"{kind}; charset=utf-8",
        headers={"content-disposition": _disposition(story, ending)},
    )


def _markdown(story: Transcript, full: bool) -> str:
    return "".join(f"{row}\n" for row in markdown(story, full))


def _html(archive: Archive, story: Transcript, as_of: str | None, full: bool, locale: str) -> str:
    """With its pictures inside, so that it can be kept and sent as one file."""
    found = archive.find(story.conversation.id)
    bytes_of = read_conversation(archive, found, as_of).attachment
    look = RenderOptions(locale=locale, attachment_bytes=lambda part: bytes_of(part.digest))
    return "".join(export_html(story, look, full))


def _json(story: Transcript) -> str:
    return line({"conversation": story.conversation, "messages": story.messages}) + "\n"


def _disposition(story: Transcript, ending: str) -> str:
    """A download under the conversation's title, spelled for browsers old and new."""
    about = story.conversation
    title = _UNFIT.sub(" ", one_line(about.title)).strip(" .")[:80] or "conversation"
    plain = "".join(letter if letter.isascii() else "_" for letter in title)
    encoded = quote(f"{title}.{ending}", safe="", errors="replace")
    return f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{encoded}"
