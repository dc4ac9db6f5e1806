"""A rireki server of its own for a bench, and what one needs to talk to it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from bench.measure import rireki

__all__ = ["Server", "listen", "serving"]

#: Seconds a first import may take before the bench gives up.
PATIENCE = 600


class Server:
    def __init__(self, url: str, pid: int) -> None:
        parts = urlsplit(url)
        #: The first URL, with the token.
        self.url = url
        self.pid = pid
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.base = f"http://{parts.netloc}"
        self.token = parse_qs(parts.query)["token"][0]
        headers = {"Authorization": f"Bearer {self.token}"}
        self.client = httpx.Client(base_url=self.base, headers=headers, timeout=30)

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        answer.raise_for_status()
        return answer.json()

    def wait_until_keeping(self) -> None:
        """Until everything there was is taken in, and the keeper watches."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.get("/api/v1/sources")["keeper"]["state"] == "keeping":
                return
            time.sleep(0.2)
        raise SystemExit(f"{self.base} did not finish its first import within {PATIENCE} s")


@contextmanager
def serving(home: Path, archive: Path, *options: str) -> Iterator[Server]:
    command = rireki("serve", "--home", home, "--archive", archive, "--port", 0, *options)
    process = subprocess.Popen([*command, "--no-open", "--json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = json.loads(process.stdout.readline())
        yield Server(said["url"], process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def listen(server: Server) -> Iterator[tuple[float, dict[str, Any]]]:
    """Every change event of an SSE connection of our own, with the moment it arrived."""
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(
            f"GET /api/v1/events HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nAccept: text/event-stream\r\n\r\n".encode()
        )
        kind = b""
        for line in connection.makefile("rb"):
            arrived = time.perf_counter()
            if line.startswith(b"event:"):
                kind = line[6:].strip()
            elif line.startswith(b"data:") and kind in (b"change", b"hello"):
                yield arrived, {"event": kind.decode(), **json.loads(line[5:])}
