"""Errors as answers: a code, what went wrong, and what to do about it."""

from __future__ import annotations

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from rireki.errors import Ambiguous, ArchiveTrouble, NotFound, RirekiError
from rireki.search.language.query import QueryError
from rireki.show.json import line
from rireki.web.api.answers import ErrorBody, Failure
from rireki.web.api.body import TooLarge
from rireki.web.api.parameters import BadRequest
from rireki.web.locale.words import locale_of

__all__ = ["failure", "json_answer", "told"]

_KINDS: list[tuple[type[RirekiError], int, str]] = [
    (NotFound, 404, "not_found"),
    (Ambiguous, 409, "ambiguous"),
    (QueryError, 422, "query"),
    (BadRequest, 400, "bad_request"),
    (TooLarge, 413, "too_large"),
    (ArchiveTrouble, 503, "archive"),
    (RirekiError, 400, "refused"),
]
_log = logging.getLogger("rireki.web")


def json_answer(value: Any, status: int = 200) -> Response:
    return Response(line(value), status, media_type="application/json")


def failure(status: int, code: str, message: str, hint: str = "", **more: int) -> Response:
    return json_answer(Failure(ErrorBody(code=code, message=message, hint=hint, **more)), status)


def told(request: Request, error: Exception) -> Response:
    """The answer for anything that can be raised on the way to one."""
    if isinstance(error, RirekiError):
        status, code = next((s, c) for kind, s, c in _KINDS if isinstance(error, kind))
        place = (
            {"position": error.position, "length": error.length}
            if isinstance(error, QueryError)
            else {}
        )
        message, hint = error.lines(locale_of(request))
        return failure(status, code, message, hint, **place)
    if isinstance(error, HTTPException):
        hint = "/api/v1/openapi.json lists every address." if error.status_code == 404 else ""
        return failure(error.status_code, "http", f"{error.detail}: {request.url.path}", hint)
    _log.error("%s failed", request.url.path, exc_info=error)
    return failure(
        500,
        "bug",
        f"{request.url.path} failed: {type(error).__name__}",
        "This is a mistake in rireki: please report it with what `rireki serve` printed.",
    )
