"""Several processes share a store and are killed: what they were told is there, is there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Thread

import apsw
import pytest

from tests.chatkit.adding import ALICE, THREADS
from tests.chatkit.stores import ours
from tests.live.conftest import until

PROCESSES = 3
#: Lines that each has written before it is killed.
ENOUGH = 100


def _listen(process: subprocess.Popen[bytes], lines: list[bytes]) -> None:
    assert process.stdout is not None
    # A last line may be cut off: it was not told then.
    lines += (line for line in process.stdout if line.endswith(b"\n"))


def test_three_processes_that_begin_and_are_killed_together_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three times what ChatKit imports, on a machine that may have other things to do.
    monkeypatch.setattr("tests.live.conftest.PATIENCE", 180.0)
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.chatkit.adding", str(tmp_path), str(number)],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        for number in range(PROCESSES)
    ]
    told: list[list[bytes]] = [[] for _ in processes]
    ears = [Thread(target=_listen, args=each) for each in zip(processes, told, strict=True)]
    try:
        for ear in ears:
            ear.start()
        until(lambda: all(len(lines) > ENOUGH for lines in told), "enough items")
    finally:
        for process in processes:
            process.kill()
        for process, ear in zip(processes, ears, strict=True):
            process.wait()
            ear.join()
            assert process.stdout is not None
            process.stdout.close()
    asyncio.run(_look(tmp_path, {line.decode().strip() for lines in told for line in lines}))


async def _look(folder: Path, told: set[str]) -> None:
    async with ours(folder) as store:
        found: list[str] = []
        for thread in THREADS:
            there = (await store.load_thread_items(thread, None, 10**6, "asc", ALICE)).data
            back = (await store.load_thread_items(thread, None, 10**6, "desc", ALICE)).data
            assert there == back[::-1]
            found += [f"{thread} {item.id}" for item in there]
        assert len(set(found)) == len(found)
        assert told <= set(found)
        database = apsw.Connection(str(store.path))
        assert database.execute("PRAGMA integrity_check").get == "ok"
        database.close()
