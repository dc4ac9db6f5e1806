"""Whoever writes the search index is killed at random moments; no answer ever tells."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rireki.search.execute.view import IndexView, look_without_index
from rireki.search.search import Search
from rireki.search.text import text_store
from tests.support.searching import (
    ALL,
    Answers,
    Place,
    answers,
    append_turn,
    kill,
    make_home,
    messages,
    opened,
    start,
    troubles,
)

#: Asked after every kill: what is planted, and what the index cannot decide alone.
WORDS = ("quokkaflux", "tungstenpelican", "麒麟", "獏", "wolpertinger", '"please look at"')

IMPORT = """
import sys
from rireki.cli.start import main
print("running", flush=True)
sys.argv = ["rireki", "import", "--home", sys.argv[1] + "/home", "--archive", sys.argv[1]]
sys.stdout = sys.stderr
main()
"""
INDEX = """
import sys
from pathlib import Path
from tests.support.searching import Place, opened
from rireki.search.index.update import catch_up, rebuild
with opened(Place(Path(sys.argv[1]))) as archive:
    print("running", flush=True)
    {"catch_up": catch_up, "rebuild": rebuild}[sys.argv[2]](archive)
"""


class Plain(Search):
    """Reads everything from the archive: what the index has to keep up with."""

    def _view(self, finished: bool) -> IndexView:
        return look_without_index(self.archive, finished)


def truth(place: Place) -> Answers:
    with opened(place) as archive, pytest.MonkeyPatch.context() as patch:
        # Each conversation is read once for all words.
        patch.setattr(text_store, "TALKS", 10**6)
        search = Plain(archive)
        return {word: messages(search.find(word, ALL)) for word in WORDS}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """About 10 MB: enough for an import with workers, which the index follows."""
    place = Place(tmp_path_factory.mktemp("calm"))
    make_home(place.home, 60, turns=9)
    return place


@pytest.fixture
def kills(pytestconfig: pytest.Config) -> int:
    return 50 if pytestconfig.getoption("campaign") else 2


def _steps(place: Place, chance: random.Random) -> Iterator[subprocess.Popen[str]]:
    """One process after the other that writes the index, each in its own way."""
    for step in range(10**6):
        way = chance.choice(["import", "import", "catch_up", "rebuild"])
        if way == "import":
            for transcript in chance.sample(place.transcripts(), chance.choice([1, 3, 15])):
                append_turn(transcript, f"wolpertinger {step}", "noted " * chance.randrange(300))
            yield start(IMPORT, place.folder)
        else:
            if chance.random() < 0.3:
                shutil.rmtree(place.index, ignore_errors=True)
            yield start(INDEX, place.folder, way)


def _duration(place: Place) -> float:
    started = time.monotonic()
    process = start(IMPORT, place.folder)
    assert _finished(process) == 0
    return time.monotonic() - started


def _finished(process: subprocess.Popen[str]) -> int:
    process.communicate()
    return process.returncode


def _killed(process: subprocess.Popen[str], patience: float) -> bool:
    """Whether it was still at it after that time; then it is dead now."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        kill(process)
        return True
    assert _finished(process) == 0
    return False


def test_first_imports_that_are_killed_leave_an_index_that_hides_nothing(
    calm: Place, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(1)
    whole = Place(tmp_path / "whole")
    shutil.copytree(calm.home, whole.home)
    duration = _duration(whole)
    died = rounds = 0
    while died < kills:
        rounds += 1
        place = Place(tmp_path / f"round-{rounds}")
        shutil.copytree(calm.home, place.home)
        while died < kills and _killed(start(IMPORT, place.folder), chance.uniform(0.1, duration)):
            died += 1
            if place.path.exists():
                assert answers(place, WORDS) == truth(place)
        assert _finished(start(IMPORT, place.folder)) == 0
        assert answers(place, WORDS) == truth(place) == answers(whole, WORDS)
        assert troubles(place) == []
        shutil.rmtree(place.folder)


def test_an_index_that_is_killed_again_and_again_hides_nothing(
    calm: Place, tmp_path: Path, kills: int
) -> None:
    chance = random.Random(2)
    place = Place(tmp_path)
    shutil.copytree(calm.home, place.home)
    assert _finished(start(IMPORT, place.folder)) == 0
    died = 0
    for process in _steps(place, chance):
        died += _killed(process, chance.uniform(0.1, 0.6))
        assert answers(place, WORDS) == truth(place)
        if died >= kills:
            break
    assert _finished(start(IMPORT, place.folder)) == 0
    assert answers(place, WORDS) == truth(place)
    assert troubles(place) == []
