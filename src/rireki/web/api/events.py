"""`/api/v1/events` and `/api/v1/drive/events`: what changes, as server-sent events.

The `id` of an event is the feed's number. All that changed between two numbers is one event, so
whoever comes back with `Last-Event-ID` has heard everything up to it and nothing after it. What
driven agents do begins with `hello`, which has everything as it is; whoever comes back is told
everything anew, and merges it by id.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from rireki.drive.events import Event
from rireki.errors import NotFound, RirekiError
from rireki.web.api.failures import told
from rireki.web.api.parameters import EventsAsked, read_asked
from rireki.web.broadcaster import Broadcaster, event
from rireki.web.driving import OFF, Driving
from rireki.web.scope import scope_of

__all__ = ["KEEP_ALIVE", "DriveEvents", "Events"]

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


class Events:
    """Not a function: the stream talks to the server itself."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            asked = read_asked(request, EventsAsked)
            start = _start_of(request, asked.after)
            broadcaster = scope_of(request).broadcaster
        except Exception as error:  # noqa: BLE001 - whatever it is, a program gets JSON
            await told(request, error)(scope, receive, send)
            return
        heard = _changes(broadcaster, start, asked.conversation)
        await _stream(scope, receive, send, heard)


class DriveEvents:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        driving = scope_of(Request(scope)).driving
        if driving is None:
            await told(Request(scope), NotFound(OFF))(scope, receive, send)
            return
        await _stream(scope, receive, send, _doings(driving))


def _start_of(request: Request, after: int | None) -> int | None:
    """Where to begin: what a browser says it heard last counts more than the address it was given."""
    heard = request.headers.get("last-event-id", "").strip()
    if not heard:
        return after
    if not (heard.isascii() and heard.isdecimal()) or len(heard) > 18:
        raise RirekiError("bad-event-id", id=heard[:40])
    return int(heard)


async def _changes(
    broadcaster: Broadcaster, after: int | None, conversation: str | None
) -> AsyncGenerator[bytes, None]:
    """Until the server ends."""
    listener = broadcaster.listen(after, conversation)
    try:
        while (data := await listener.next(KEEP_ALIVE)) is not None:
            # An id without data is no event to a browser, but moves the number it would come back
            # with: what has no changes for this listener is not looked through again.
            number = listener.reached()
            yield data or (b":\n\n" if number is None else f"id: {number}\n\n".encode())
    finally:
        broadcaster.leave(listener)


async def _doings(driving: Driving) -> AsyncGenerator[bytes, None]:
    """Until whoever listens has to go."""
    statuses = [session.status for session in driving.bridge.sessions()]
    number = max((status.number for status in statuses), default=0)
    yield event("hello", {"number": number, "sessions": statuses}, number)
    # What happens between the two has a greater number, and is told.
    events = driving.bridge.listen(number)
    following = asyncio.ensure_future(_next(events))
    ending = asyncio.ensure_future(driving.ending.wait())
    try:
        while not ending.done():
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait([following, ending], timeout=KEEP_ALIVE, return_when=first)
            if following.done():
                heard = following.result()
                if heard is None:
                    return
                yield event(heard.kind, heard.data(), heard.n)
                following = asyncio.ensure_future(_next(events))
            elif not ending.done():
                # So that nobody takes the line for dead.
                yield b":\n\n"
    finally:
        ending.cancel()
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)


async def _stream(
    scope: Scope, receive: Receive, send: Send, heard: AsyncGenerator[bytes, None]
) -> None:
    """The answer to one listener: it ends when the listener goes or there is no more to hear."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    if scope["method"] == "HEAD":
        await send({"type": "http.response.body", "body": b""})
        return
    talking = asyncio.ensure_future(_talk(send, heard))
    gone = asyncio.ensure_future(_hang_up(receive))
    try:
        await asyncio.wait([talking, gone], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (talking, gone):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await talking


async def _talk(send: Send, heard: AsyncGenerator[bytes, None]) -> None:
    async def say(data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})

    async with aclosing(heard):
        await say(f"retry: {RETRY}\n\n".encode())
        async for data in heard:
            await say(data)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _hang_up(receive: Receive) -> None:
    """Until the listener has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        continue
