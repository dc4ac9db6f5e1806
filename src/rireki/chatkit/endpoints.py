"""The addresses of attachments, to be mounted in any Starlette or FastAPI app.

    PUT, POST  /{id}          the bytes, as they are or as the field `file` of a form
    GET        /{id}          the bytes, to be saved
    GET        /{id}/preview  a picture, to be shown; with its key

A stranger learns nothing: what is somebody else's is not there.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeVar
from urllib.parse import quote

from chatkit.store import NotFoundError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route, Router

from rireki.chatkit.attachments import AttachmentContent, AttachmentRefused, RirekiAttachmentStore

__all__ = ["attachment_app"]

TContext = TypeVar("TContext")

PIECE = 64 << 10
#: What a form may have around its file.
FORM = 16 << 10
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def attachment_app(
    attachments: RirekiAttachmentStore[TContext],
    context: Callable[[Request], TContext | Awaitable[TContext]],
) -> Router:
    """`context` makes of a request what the app hands to ChatKit: it says who asks."""

    async def who(request: Request) -> TContext:
        found = context(request)
        return await found if isawaitable(found) else found

    async def upload(request: Request) -> Response:
        name = request.path_params["id"]
        taken = await attachments.receive(name, _bytes(request, attachments), await who(request))
        value = json.loads(taken.model_dump_json(exclude_none=True))
        value.pop("metadata", None)
        return JSONResponse(value)

    async def download(request: Request) -> Response:
        content = await attachments.content(request.path_params["id"], await who(request))
        return _sent(content, "attachment")

    async def preview(request: Request) -> Response:
        key = request.query_params.get("key", "")
        return _sent(await attachments.preview(request.path_params["id"], key), "inline")

    return Router(
        [
            Route("/{id}", _answered(upload), methods=["PUT", "POST"]),
            Route("/{id}", _answered(download), methods=["GET"]),
            Route("/{id}/preview", _answered(preview), methods=["GET"]),
        ]
    )


def _answered(
    endpoint: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """What is refused, as an answer that says why."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except NotFoundError:
            name = request.path_params["id"]
            return JSONResponse({"error": f"there is no attachment {name}"}, 404)
        except AttachmentRefused as error:
            return JSONResponse({"error": error.message, "hint": error.hint}, error.status)
        except MultiPartException as error:
            return JSONResponse({"error": f"the form cannot be read ({error.message})"}, 400)

    return answer


async def _bytes(request: Request, attachments: RirekiAttachmentStore[Any]) -> AsyncIterator[bytes]:
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        async for chunk in request.stream():
            yield chunk
        return
    limited = _limited(request, attachments.max_bytes + FORM)
    form = await MultiPartParser(request.headers, limited, max_files=1, max_fields=10).parse()
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise AttachmentRefused(400, "form-without-file")
        while chunk := await file.read(PIECE):
            yield chunk
    finally:
        await form.close()


async def _limited(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """A form is read before its file is known: no more of it than the largest file needs."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise AttachmentRefused(413, "upload-too-large", most=most)
        yield chunk


def _sent(content: AttachmentContent, disposition: str) -> Response:
    name = f"{disposition}; filename*=UTF-8''{quote(content.name, safe='')}"
    headers = {**_HEADERS, "Content-Disposition": name}
    return FileResponse(content.path, media_type=content.mime_type, headers=headers)
