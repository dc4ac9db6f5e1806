"""A team's server through HTTP, while pushers, the server and its database are killed in turn: nothing
that was acknowledged is lost, nothing is there twice, and whoever pushes is told what is wrong."""

from __future__ import annotations

import multiprocessing
import os
import random
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.context import ForkProcess
from pathlib import Path

import msgspec
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.shares.link import TeamRemote
from rireki.shares.plan import plan_for
from rireki.shares.pushing import TeamPush
from rireki.shares.rules import ShareRule
from rireki.sources.kit.places import Places
from rireki.sync.http import HttpRemote
from rireki.sync.machine import Machine
from rireki.sync.outbox import Outbox
from rireki.sync.sender import Sender
from rireki.sync.wire import PushAnswer, RecordsTaken
from rireki.team.serve import TeamServer
from rireki.team.store import Team
from rireki.web.serve import bind
from tests.support.equal import differences
from tests.support.homes import lay_out
from tests.support.postgres import PostgresServer, running
from tests.support.pushing import understand
from tests.support.two_people import write_session
from tests.team.conftest import rule

HOMES = ("claude-code-2.0.76", "codex-0.150.0")
#: A batch of the pushers: small, so that there are many.
LIMIT = 300
#: What a pusher may be told: each of them means that it is to come again.
COMES_AGAIN = ("remote-not-reached", "remote-refused", "remote-busy", "remote-strange")
CAME_AGAIN, TIMES = 3, 200
#: Conversations that begin on the laptop before each fault.
NEW = 3
#: There at once: a Python that begins anew would be killed before it does anything.
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    # A crash of the server alone loses nothing that the system has got: of what was committed, all.
    durable = request.config.getoption("--campaign")
    with running(durable=durable, options=("synchronous_commit=on",)) as started:
        yield started


class _Forgetful(HttpRemote):
    """Notes what was acknowledged; every third answer is lost on the way."""

    def __init__(self, url: str, token: str, acknowledged: Path, chance: random.Random) -> None:
        super().__init__(url, token)
        self.acknowledged = acknowledged
        self.chance = chance

    def take(self, stream: str, body: bytes) -> PushAnswer:
        answer = super().take(stream, body)
        if isinstance(answer, RecordsTaken):
            with self.acknowledged.open("a") as said:
                print(answer.reached, file=said)
        if self.chance.random() < 1 / 3:
            raise RirekiError("remote-not-reached", url=self.url, why="no answer")
        return answer


def everything(name: str) -> ShareRule:
    return msgspec.structs.replace(rule("/"), remote=name)


def push(laptop: Path, remote: HttpRemote, token: str, name: str) -> None:
    """As `rireki push` does, until it is through."""
    with closing(open_archive(laptop)) as archive, closing(remote):
        with closing(TeamRemote(remote.url, token)) as team:
            outgoing = TeamPush(archive, name, [everything(name)]).prepare(team)
        outbox = Outbox(archive, Machine("of-ann", ""), "team", outgoing)
        Sender(outbox, remote, "acme", "team", limit=LIMIT).push()


def pushing(laptop: Path, remote: HttpRemote, token: str, name: str) -> None:
    """Again and again, whatever it is told, until it is through."""
    for _ in range(TIMES):
        try:
            push(laptop, remote, token, name)
            os._exit(0)
        except RirekiError as error:
            if error.code not in COMES_AGAIN:
                print(repr(error), flush=True)
                os._exit(1)
            time.sleep(0.01)
    os._exit(CAME_AGAIN)


def serving(bound: socket.socket, address: str, folder: Path) -> None:
    TeamServer(bound, Team(address, folder)).run()


class Storm:
    """Pushers of one laptop to one person of a team, the server, its database, and what befalls them."""

    def __init__(
        self, postgres: PostgresServer, address: str, folder: Path, chance: random.Random
    ) -> None:
        self.postgres, self.address, self.folder, self.chance = postgres, address, folder, chance
        # It stays when the server dies, so that the next one is found at the same address.
        self.socket = bind("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.server = self._serve()
        self.befell = dict.fromkeys(("pushers", "servers", "databases"), 0)

    def _serve(self) -> ForkProcess:
        told = (self.socket, self.address, self.folder / "server")
        server = FORK.Process(target=serving, args=told, daemon=True)
        server.start()
        return server

    def end(self) -> None:
        _kill(self.server)
        self.socket.close()

    def rage(self, faults: int, laptop: Laptop, token: str, name: str) -> None:
        acknowledged = self.folder / f"acknowledged by {name}"
        acknowledged.touch()
        for number in range(faults):
            laptop.go_on()
            before = acknowledged.stat().st_size
            pushers = [self._push(laptop, token, name, acknowledged) for _ in range(1 + number % 2)]
            # Half of the faults come when something was acknowledged, the others at any time.
            while number % 4 < 2 and acknowledged.stat().st_size == before:
                time.sleep(0.002)
            time.sleep(self.chance.uniform(0, 0.1))
            (self._kill_pushers, self._kill_server, self._crash)[number % 3](pushers)
            for pusher in pushers:
                pusher.join(60)
                assert pusher.exitcode in (0, CAME_AGAIN, -9), pusher.exitcode
            self.ensure_kept(laptop, name, acknowledged)

    def _push(self, laptop: Laptop, token: str, name: str, acknowledged: Path) -> ForkProcess:
        remote = self._way(token, acknowledged)
        told = (laptop.path, remote, token, name)
        pusher = FORK.Process(target=pushing, args=told, daemon=True)
        pusher.start()
        return pusher

    def _way(self, token: str, acknowledged: Path) -> _Forgetful:
        return _Forgetful(self.url, token, acknowledged, random.Random(self.chance.random()))

    # ── what befalls them ──

    def _kill_pushers(self, pushers: list[ForkProcess]) -> None:
        for pusher in pushers:
            self.befell["pushers"] += pusher.is_alive()
            _kill(pusher)

    def _kill_server(self, pushers: list[ForkProcess]) -> None:
        _kill(self.server)
        self.befell["servers"] += 1
        self.server = self._serve()

    def _crash(self, pushers: list[ForkProcess]) -> None:
        self.postgres.stop("immediate")
        self.befell["databases"] += 1
        # Long enough for somebody to ask in between.
        time.sleep(self.chance.uniform(0, 0.1))
        self.postgres.start()

    # ── what is there ──

    def ensure_kept(self, laptop: Laptop, name: str, acknowledged: Path) -> None:
        lines = acknowledged.read_text().split()
        with closing(open_archive(laptop.path)) as source, self.archive(name) as target:
            opening = Outbox(source, Machine("of-ann", "")).opening()
            reached = target.stream(opening.archive, "", opening.epoch).reached
            told = [target.streams(), source.note_of("told")]
        assert reached >= max(map(int, lines), default=0), told

    @contextmanager
    def archive(self, name: str) -> Iterator[Archive]:
        with closing(Team(self.address, self.folder / "beside")) as team:
            id = next(id for id, known in team.people.names().items() if known == name)
            with team.archive(id) as archive:
                yield archive


def _kill(process: ForkProcess) -> None:
    process.kill()
    process.join()


class Laptop:
    """A machine on which conversations begin all the time."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.path = folder / "laptop.sqlite3"
        for name in HOMES:
            lay_out(name, self.home)
        self.begun = 0
        self.go_on()

    def go_on(self) -> None:
        for _ in range(NEW):
            self.begun += 1
            id = f"{self.begun:08d}-0000-4000-8000-000000000001"
            write_session(self.home, id, f"/home/ann/p{self.begun}", f"word{self.begun}")
        with closing(open_archive(self.path, create=True)) as archive:
            import_history(archive, places=Places.at(self.home))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # In pieces, each of which ends within a quarter of an hour.
    pieces = [(20, 26), (20, 26)] if metafunc.config.getoption("--campaign") else [(1, 6)]
    metafunc.parametrize(("piece", "rounds", "faults"), [(n, *p) for n, p in enumerate(pieces)])


def test_nothing_is_lost_or_doubled_whoever_is_killed(
    piece: int, rounds: int, faults: int, postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.database()
    names = [f"p{number}" for number in range(rounds)]
    with closing(Team(address, tmp_path / "beside", create=True)) as team:
        tokens = {name: team.people.add(name, "acme") for name in names}
    storm = Storm(postgres, address, tmp_path, random.Random(20 + piece))
    try:
        for name in names:
            laptop = Laptop(tmp_path / name)
            storm.rage(faults, laptop, tokens[name], name)
            push(laptop.path, HttpRemote(storm.url, tokens[name]), tokens[name], name)
            with closing(open_archive(laptop.path)) as here, storm.archive(name) as there:
                understand(there)
                groups = plan_for(here, [everything(name)], name).groups
                assert len(groups) > NEW * faults
                assert list(differences(here, there, tmp_path / "files", groups)) == []
                assert verify(there) == [] and there.check() == []
    finally:
        storm.end()
    assert all(count >= rounds for count in storm.befell.values()), storm.befell
    print(f"killed: {storm.befell}")
