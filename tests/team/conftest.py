"""A team's server on a real PostgreSQL, with people of every kind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.shares.pushing import ShareChange, TeamPush
from rireki.shares.rules import Level, ShareRule
from rireki.sync.http import HttpRemote
from rireki.sync.machine import Machine
from rireki.sync.outbox import Outbox
from rireki.sync.sender import Sender
from rireki.team.serve import TeamServer
from rireki.team.shelves import SHELVES
from rireki.team.store import Team
from rireki.web.serve import bind
from tests.support.postgres import PostgresServer
from tests.support.reaching import Asked
from tests.support.two_people import a_history, asked_of
from tests.web.conftest import PATIENCE, until


class Office:
    """A team's server, and whoever knows it. Ann shares what she has with acme, of which Bob is one;
    Eve is of another team; Aud audits acme; Rex was one of acme."""

    def __init__(self, folder: Path, address: str, shelves: int = SHELVES) -> None:
        self.folder = folder
        self.address = address
        self.team = Team(address, folder / "server", create=True)
        people = self.team.people
        self.tokens = {
            "ann": people.begin("ann", "acme"),
            "bob": people.add("bob", "acme"),
            "eve": people.add("eve", "others"),
            "aud": people.add("aud", "acme", "auditor"),
            "rex": people.add("rex", "acme"),
        }
        self.server = TeamServer(bind("127.0.0.1", 0), self.team, shelves=shelves)
        self.clients = {
            name: httpx.Client(
                base_url=self.server.url,
                headers={"Authorization": f"Bearer {token}"},
                timeout=PATIENCE,
                verify=False,
            )
            for name, token in self.tokens.items()
        }
        self._thread = threading.Thread(target=self.server.run)

    def start(self) -> None:
        self._thread.start()
        until(lambda: self.server.listening)

    def stop(self) -> None:
        for client in self.clients.values():
            client.close()
        self.server.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def get(self, person: str, address: str, **headers: str) -> httpx.Response:
        return self.clients[person].get(address, headers=headers)

    def ids(self, person: str) -> set[str]:
        found = self.get(person, "/api/v1/conversations?limit=500").json()
        return {each["id"] for each in found["conversations"]}

    # ── what a laptop does ──

    def change_shares(self, change: ShareChange, person: str = "ann") -> None:
        body = msgspec.json.encode(change)
        answer = self.clients[person].post("/api/team/v1/shares", content=body)
        assert answer.status_code == 200, answer.text

    def push(self, archive: Archive, rules: Sequence[ShareRule], person: str = "ann") -> None:
        """As `rireki push` does; returns when it can be read."""
        self.send(archive, rules, person)
        self.settled()

    def send(self, archive: Archive, rules: Sequence[ShareRule], person: str = "ann") -> None:
        told = _Told(lambda change: self.change_shares(change, person))
        outgoing = TeamPush(archive, "acme", rules).prepare(told)
        outbox = Outbox(archive, Machine(f"of-{person}", person), "team", outgoing)
        remote = HttpRemote(self.server.url.rstrip("/"), self.tokens[person])
        try:
            Sender(outbox, remote, "acme", "team").push()
        finally:
            remote.close()

    def settled(self) -> None:
        def done() -> bool:
            numbers = self.team.numbers()
            keeper = self.server.keeper
            indexed = all(keeper.indexed.get(p) == n for p, n in numbers.items())
            return not self.team.waiting() and indexed and not keeper.soiled

        until(done)


class _Told:
    def __init__(self, tell: Callable[[ShareChange], None]) -> None:
        self.change_shares = tell


def rule(what: str, level: Level = "full", team: str = "acme") -> ShareRule:
    kind: Any = "directory" if what.startswith("/") else "conversation"
    return ShareRule(what=what, kind=kind, team=team, remote="acme", level=level)


@contextmanager
def office_at(
    folder: Path, database: PostgresServer, address: str = "", shelves: int = SHELVES
) -> Iterator[Office]:
    """On a database of its own, or the one of that address."""
    office = Office(folder, address or database.database(), shelves)
    office.start()
    try:
        yield office
    finally:
        office.stop()


@pytest.fixture
def office(tmp_path: Path, postgres: PostgresServer) -> Iterator[Office]:
    with office_at(tmp_path, postgres) as office:
        yield office


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer
) -> Iterator[tuple[Office, Asked]]:
    """Ann and Eve have pushed their histories; Rex was revoked."""
    folder = tmp_path_factory.mktemp("office")
    with ExitStack() as ending:
        office = ending.enter_context(office_at(folder, postgres))
        path = a_history("ann", folder)
        with opened(path) as archive:
            office.push(archive, [rule("/")])
        with opened(a_history("bob", folder)) as archive:
            office.push(archive, [rule("/", team="others")], "eve")
        office.team.people.revoke("rex")
        yield office, asked_of("ann", path)


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    archive = open_archive(path)
    try:
        yield archive
    finally:
        archive.close()
