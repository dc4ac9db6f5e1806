"""The tools at an address of the web app: each request stands for itself, and brings its token.

The SDK is imported by the first request, beside the loop: whoever only reads pages waits for none of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from rireki.errors import RirekiError
from rireki.late import LateModule
from rireki.library import Library
from rireki.sources.kit.places import Places

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from rireki.mcp import server
else:
    # Only who is asked by an agent needs the SDK, and it may not be installed.
    server = LateModule("rireki.mcp.server")

__all__ = ["RecallEndpoint"]

#: Bytes of a request: a question, not a file.
LARGEST = 1_000_000


class RecallEndpoint:
    """An ASGI app, made before there is a loop; `close` ends what the first request began.

    `library` says what whoever sent a request may read.
    """

    def __init__(
        self,
        library: Callable[[Any], Library],
        places: Places,
        coverage: Callable[[], str] = str,
    ) -> None:
        self._library = library
        self._places = places
        self._coverage = coverage
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            manager = await self._started()
        except RirekiError as error:
            told = {"error": error.message, "hint": error.hint}
            await JSONResponse(told, 501)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _started(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            if self._manager is None:
                self._manager = await asyncio.to_thread(self._made)
                ready = asyncio.Event()
                self._running = asyncio.create_task(self._run(self._manager, ready))
                await ready.wait()
            return self._manager

    def _made(self) -> StreamableHTTPSessionManager:
        try:
            made = server.RecallServer(self._library, self._places, coverage=self._coverage)
        except ImportError as error:
            raise RirekiError("mcp-not-installed", name=error.name or "mcp") from error
        return made.over_http(LARGEST)

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._ending.wait()

    async def close(self) -> None:
        self._ending.set()
        if self._running is not None:
            await self._running
