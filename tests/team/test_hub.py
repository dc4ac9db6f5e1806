"""Everybody hears what changed of what he may see, once, whichever server he asks, and not too often."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.team.serve import TeamServer
from rireki.team.store import Team
from rireki.web.serve import bind
from tests.support.two_people import IDS, write_session
from tests.team.conftest import Office, opened, rule
from tests.web.conftest import PATIENCE, until

ANN, OTHER = f"claude-code/{IDS['ann']}", f"claude-code/{IDS['bob']}"


class Laptop:
    """Ann's, of which she shares one directory."""

    def __init__(self, office: Office, folder: Path) -> None:
        self.office = office
        self.home, self.path = folder / "home", folder / "archive.sqlite3"

    def write(self, id: str, word: str, project: str = "/home/ann/work") -> None:
        write_session(self.home, id, project, word)

    def push(self) -> None:
        with opened(self.path) as archive:
            import_history(archive, places=Places.at(self.home))
            self.office.push(archive, [rule("/home/ann/work")])


@pytest.fixture
def laptop(office: Office, tmp_path: Path) -> Laptop:
    laptop = Laptop(office, tmp_path)
    open_archive(laptop.path, create=True).close()
    laptop.write(IDS["ann"], "quokkaflux")
    laptop.push()
    return laptop


class Listener:
    def __init__(self, url: str, token: str, query: str = "", last: str = "") -> None:
        self.events: list[dict[str, Any]] = []
        self.numbers: list[str] = []
        self.greeted = threading.Event()
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 80))
        self._socket.sendall(
            f"GET /api/v1/events{query} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Authorization: Bearer {token}\r\nLast-Event-ID: {last}\r\n\r\n".encode()
        )
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()
        assert self.greeted.wait(PATIENCE)

    def _listen(self) -> None:
        kind = ""
        with self._socket.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                name, _, value = line.strip().partition(": ")
                if name == "event":
                    kind = value
                    self.greeted.set()
                elif name == "id":
                    self.numbers.append(value)
                elif name == "data" and kind == "change":
                    self.events.append({"at": time.monotonic(), **json.loads(value)})

    def named(self) -> list[str]:
        return [change["conversation"] for each in self.events for change in each["changes"]]

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self._socket.close()


@contextmanager
def another_server(office: Office, folder: Path) -> Iterator[TeamServer]:
    server = TeamServer(bind("127.0.0.1", 0), Team(office.address, folder))
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.listening)
    try:
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)


def test_who_looks_at_a_conversation_hears_of_its_messages_and_of_no_other(
    office: Office, laptop: Laptop
) -> None:
    listener = Listener(office.server.url, office.tokens["bob"], f"?conversation={ANN}")
    laptop.write(IDS["bob"], "zebrafinchery")
    laptop.push()
    laptop.write(IDS["ann"], "wombatique")
    laptop.push()
    until(lambda: bool(listener.events))
    assert set(listener.named()) == {ANN}
    assert listener.events[0]["changes"][0]["messages"]
    listener.close()


def test_lists_hear_once_a_second_of_all_that_changed(office: Office, laptop: Laptop) -> None:
    listener = Listener(office.server.url, office.tokens["bob"])
    stranger = Listener(office.server.url, office.tokens["eve"])
    for place in range(6):
        laptop.write(f"{place}{IDS['bob'][1:]}", "zebrafinchery")
        laptop.write(f"d{place}{IDS['bob'][2:]}", "privatissimum", "/home/ann/diary")
        laptop.push()
    until(lambda: len(set(listener.named())) == 6)
    assert all(change["messages"] is None for e in listener.events for change in e["changes"])
    times = [each["at"] for each in listener.events]
    assert all(later - earlier > 0.9 for earlier, later in pairwise(times))
    assert stranger.events == []
    listener.close()
    stranger.close()


def test_a_position_means_the_same_on_another_server(
    office: Office, laptop: Laptop, tmp_path: Path
) -> None:
    first = Listener(office.server.url, office.tokens["bob"])
    laptop.write(IDS["bob"], "zebrafinchery")
    laptop.push()
    until(lambda: first.named() == [OTHER])
    first.close()
    laptop.write(IDS["ann"], "wombatique")
    laptop.push()
    with another_server(office, tmp_path / "second") as server:
        token = office.tokens["bob"]
        second = Listener(server.url, token, last=first.numbers[-1])
        until(lambda: second.named() == [ANN])
        # And what comes while it listens there is put into the feed by the first one.
        laptop.write(IDS["bob"], "wombatique")
        laptop.push()
        until(lambda: second.named() == [ANN, OTHER])
        third = Listener(server.url, token, last=second.numbers[-1])
        assert third.named() == []
        second.close()
        third.close()


def test_who_may_not_listen_any_more_is_told_nothing_more(office: Office, laptop: Laptop) -> None:
    listener = Listener(office.server.url, office.tokens["bob"])
    office.team.people.revoke("bob")
    laptop.write(IDS["bob"], "zebrafinchery")
    laptop.push()
    until(lambda: not listener.thread.is_alive())
    assert listener.events == []
    listener.close()


def test_servers_wake_each_other(office: Office) -> None:
    woken = threading.Event()
    waker = office.team.waker(woken.set)
    waker.start()
    try:
        until(lambda: _is_told(office, woken))
    finally:
        waker.close()


def _is_told(office: Office, woken: threading.Event) -> bool:
    office.server.waker.announce()
    return woken.wait(0.2)
