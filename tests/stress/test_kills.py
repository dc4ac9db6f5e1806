"""Import is killed at random moments; what is finished afterwards equals what was never interrupted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.intake.verify import verify
from tests.support.dump import dump

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough for the workers to be used: about 12 MB."""
    home = tmp_path_factory.mktemp("corpus")
    command = [sys.executable, str(ROOT / "bench" / "gen_corpus.py"), "--out", str(home)]
    subprocess.run([*command, "--sessions", "60", "--turns", "9"], check=True, capture_output=True)
    return home


def start(home: Path, archive: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "rireki", "import", "--home", str(home), "--archive", str(archive)],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )


def test_killed_imports_end_like_one_that_was_never_interrupted(
    corpus: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = 200 if pytestconfig.getoption("campaign") else 5
    calm = tmp_path / "calm.sqlite3"
    started = time.monotonic()
    assert start(corpus, calm).wait() == 0
    duration = time.monotonic() - started
    expected = dump(open_archive(calm))
    assert expected["conversations"] and not expected["waiting"]
    chance = random.Random(1)
    kills = round_number = 0
    while kills < wanted:
        round_number += 1
        stormy = tmp_path / f"stormy-{round_number}.sqlite3"
        kills += _kill_until_done(corpus, stormy, chance, duration, wanted - kills)
        archive = open_archive(stormy)
        assert dump(archive) == expected
        assert verify(archive) == []
        archive.close()


def _kill_until_done(
    home: Path, archive: Path, chance: random.Random, duration: float, most: int
) -> int:
    """Kill imports into one archive until one of them gets through; returns how many died."""
    kills = 0
    while kills < most:
        process = start(home, archive)
        try:
            code = process.wait(chance.uniform(0.02, duration))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        assert code == 0
        return kills
    assert start(home, archive).wait() == 0
    return kills


def test_workers_do_not_outlive_the_import_they_work_for(corpus: Path, tmp_path: Path) -> None:
    process = start(corpus, tmp_path / "archive.sqlite3")
    workers: list[int] = []
    deadline = time.monotonic() + 20
    while not workers and process.poll() is None and time.monotonic() < deadline:
        workers = _children(process.pid)
    assert workers, "a corpus of this size is imported with workers"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    while any(_is_alive(pid) for pid in workers):
        assert time.monotonic() < deadline, "the workers are still there"
        time.sleep(0.05)


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
