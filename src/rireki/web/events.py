"""`/api/v1/events`: the feed as server-sent events.

The `id` of an event is the feed's number. All that changed between two numbers
is one event, so whoever comes back with `Last-Event-ID` has heard everything up
to it and nothing after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from rireki.errors import RirekiError
from rireki.web.broadcaster import Broadcaster, Subscriber

__all__ = ["HEADERS", "KEEP_ALIVE", "RETRY", "EventStream", "hang_up", "start_of"]

#: Seconds of silence after which something is sent, so that nobody takes the line for dead.
KEEP_ALIVE = 15.0
#: Milliseconds a browser waits before it comes back.
RETRY = 500

HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    # For proxies that would gather events before they pass them on.
    (b"x-accel-buffering", b"no"),
]


def start_of(request: Request, after: int | None) -> int | None:
    """Where to begin: what a browser says it heard last counts more than the address it was given."""
    heard = request.headers.get("last-event-id", "").strip()
    if not heard:
        return after
    if not (heard.isascii() and heard.isdecimal()) or len(heard) > 18:
        raise RirekiError(
            f"Last-Event-ID {heard[:40]!r} is not a number of the feed",
            "Send the id of the last event, or no such header to hear what comes from now on.",
        )
    return int(heard)


class EventStream:
    """The answer to one listener: it ends when the listener goes or the server does."""

    def __init__(
        self, broadcaster: Broadcaster, after: int | None, conversation: str | None
    ) -> None:
        self.broadcaster = broadcaster
        self.after = after
        self.conversation = conversation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        listener = self.broadcaster.listen(self.after, self.conversation)
        talking = asyncio.ensure_future(self._talk(listener, send))
        gone = asyncio.ensure_future(hang_up(receive))
        try:
            await asyncio.wait([talking, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.broadcaster.leave(listener)
            for task in (talking, gone):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await talking

    async def _talk(self, listener: Subscriber, send: Send) -> None:
        await _say(send, f"retry: {RETRY}\n\n".encode())
        async for data in _heard(listener):
            await _say(send, data)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _heard(listener: Subscriber) -> AsyncIterator[bytes]:
    while (data := await listener.next(KEEP_ALIVE)) is not None:
        # An id without data is no event to a browser, but moves the number it would come back
        # with: what has no changes for this listener is not looked through again.
        number = listener.reached()
        yield data or (b":\n\n" if number is None else f"id: {number}\n\n".encode())


async def _say(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def hang_up(receive: Receive) -> None:
    """Until the listener has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        continue
