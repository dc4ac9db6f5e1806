"""A connection to the web server, with limits that hold before anybody is known.

A page elsewhere, or another user of the machine, can connect without the token: what they may
cost is bounded here, in seconds, bytes and connections. Knows nothing of who is let in.
"""

from __future__ import annotations

import asyncio
import sys

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

__all__ = ["LimitedConnection"]

#: Seconds from the first byte, or the last answer, until a request has told all its headers.
HEADER_SECONDS = 10.0
#: Seconds without a byte of a body that was announced.
BODY_SECONDS = 30.0
#: After an answer to a request whose body has not all come: seconds and bytes that are still taken, and
#: thrown away, so that the answer is read before the connection is cut.
LINGER_SECONDS, LINGER_BYTES = 2.0, 1 << 20
#: Open connections; with more, those are closed that have asked for nothing, the oldest first.
MOST = 512


class LimitedConnection(H11Protocol):
    _timer: asyncio.TimerHandle | None = None
    #: Bytes of a body that are still thrown away; None while it is not answered, or has all come.
    _spare: int | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._wait(HEADER_SECONDS)
        if len(self.connections) > _most():
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._spare is not None:
            self._spare -= len(data)
            if self._spare < 0:
                self.transport.abort()
                return
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            # The rest has come: the connection is good for another request.
            self._spare = None
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self.conn.their_state is h11.SEND_BODY:
            self._linger()
        else:
            self._stop()
            self._watch()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    # ── limits ──

    @property
    def is_waiting(self) -> bool:
        """Whether nothing was asked for yet, or nothing more."""
        return self.conn.their_state is h11.IDLE

    def _watch(self) -> None:
        state = self.conn.their_state
        if state is h11.IDLE:
            # Bytes that drip in gain no time.
            if self._timer is None:
                self._wait(HEADER_SECONDS)
        elif state is not h11.SEND_BODY:
            self._stop()
        elif self._spare is None:
            self._wait(BODY_SECONDS)

    def _wait(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._spare is not None:
            self.transport.abort()
        elif self.conn.their_state is h11.SEND_BODY and self.flow.read_paused:
            # It is we who do not listen.
            self._wait(BODY_SECONDS)
        else:
            self._refuse(408, "The request took too long.")

    def _linger(self) -> None:
        self._unset_keepalive_if_required()
        self._spare = LINGER_BYTES
        self._wait(LINGER_SECONDS)

    def _refuse(self, status: int, message: str) -> None:
        """Say why, where nothing else was said yet, and hang up."""
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("content-type", "text/plain; charset=utf-8"), ("connection", "close")]
            answer = h11.Response(
                status_code=status, headers=headers, reason=STATUS_PHRASES[status]
            )
            for event in (answer, h11.Data(data=message.encode()), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _make_room(self) -> None:
        others = [one for one in self.connections if isinstance(one, LimitedConnection)]
        waiting = [one for one in others if one.is_waiting and not one.transport.is_closing()]
        oldest = min(waiting, key=lambda one: one._since, default=self)
        oldest.transport.abort()


def _most() -> int:
    """Half of the files that this process may have open, where that is fewer."""
    if sys.platform == "win32":
        return MOST
    # Imported late: Windows lacks it.
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft // 2)
