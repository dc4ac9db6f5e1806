"""A conversation to take away: the very documents that `rireki show --format` writes."""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.export.documents import Wish, document
from rireki.export.files import native_zip
from rireki.masking import Masker
from rireki.model.conversation import Conversation
from rireki.show.formats import FORMATS, NATIVE
from rireki.show.safe import one_line
from rireki.web.locale.words import locale_of
from rireki.web.pages.conversation import as_of_of
from rireki.web.parts.frame import archive_reader_of, is_on, told

__all__ = ["disposition", "export_conversation"]

_UNFIT = re.compile(r'[\\/:*?"<>|%\x00-\x1f]+')


@told
async def export_conversation(request: Request) -> Response:
    """`/export/ID?format=NAME`, with `all`, `full`, `as_of` and `mask` as on the page."""
    form = request.query_params.get("format", "markdown")
    if form not in FORMATS:
        raise RirekiError("no-format", name=form, names=[*FORMATS])
    wish = Wish(
        form,
        locale_of(request),
        as_of_of(request),
        everything=is_on(request, "all"),
        full=is_on(request, "full"),
        masked=is_on(request, "mask"),
    )
    id = request.path_params["id"]
    about, content = await archive_reader_of(request).read(
        lambda archive: _document(archive, id, wish)
    )
    kind = FORMATS[form].media_type
    return Response(
        content,
        media_type=kind if form == NATIVE else f"{kind}; charset=utf-8",
        headers={"content-disposition": disposition(about, FORMATS[form].ending)},
    )


def _document(archive: Archive, id: str, wish: Wish) -> tuple[Conversation, bytes]:
    if wish.form == NATIVE:
        about = archive.find(id).conversation
        # The title is the name of the file.
        about = Masker.for_home(archive.home).conversation(about) if wish.masked else about
        return about, native_zip(archive, id, wish)
    made = document(archive, id, wish)
    # Half a surrogate pair cannot be written; everything else is as the command writes it.
    content = b"".join(piece.encode(errors="replace") for piece in made.pieces())
    return made.transcript.conversation, content


def disposition(about: Conversation, ending: str) -> str:
    """A download under the conversation's title, spelled for browsers old and new."""
    title = _UNFIT.sub(" ", one_line(about.title)).strip(" .")[:80] or "conversation"
    plain = "".join(letter if letter.isascii() else "_" for letter in title)
    encoded = quote(f"{title}.{ending}", safe="", errors="replace")
    return f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{encoded}"
