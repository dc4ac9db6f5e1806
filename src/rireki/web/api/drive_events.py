"""`/api/v1/drive/events`: what the driven agents do, as server-sent events.

The stream begins with `hello`, which has everything as it is; whoever comes back is
told everything anew, and merges it by id. The `id` of an event is its number.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from rireki.drive.events import Event
from rireki.errors import NotFound
from rireki.web.api.failures import told
from rireki.web.broadcaster import event
from rireki.web.driving import OFF, Driving
from rireki.web.events import HEADERS, KEEP_ALIVE, RETRY, hang_up

__all__ = ["DriveEvents"]


class DriveEvents:
    """Not a function: the stream talks to the server itself."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        driving: Driving | None = scope["app"].state.driving
        if driving is None:
            await told(Request(scope), NotFound(*OFF))(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        tasks = [
            asyncio.ensure_future(work)
            for work in (_talk(driving, send), hang_up(receive), driving.ending.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            is_gone = tasks[1].done()
        finally:
            for task in tasks:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await tasks[0]
        if not is_gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _talk(driving: Driving, send: Send) -> None:
    await _say(send, f"retry: {RETRY}\n\n".encode())
    async for data in _heard(driving):
        await _say(send, data)


async def _heard(driving: Driving) -> AsyncIterator[bytes]:
    statuses = [session.status for session in driving.bridge.sessions()]
    number = max((status.number for status in statuses), default=0)
    yield event("hello", {"number": number, "sessions": statuses}, number)
    # What happens between the two has a greater number, and is told.
    events = driving.bridge.listen(number)
    following = asyncio.ensure_future(_next(events))
    try:
        while True:
            if not (await asyncio.wait([following], timeout=KEEP_ALIVE))[0]:
                # So that nobody takes the line for dead.
                yield b":\n\n"
                continue
            heard = following.result()
            if heard is None:
                return
            yield event(heard.kind, heard.data(), heard.n)
            following = asyncio.ensure_future(_next(events))
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)


async def _say(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
