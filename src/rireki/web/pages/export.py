"""A conversation to take away: the very documents that `rireki show --format` writes."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.intake.interpret import read_conversation
from rireki.model.conversation import Reading
from rireki.show.formats import FORMATS, FormatOptions, write
from rireki.show.safe import one_line
from rireki.show.transcript import Transcript
from rireki.web.locale.words import locale_of
from rireki.web.pages.conversation import as_of_of
from rireki.web.parts.frame import archive_reader_of, is_on, told
from rireki.web.parts.render_cache import masker_of, story_of

__all__ = ["export_conversation"]

_UNFIT = re.compile(r'[\\/:*?"<>|%\x00-\x1f]+')


@told
async def export_conversation(request: Request) -> Response:
    """`/export/ID?format=NAME`, with `all`, `full`, `as_of` and `mask` as on the page."""
    form = request.query_params.get("format", "markdown")
    if form not in FORMATS:
        raise RirekiError("no-format", name=form, names=[*FORMATS])
    as_of = as_of_of(request)
    archive_reader = archive_reader_of(request)
    talk = await archive_reader.talk(request.path_params["id"], as_of)
    if is_on(request, "mask"):
        talk = await run_in_threadpool(talk.masked, masker_of(request))
    story = story_of(talk, is_on(request, "all"), as_of)
    options = FormatOptions(locale_of(request), is_on(request, "full"))
    document = await archive_reader.read(
        lambda archive: _document(archive, form, story, options, as_of)
    )
    return Response(
        # Half a surrogate pair cannot be written; everything else is as the command writes it.
        document.encode(errors="replace"),
        media_type=f"{FORMATS[form].media_type}; charset=utf-8",
        headers={"content-disposition": _disposition(story, FORMATS[form].ending)},
    )


def _document(
    archive: Archive, form: str, story: Transcript, options: FormatOptions, as_of: str | None
) -> str:
    @cache
    def reading() -> Reading:
        """Read once more, and only where there are attachments to be put in."""
        return read_conversation(archive, archive.find(story.conversation.id), as_of)

    options = options._replace(attachment_bytes=lambda part: reading().attachment(part.digest))
    return "".join(write(form, story, options))


def _disposition(story: Transcript, ending: str) -> str:
    """A download under the conversation's title, spelled for browsers old and new."""
    about = story.conversation
    title = _UNFIT.sub(" ", one_line(about.title)).strip(" .")[:80] or "conversation"
    plain = "".join(letter if letter.isascii() else "_" for letter in title)
    encoded = quote(f"{title}.{ending}", safe="", errors="replace")
    return f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{encoded}"
