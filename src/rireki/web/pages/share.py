"""A conversation for other people: what is masked in it, and then the file."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.export.sharing import ENDINGS, Shared, share, turns_of_range
from rireki.web.locale.words import locale_of
from rireki.web.pages.conversation import as_of_of
from rireki.web.pages.export import disposition
from rireki.web.parts.frame import archive_reader_of, number_of, page, told

__all__ = ["show_share"]

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".zip": "application/zip",
}


@told
async def show_share(request: Request) -> Response:
    """`/share/ID?turns=A-B`: what would be masked; with `file=html` (`md`, `zip`) the file itself."""
    number = await number_of(request)
    id, turns = request.path_params["id"], request.query_params.get("turns", "").strip()
    wanted = turns_of_range(turns) if turns else None
    file = request.query_params.get("file")
    locale, as_of = locale_of(request), as_of_of(request)

    def prepared(archive: Archive) -> tuple[Shared, bytes | None]:
        shared = share(archive, id, wanted, locale, as_of)
        return shared, None if file is None else shared.content(f".{file}")

    shared, content = await archive_reader_of(request).read(prepared)
    about = shared.transcript.conversation
    if content is not None:
        headers = {"content-disposition": disposition(about, str(file))}
        return Response(content, media_type=_KINDS[f".{file}"], headers=headers)
    return page(
        request,
        "share.html",
        number=number,
        about=about,
        masked=sorted(shared.masked.items()),
        turns=turns,
        as_of=as_of,
        messages=len(shared.transcript.messages),
        files=[ending[1:] for ending in ENDINGS],
    )
