"""How workers come into being, and that a copy of a process leaves the first one's things alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from rireki.intake.parallel import spawn

#: Hires a worker in a process of its own and tells what it answered.
HIRING = """
import pickle, signal, sys, threading, time
from rireki.intake.parallel.spawn import spawn
from rireki.intake.parallel.worker import PackTask, receive, send
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.stdout.write("first ")
{before}
worker = spawn(copy=True)
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


@on_linux
def test_a_copy_that_was_reserved_is_there_beside_other_threads_and_what_is_left_ends() -> None:
    before = f"from rireki.intake.parallel import spawn as kept; kept.reserve(2); {SLEEPING}"
    after = "kept.release(); print(open(f'/proc/self/task/{os.getpid()}/children').read())"
    script = HIRING.format(before=before, seconds=0).replace("import pickle", "import os, pickle")
    done = subprocess.run(
        [sys.executable, "-c", script + after], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["first", "_Copy", "[]", "True"], "")


def test_what_reads_the_archive_is_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "_is_alone", lambda: True)
    worker = spawn.spawn(copy=False)
    worker.kill()
    worker.wait()
    assert isinstance(worker, spawn._Started)


@on_linux
def test_no_pipe_stays_open_where_no_copy_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(spawn, "_is_alone", lambda: True)
    before = sorted(Path("/proc/self/fd").iterdir())
    with pytest.raises(BlockingIOError):
        spawn.spawn(copy=True)
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


#: Gives a worker a task that never ends and answers nothing, then waits to be killed.
BUSY = """
import os, sys, threading, time
from pathlib import Path
from rireki.intake.parallel.spawn import spawn
from rireki.intake.parallel.worker import FreshGroup, PackTask, send
from rireki.sources import registry
from rireki.sources.kit.places import Places
{before}
worker = spawn(copy={copy})
{after}
origins = registry.reader("busy").discover(Places.at(Path("."))).origins
send(worker.tasks, PackTask([FreshGroup("busy", "one", origins, True)]))
time.sleep(60)
"""
READER = """
import os
from rireki.sources.reader import Discovery, Origin

class Busy:
    name = family = "busy"
    def discover(self, places):
        return Discovery([Origin(source="busy", place="x", root="x", form="lines", role="main")])
    def read(self, origin, known):
        open({file!r}, "w").write(str(os.getpid()))
        while True:
            pass
        yield

READER = Busy()
"""
#: A process that has the worker's pipes as well, and outlives everything.
SIBLING = """
if os.fork() == 0:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.dup2(1, 2)
    time.sleep(20)
    os._exit(0)
"""


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which a worker that has got its task notes its number."""
    info = tmp_path / "plugin" / "busy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[rireki.readers]\nbusy = busy_reader:READER\n")
    file = tmp_path / "worker"
    (info.parent / "busy_reader.py").write_text(READER.format(file=str(file)))
    monkeypatch.setenv("PYTHONPATH", str(info.parent))
    return file


@pytest.mark.parametrize("after", ["", SIBLING], ids=["alone", "with-a-sibling"])
@pytest.mark.parametrize(
    ("copy", "before"), [("True", ""), ("False", SLEEPING)], ids=["copy", "started"]
)
def test_a_worker_in_the_middle_of_a_task_ends_when_the_first_process_is_killed(
    busy: Path, copy: str, before: str, after: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY.format(copy=copy, before=before, after=after)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _until(lambda: busy.exists() and bool(busy.read_text()), process)
    assert int(busy.read_text()) != process.pid
    process.kill()
    process.wait()
    try:
        _until(lambda: not _is_there(process.pid))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        assert process.stderr is not None
        process.stderr.close()


def _until(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        if process is not None and process.poll() is not None:
            raise AssertionError(process.communicate()[1])
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_there(group: int) -> bool:
    """Whether one of the group still runs. One that has ended may be there until somebody asks."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    stats = (_stat(each) for each in Path("/proc").glob("[0-9]*/stat"))
    running = [stat for stat in stats if stat and stat[2] == str(group) and stat[0] not in "ZX"]
    return bool(running) or sys.platform != "linux"


def _stat(file: Path) -> list[str]:
    """State, parent and group of a process, and what follows; nothing when it has gone."""
    try:
        return file.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


#: A worker that quotes a transcript in a warning, in a process whose terminal is guarded.
LOUD = """
from rireki.cli.terminal import guard_terminal
from rireki.intake.parallel import spawn as spawning
guard_terminal()
evil = "quoted \\x1b]52;c;ZXZpbA==\\x07 \\x9b2J \\u202e\\n"
spawning._COMMAND = f"import sys; print({evil!a}, file=sys.stderr, flush=True); " + spawning._COMMAND
"""


@pytest.mark.parametrize("before", ["", SLEEPING])
def test_what_a_worker_says_does_not_steer_the_terminal(before: str) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    code = HIRING.format(before=f"{LOUD}\n{before}", seconds=0)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    # The end of a terminal is an error.
    with suppress(OSError):
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert process.wait(30) == 0
    said = shown.decode()
    assert ("_Started" in said) == ("quoted" in said) == bool(before)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said)
