"""How workers come into being, and that a copy of a process leaves the first one's things alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rireki.intake import hiring

#: Hires a worker in a process of its own and tells what it answered.
HIRING = """
import pickle, signal, sys, threading, time
from rireki.intake.hiring import hire
from rireki.intake.worker import PackTask, receive, send
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.stdout.write("first ")
{before}
worker = hire(copy=True)
send(worker.tasks, PackTask([]))
data, last = receive(worker.answers)
try:
    print(type(worker).__name__, pickle.loads(data), last, flush=True)
    for _ in range({seconds} * 20):
        time.sleep(0.05)
except KeyboardInterrupt:
    print("interrupted")
worker.kill()
worker.wait()
"""
SLEEPING = "threading.Thread(target=threading.Event().wait, daemon=True).start()"


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="copies are made on Linux only")


def hiring_process(before: str, seconds: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HIRING.format(before=before, seconds=seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@on_linux
def test_a_copy_answers_and_says_nothing_of_what_the_first_process_was_about_to_say() -> None:
    assert hiring_process("").communicate() == ("first _Copy [] True\n", "")


def test_beside_other_threads_a_new_process_is_started() -> None:
    assert hiring_process(SLEEPING).communicate() == ("first _Started [] True\n", "")


def test_what_reads_the_archive_is_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hiring, "_is_alone", lambda: True)
    worker = hiring.hire(copy=False)
    worker.kill()
    worker.wait()
    assert isinstance(worker, hiring._Started)


@on_linux
def test_no_pipe_stays_open_where_no_copy_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(hiring, "_is_alone", lambda: True)
    before = sorted(Path("/proc/self/fd").iterdir())
    with pytest.raises(BlockingIOError):
        hiring.hire(copy=True)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("before", ["", SLEEPING])
def test_ctrl_c_is_left_to_the_first_process(before: str) -> None:
    """A terminal interrupts all processes at once."""
    process = hiring_process(before, seconds=60)
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30) == ("interrupted\n", "")


@pytest.mark.parametrize("before", ["", SLEEPING])
def test_workers_end_when_the_first_process_is_killed(before: str) -> None:
    process = hiring_process(before, seconds=60)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 30
    while _is_there(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_there(process.pid)


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
