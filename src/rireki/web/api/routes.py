"""Every address of the API, and the way from a request to its answer.

Ids have slashes in them, and an agent may put more into its own: in an address
each id is written as two segments, `SOURCE/NATIVE_ID`, with whatever is special
percent-encoded. So the address is taken apart before it is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# Each enters its addresses when it is imported.
from rireki.web.api import conversations, drive, general, raw  # noqa: F401
from rireki.web.api.body import read_body
from rireki.web.api.call import OPERATIONS, PREFIX, TALK, ApiCall, Operation
from rireki.web.api.events import DriveEvents, Events
from rireki.web.api.failures import json_answer, told
from rireki.web.api.openapi import document
from rireki.web.api.parameters import plain, read_asked
from rireki.web.locale.words import locale_of
from rireki.web.scope import scope_of

__all__ = ["OPERATIONS", "PREFIX", "ROUTES"]


async def _answer(request: Request, operation: Operation, names: Mapping[str, str]) -> Response:
    try:
        asked = read_asked(request, operation.asks)
        scope = scope_of(request)
        body = await read_body(request, operation.takes) if operation.takes else None
        locale = locale_of(request)
        call = ApiCall(
            scope.archive_reader, scope.broadcaster, asked, names, scope.driving, body, locale
        )
        answer = await operation.answer(call)
    except Exception as error:  # noqa: BLE001 - whatever it is, a program gets JSON
        return told(request, error)
    return answer if isinstance(answer, Response) else json_answer(answer)


async def _conversation(request: Request) -> Response:
    raw_path: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    rest = raw_path.decode("latin-1").partition("/conversations/")[2]
    segments = [plain(unquote(segment, errors="replace")) for segment in rest.split("/")]
    operation, names = _named(segments)
    if operation is None:
        return await _unknown(request)
    return await _answer(request, operation, names)


def _named(segments: Sequence[str]) -> tuple[Operation | None, dict[str, str]]:
    """What is asked of which conversation.

    An id that was written as one segment, or with its own slashes as they are, is
    understood as well where nothing else can be meant.
    """
    for end in range(1 if "/" in segments[0] else 2, len(segments) + 1):
        for operation in OPERATIONS:
            if operation.path.startswith(TALK):
                pattern = operation.path.removeprefix(TALK).split("/")[1:]
                names = _fitting(pattern, segments[end:])
                if names is not None:
                    return operation, {"conversation": "/".join(segments[:end]), **names}
    return None, {}


def _fitting(pattern: Sequence[str], segments: Sequence[str]) -> dict[str, str] | None:
    """What the `{names}` of a pattern stand for; None when the segments are something else."""
    if len(pattern) != len(segments):
        return None
    names = {}
    for part, segment in zip(pattern, segments, strict=True):
        if part.startswith("{"):
            names[part.strip("{}")] = segment
        elif part != segment:
            return None
    return names


async def _unknown(request: Request) -> Response:
    return told(request, HTTPException(404, "there is no such address"))


async def _openapi(request: Request) -> Response:
    return json_answer(document())


def _route(operation: Operation) -> Route:
    async def endpoint(request: Request) -> Response:
        names = {name: plain(value) for name, value in request.path_params.items()}
        return await _answer(request, operation, names)

    return Route(PREFIX + operation.path, endpoint, methods=[operation.method])


ROUTES = [
    # Before what looks like a session of that name.
    Route(PREFIX + "/drive/events", DriveEvents()),
    *(_route(each) for each in OPERATIONS if not each.path.startswith(TALK)),
    Route(PREFIX + "/conversations/{rest:path}", _conversation),
    Route(PREFIX + "/events", Events()),
    Route(PREFIX + "/openapi.json", _openapi),
    Route(PREFIX + "/{rest:path}", _unknown),
]
