"""A server on a port of its own, asked the way browsers and programs ask."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.web.serve import Server, bind
from tests.support.homes import lay_out

TOKEN = "the-token-of-the-tests-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
#: Long enough for a machine that does other things as well.
PATIENCE = 30.0


def until(happened: Callable[[], object]) -> None:
    """Wait for something, for as long as a slow machine may need."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


@contextmanager
def serving(archive: Path, home: Path, **options: Any) -> Iterator[Server]:
    """A real server in a thread."""
    bound = bind("127.0.0.1", 0)
    server = Server(bound, archive, Places.at(home), TOKEN, **{"keep": False, **options})
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.listening)
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def client_at(port: int, **headers: str) -> httpx.Client:
    """Asks without TLS: its certificates would take longer to load than most tests run."""
    base = f"http://127.0.0.1:{port}"
    return httpx.Client(base_url=base, headers=headers, timeout=PATIENCE, verify=False)


def client_of(server: Server) -> httpx.Client:
    return client_at(server.port, **BEARER)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Conversations of every source, from fixtures."""
    place = tmp_path_factory.mktemp("shown")
    home = lay_out("claude-code-2.1.197", place / "home")
    lay_out("amazon-q-1.19", home)
    lay_out("kiro", home)
    archive = open_archive(place / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    archive.close()
    with serving(place / "archive.sqlite3", home) as server:
        yield server


@pytest.fixture
def web(shown: Server) -> Iterator[httpx.Client]:
    with client_of(shown) as client:
        yield client


class Event(NamedTuple):
    kind: str
    id: int | None
    data: Any


def events_in(lines: Iterable[str]) -> Iterator[Event]:
    """Server-sent events, read as the standard says."""
    kind, id, data = "message", None, ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "id":
            id = int(value)
        elif name == "data":
            data += value
        elif not line:
            # Without data it is no event, but its id counts.
            if data or id is not None:
                yield Event(kind if data else "", id, json.loads(data) if data else None)
            kind, id, data = "message", None, ""


class Ear:
    """Listens in a thread, comes back when the connection is lost, as a browser does."""

    def __init__(self, port: int, token: str = TOKEN, **query: str | int) -> None:
        self.token = token
        self.port = port
        self.query = query
        self.heard: list[Event] = []
        self.last: int | None = None
        self.connections = 0
        self.open = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Ear:
        self._thread.start()
        until(lambda: self.kinds("hello"))
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        # It ends with the next thing it hears, or with the server.

    def kinds(self, kind: str) -> list[Event]:
        return [event for event in list(self.heard) if event.kind == kind]

    def messages(self) -> list[tuple[str, str]]:
        """(conversation, message) of everything that was named, in order."""
        return [
            (change["conversation"], message)
            for event in self.kinds("change")
            for change in event.data["changes"]
            for message in change["messages"]
        ]

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                self._connect()
            except httpx.TransportError:
                self.open = False
                time.sleep(0.02)

    def _connect(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        if self.last is not None:
            headers["Last-Event-ID"] = str(self.last)
        with (
            client_at(self.port, **headers) as client,
            client.stream("GET", "/api/v1/events", params=self.query) as answer,
        ):
            self.connections += 1
            for event in events_in(answer.iter_lines()):
                if event.id is not None:
                    self.last = event.id
                self.heard.append(event)
                self.open = True
                if self._over.is_set():
                    return
        self.open = False
