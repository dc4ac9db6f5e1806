"""The way to another archive over HTTP: one connection, to the address that was typed and no other.

It asks no proxy and follows no redirection. Without TLS it goes to this machine alone, where a tunnel
or a proxy of the person's own may listen.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from rireki import __version__
from rireki.errors import RirekiError
from rireki.sync.wire import (
    BATCH,
    MESSAGE,
    PATH,
    BadBatch,
    DeltaWanted,
    HeldAsked,
    OutgoingAnswer,
    PushAnswer,
    PushBatch,
    ServerGreeting,
    StreamOpening,
    TooNew,
    decode,
    decode_batch,
    encode,
)

__all__ = ["HttpRemote", "checked_url"]

#: Seconds without a byte.
PATIENCE = 60.0
#: Bytes of an answer.
LARGEST = 128 << 20
#: What a server that keeps connections for a while may have closed meanwhile.
_CLOSED = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)


def checked_url(url: str) -> str:
    """An address that may be spoken to, without a slash behind it."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise RirekiError("remote-bad-url", url=url, why=error) from error
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise RirekiError("remote-bad-url", url=url, why="http(s)://HOST[:PORT]")
    if parts.username is not None:
        raise RirekiError("remote-bad-url", url=parts.hostname, why="--token TOKEN")
    if parts.scheme == "http" and not _is_loopback(host):
        raise RirekiError("remote-not-encrypted", url=url)
    return url.rstrip("/")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


class HttpRemote:
    """A server, as what takes and as what gives."""

    def __init__(self, url: str, token: str, patience: float = PATIENCE) -> None:
        self.url = checked_url(url)
        # Said here, where the words of http.client would repeat it.
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise RirekiError("remote-bad-token", url=self.url)
        self._token = token
        parts = urlsplit(self.url)
        self._path = parts.path.rstrip("/") + PATH
        host, port = parts.hostname or "", parts.port
        self._connection = (
            http.client.HTTPConnection(host, port, timeout=patience)
            if parts.scheme == "http"
            else http.client.HTTPSConnection(
                host, port, timeout=patience, context=ssl.create_default_context()
            )
        )

    def close(self) -> None:
        self._connection.close()

    def greet(self) -> ServerGreeting:
        found: ServerGreeting = self._decoded(self._ask("GET", "", b"", MESSAGE), ServerGreeting)
        return found

    # ── it takes ──

    def open(self, opening: StreamOpening) -> PushAnswer:
        return self._answer("/streams", opening)

    def held(self, stream: str, strands: Sequence[int]) -> PushAnswer:
        return self._answer(f"/streams/{stream}/have", HeldAsked(list(strands)))

    def take(self, stream: str, body: bytes) -> PushAnswer:
        answer = self._ask("POST", f"/streams/{stream}/records", body, BATCH)
        found: PushAnswer = self._decoded(answer, PushAnswer)
        return found

    def _answer(self, path: str, question: Any) -> PushAnswer:
        answer = self._ask("POST", path, encode(question), MESSAGE)
        found: PushAnswer = self._decoded(answer, PushAnswer)
        return found

    # ── it gives ──

    def outgoing(self) -> StreamOpening:
        answer = self._ask("POST", "/outgoing", b"", MESSAGE)
        found: StreamOpening = self._decoded(answer, StreamOpening)
        return found

    def next(self, wanted: DeltaWanted) -> PushBatch | OutgoingAnswer:
        kind, data = self._ask("POST", "/outgoing/next", encode(wanted), MESSAGE)
        if kind != BATCH:
            answer: OutgoingAnswer = self._decoded((kind, data), OutgoingAnswer)
            return answer
        try:
            batch = decode_batch(data)
        except BadBatch as error:
            raise self._strange(str(error)) from error
        if isinstance(batch, TooNew):
            raise RirekiError("remote-too-new", name=self.url)
        return batch

    # ── requests ──

    def _ask(self, method: str, path: str, body: bytes, kind: str) -> tuple[str, bytes]:
        """The kind of the answer, and the answer."""
        try:
            response = self._response(method, path, body, kind)
            data = response.read(LARGEST + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            why = getattr(error, "strerror", None) or error or type(error).__name__
            raise RirekiError("remote-not-reached", url=self.url, why=why) from error
        if len(data) > LARGEST:
            self._connection.close()
            raise self._strange("its answer is too large")
        told = (response.headers.get_content_type(), data)
        if response.status in (401, 403):
            raise RirekiError("remote-denied", url=self.url)
        if response.status == 404:
            raise RirekiError("remote-takes-nothing", url=self.url)
        if told[0] not in (MESSAGE, BATCH):
            raise self._strange(f"{response.status} {response.reason}")
        return told

    def _response(self, method: str, path: str, body: bytes, kind: str) -> http.client.HTTPResponse:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": kind,
            "User-Agent": f"rireki/{__version__}",
        }
        was_open = self._connection.sock is not None
        try:
            self._connection.request(method, self._path + path, body, headers)
            return self._connection.getresponse()
        except _CLOSED:
            self._connection.close()
            if not was_open:
                raise
            # Whatever arrived of it: nothing is kept twice.
            self._connection.request(method, self._path + path, body, headers)
            return self._connection.getresponse()

    def _decoded(self, answer: tuple[str, bytes], kind: Any) -> Any:
        try:
            return decode(answer[1], kind)
        except BadBatch as error:
            raise self._strange(str(error)) from error

    def _strange(self, why: str) -> RirekiError:
        return RirekiError("remote-strange", url=self.url, why=why)
