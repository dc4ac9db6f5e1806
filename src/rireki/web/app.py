"""The web app put together: the API, the pages, their static files, and the guard around all of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from rireki.errors import NotFound
from rireki.mcp.http import RecallEndpoint
from rireki.web import api, pages
from rireki.web.api.failures import told as told_to_programs
from rireki.web.guard import RECALL, Guard, GuardSettings
from rireki.web.parts.frame import told
from rireki.web.scope import ScopeOf
from rireki.web.token import Access

__all__ = ["WebApp", "create_app", "static_files"]

STATIC = Path(__file__).parent / "static"
#: Fewer characters of a hash may fit another content.
SHORTEST_HASH = 8
#: What a name with its content's hash behind it may be kept for: the name changes with the content.
FOREVER = "private, max-age=31536000, immutable"


def create_app(
    scope_of: ScopeOf,
    guard_settings: GuardSettings,
    access: Access | None = None,
    recall: RecallEndpoint | None = None,
    push: Sequence[Route] = (),
) -> WebApp:
    asked = [Route(RECALL, recall, methods=["POST"])] if recall is not None else []
    return WebApp(
        [*api.ROUTES, *asked, *push, Mount("/static", static_files()), *pages.ROUTES],
        lambda app: Guard(app.inner, guard_settings, access),
        scope_of,
    )


class WebApp(Starlette):
    """The guard stands outside everything, so that even a failure leaves through it."""

    #: What the guard stands around.
    inner: ASGIApp

    def __init__(
        self,
        given: Sequence[Route | Mount],
        guarded: Callable[[WebApp], ASGIApp],
        scope_of: ScopeOf,
    ) -> None:
        self._guarded = guarded
        super().__init__(
            routes=given, exception_handlers={HTTPException: _nowhere, Exception: _failed}
        )
        self.state.scope_of = scope_of

    def entrance(self, guarded: Callable[[ASGIApp], ASGIApp]) -> ASGIApp:
        """Another way in, with a guard of its own."""
        self.middleware_stack = self.middleware_stack or self.build_middleware_stack()
        guard = guarded(self.inner)

        async def enter(scope: Scope, receive: Receive, send: Send) -> None:
            scope["app"] = self
            await guard(scope, receive, send)

        return enter

    def build_middleware_stack(self) -> ASGIApp:
        self.inner = super().build_middleware_stack()
        return self._guarded(self)


def static_files() -> ASGIApp:
    return _Static(directory=STATIC)


class _Static(StaticFiles):
    """Files that are kept for ever when asked for by their content's hash, else checked each time."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        asked = Request(scope).query_params.get("v", "")
        known = _hash(Path(full_path), stat_result.st_mtime_ns)
        named = len(asked) >= SHORTEST_HASH and known.startswith(asked)
        response.headers["Cache-Control"] = FOREVER if named else "no-cache"
        return response


_hashes: dict[tuple[Path, int], str] = {}


def _hash(file: Path, changed: int) -> str:
    name = (file, changed)
    if name not in _hashes:
        _hashes[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return _hashes[name]


async def _nowhere(request: Request, error: Exception) -> Response:
    if request.url.path.startswith("/api/"):
        return told_to_programs(request, error)
    if not isinstance(error, HTTPException) or error.status_code != 404:
        return PlainTextResponse(getattr(error, "detail", ""), getattr(error, "status_code", 500))

    @told
    async def lost(request: Request) -> Response:
        raise NotFound("no-page", path=request.url.path)

    return await lost(request)


async def _failed(request: Request, error: Exception) -> Response:
    """A mistake of ours. The server prints it; the person is told where to look."""
    if request.url.path.startswith("/api/"):
        return told_to_programs(request, error)
    return PlainTextResponse(
        f"{request.url.path} failed: {type(error).__name__}\n"
        "This is a mistake in rireki: please report it with what `rireki serve` printed.\n",
        500,
    )
