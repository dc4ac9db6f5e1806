"""One keeper per archive: the second says so, follows, and takes over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from rireki.journals.lock import KeeperLock
from tests.live.conftest import SESSION, Kept, append, until

ONE = SESSION.format(1)
HOLD = """
import sys, time
from pathlib import Path
from rireki.journals.lock import KeeperLock
lock = KeeperLock(Path(sys.argv[1]))
print(lock.take(), flush=True)
time.sleep(600)
"""


def test_the_second_follows_and_takes_over_when_the_first_ends(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    append(project / f"{ONE}.jsonl", 1)
    first = kept.start()
    other = Kept(kept.path, kept.places.home)
    second = other.start()
    try:
        assert (first.status.state, second.status.state) == ("keeping", "following")
        assert second.status.holder == os.getpid()
        append(project / f"{ONE}.jsonl", 2)
        until(lambda: kept.turns(ONE) == 2)
        until(lambda: other.numbers and other.numbers[-1] == kept.numbers[-1], "the announcement")
        first.stop()
        until(lambda: second.status.state == "keeping", "the second keeper")
        assert second.status.holder is None
        append(project / f"{ONE}.jsonl", 3)
        until(lambda: kept.turns(ONE) == 3)
    finally:
        second.stop()


def test_it_takes_over_from_one_that_was_killed(kept: Kept, project: Path) -> None:
    append(project / f"{ONE}.jsonl", 1)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(kept.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "True\n"
        keeper = kept.start()
        assert keeper.status.state == "following"
        assert keeper.status.holder == process.pid
        assert not kept.path.exists(), "a follower takes nothing in"
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    until(lambda: keeper.status.state == "keeping")
    assert kept.turns(ONE) == 1


def test_a_lock_is_one_holders_until_it_is_given_back(tmp_path: Path) -> None:
    one, two = KeeperLock(tmp_path / "a.sqlite3"), KeeperLock(tmp_path / "a.sqlite3")
    assert one.holder() is None
    assert one.take() and one.take() and not two.take()
    assert two.holder() == os.getpid()
    one.release()
    assert two.holder() is None and two.take()
    two.release()
    assert one.path.name == "a.sqlite3.keeper"
