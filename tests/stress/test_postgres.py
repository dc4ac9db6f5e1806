"""A team's database while pushers are killed, answers are lost and the server crashes: nothing that
was acknowledged is lost, and nothing is there twice."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest

from rireki.archive.base import Stale
from rireki.archive.open import open_archive, open_store
from rireki.errors import ArchiveTrouble
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out
from tests.support.postgres import PostgresServer, engines, running
from tests.support.pushing import deltas, push, told

HOMES = ("amazon-q-1.12", "claude-code-2.0.76")
#: A batch of the pushers: small, so that there are many.
LIMIT = 300
GONE = 3
#: There at once: a Python that begins anew would be killed before it does anything.
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    # A crash of the server alone loses nothing that the system has got: of what was committed, all.
    durable = request.config.getoption("--campaign")
    with running(durable=durable, options=("synchronous_commit=on",)) as started:
        yield started


def pushing(laptop: Path, address: str, acknowledged: Path, seed: int) -> None:
    """Tells everything; every third answer is lost, and what it was for is sent again."""
    chance = random.Random(seed)
    try:
        with (
            closing(open_archive(laptop)) as source,
            closing(open_archive(address)) as target,
            acknowledged.open("a") as said,
        ):
            stream = target.stream(source.identity(), "laptop").id
            for delta in deltas(source, target, LIMIT):
                print(target.take(stream, delta), file=said, flush=True)
                if chance.random() < 1 / 3:
                    target.take(stream, delta)
    except Stale:
        # Another one was faster.
        os._exit(GONE)
    except ArchiveTrouble as error:
        os._exit(GONE if error.code in ("database-gone", "database-busy") else 1)
    os._exit(0)


class Storm:
    """Pushers of one laptop to one owner, and what befalls them."""

    def __init__(self, server: PostgresServer, laptop: Path, address: str, chance: random.Random):
        self.server, self.laptop, self.address = server, laptop, address
        self.acknowledged = laptop.with_name(f"acknowledged-{chance.random()}")
        self.chance = chance
        self.kills = self.crashes = 0

    def rage(self, faults: int) -> None:
        for number in range(faults):
            pushers = [self._start() for _ in range(1 + number % 2)]
            # The first has everything before it, and is met at it.
            time.sleep(self.chance.uniform(0, 0.25 if number else 0.03))
            if number % 3 == 2:
                self.server.stop("immediate")
                self.crashes += 1
            for pusher in pushers:
                if pusher.is_alive():
                    self.kills += 1
                    pusher.kill()
                pusher.join()
                assert pusher.exitcode in (0, GONE, -9), pusher.exitcode
            if number % 3 == 2:
                self.server.start()
            self._look()

    def _start(self) -> ForkProcess:
        seed = self.chance.randrange(1 << 30)
        told = (self.laptop, self.address, self.acknowledged, seed)
        pusher = FORK.Process(target=pushing, args=told, daemon=True)
        pusher.start()
        return pusher

    def _look(self) -> None:
        """What was acknowledged is there."""
        lines = self.acknowledged.read_text().split() if self.acknowledged.exists() else []
        with closing(open_archive(self.laptop)) as source:
            identity = source.identity()
        with closing(open_archive(self.address)) as target:
            reached = target.stream(identity, "laptop").reached
        assert reached >= max(map(int, lines), default=0)


def test_nothing_is_lost_or_doubled_whoever_is_killed(
    server: PostgresServer, home: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(20)
    rounds, faults = (40, 26) if request.config.getoption("--campaign") else (1, 6)
    for name in HOMES if rounds > 1 else HOMES[:1]:
        lay_out(name, home)
    laptop = tmp_path / "laptop.sqlite3"
    database = server.database()
    open_store(database, create=True).close()
    with closing(open_archive(laptop, create=True)) as source:
        import_history(source, places=Places.at(home))
        source.identity()
        here = told(source, tmp_path / "here")
    kills = crashes = 0
    for number in range(1, rounds + 1):
        storm = Storm(server, laptop, f"{database}#owner={number}", chance)
        storm.rage(faults)
        kills, crashes = kills + storm.kills, crashes + storm.crashes
        with (
            closing(open_archive(laptop)) as source,
            closing(open_archive(storm.address)) as target,
        ):
            push(source, target)
            assert told(target, tmp_path / f"{number}") == here
            assert verify(target) == [] and target.check() == []
    assert kills >= rounds and crashes >= rounds
    print(f"{kills} pushers killed, {crashes} crashes of the server")


@pytest.mark.parametrize("version", engines())
def test_the_contract_holds_on_every_version_for_every_source(
    version: int, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--campaign"):
        pytest.skip("part of the campaign")
    command = [sys.executable, "-m", "pytest", "-q", "--campaign", "tests/archive/postgres"]
    environment = {**os.environ, "RIREKI_TEST_POSTGRES": str(version)}
    subprocess.run(command, check=True, env=environment, cwd=Path(__file__).parents[2])
