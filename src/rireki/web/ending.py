"""An answer that ends when what let it in is no longer good: a stream never does by itself, and may
have nothing to say for long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import Message, Send

__all__ = ["EndingAnswer"]

#: Seconds after which a stream is asked again whether it is still let in.
LOOK_AGAIN = 0.5
_END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


class EndingAnswer:
    """`send` of an app passes through it; `close` when the app is done."""

    def __init__(self, send: Send, still_in: Callable[[], bool]) -> None:
        self._send, self._still_in = send, still_in
        self._one_at_a_time = asyncio.Lock()
        self._ended = False
        self._watch: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._send(message)
            kind = Headers(scope=message).get("content-type", "")
            if kind.startswith("text/event-stream"):
                self._watch = asyncio.create_task(self._end_in_time())
            return
        async with self._one_at_a_time:
            if self._watch is not None and not self._still_in():
                message = _END
            if not self._ended:
                self._ended = not message.get("more_body", False)
                await self._send(message)

    async def _end_in_time(self) -> None:
        while self._still_in():
            await asyncio.sleep(LOOK_AGAIN)
        await self.send(_END)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
