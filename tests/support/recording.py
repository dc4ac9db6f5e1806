"""A server on loopback that notes what it is sent, and answers as it is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

__all__ = ["Recording", "SentRequest", "recording"]


class SentRequest(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Recording(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[SentRequest] = []
        self.status = 200
        #: Until it is set, nothing is answered.
        self.answers = threading.Event()
        self.answers.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Recording)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        server.sent.append(SentRequest(self.path, headers, body))
        server.answers.wait(30)
        self.send_response(server.status)
        # Whoever follows it is found out.
        self.send_header("Location", f"{server.url}/redirected")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the screen."""


@contextmanager
def recording() -> Iterator[Recording]:
    with Recording() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield server
        finally:
            server.answers.set()
            server.shutdown()
            thread.join()
