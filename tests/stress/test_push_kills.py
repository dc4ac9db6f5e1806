"""Whoever tells one archive to another is killed at random moments: nothing is lost, nothing doubled."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out
from tests.support.pushing import push, told

PUSHER = """
import sys
from pathlib import Path
from rireki.archive.open import open_archive
from tests.support.pushing import deltas
source, target = (open_archive(path) for path in sys.argv[1:])
stream = target.stream(source.identity(), "laptop").id
print("begun", flush=True)
for delta in deltas(source, target, 500):
    target.take(stream, delta)
print("done", flush=True)
"""


def test_a_pusher_that_is_killed_goes_on_where_it_was(
    request: pytest.FixtureRequest, home: Path, tmp_path: Path
) -> None:
    chance = random.Random(20)
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    paths = [str(tmp_path / name) for name in ("source.sqlite3", "target.sqlite3")]
    with closing(open_archive(paths[0], create=True)) as source:
        import_history(source, places=Places.at(home))
        rounds = 60 if request.config.getoption("--campaign") else 3
        kills = sum(
            _kills(source.address, tmp_path / f"{n}.sqlite3", chance) for n in range(rounds)
        )
        assert kills > rounds
        for number in range(rounds):
            with closing(open_archive(tmp_path / f"{number}.sqlite3")) as target:
                assert push(source, target) == [] and target.check() == []
                here, there = told(source, tmp_path / "here"), told(target, tmp_path / f"{number}")
                assert here == there and verify(target) == []


def _kills(source: str, target: Path, chance: random.Random) -> int:
    """Tell everything, however often that is begun; returns how often it was ended."""
    open_archive(target, create=True).close()
    for number in range(100):
        command = [sys.executable, "-c", PUSHER, source, str(target)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pusher:
            assert pusher.stdout is not None and pusher.stdout.readline() == "begun\n"
            # Longer from time to time, so that it comes to an end.
            time.sleep(chance.uniform(0, 0.02 + number / 50))
            if pusher.poll() is None:
                pusher.kill()
            if pusher.stdout.read() == "done\n":
                return number
    raise AssertionError("it never came to its end")
