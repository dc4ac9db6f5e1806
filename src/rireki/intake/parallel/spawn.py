"""How a worker comes into being: as a copy of this process where that is safe, else as a new one.

A copy is there at once; a new one has to start Python and to import all that is
needed, which takes as long as reading ten megabytes of history. But SQLite believes
that a copy holds the locks of the first process: no copy may open the archive.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol, cast

from rireki.intake.parallel.worker import work
from rireki.python_path import child_environment, python_command
from rireki.sources import registry

__all__ = ["Worker", "release", "reserve", "spawn"]

_COMMAND = "from rireki.intake.parallel.worker import main; main({})"
#: Where the copy finds its pipes.
_STDIN, _STDOUT, _STDERR = range(3)


class Worker(Protocol):
    """A process that is told tasks and answers them."""

    tasks: IO[bytes]
    answers: IO[bytes]

    def kill(self) -> None: ...

    def wait(self) -> None:
        """Until it is gone, and its pipes with it."""


#: Copies that were made while this process was alone, for when it is not any more.
_reserved: list[_Copy] = []


def reserve(number: int) -> None:
    """Make copies now, where that is safe: a program that soon has threads will want them.

    They get ready while the program itself does. Whoever reserves has to `release` what nobody wanted.
    """
    if _is_alone():
        with suppress(OSError):
            # One by one: those that were made are there, also when the next cannot be.
            _reserved.extend(_Copy(ready=True) for _ in range(number))


def release() -> None:
    """End the copies that nobody wanted."""
    while _reserved:
        worker = _reserved.pop()
        worker.kill()
        worker.wait()


def spawn(copy: bool) -> Worker:
    """A worker, a `copy` if that will do; raises OSError when there can be no more."""
    if copy and _reserved:
        return _reserved.pop()
    return _Copy() if copy and _is_alone() else _Started()


def _is_alone() -> bool:
    """Whether this process has a single thread: what others just do would stay half done in a copy."""
    if sys.platform != "linux":
        return False
    try:
        return sum(1 for _ in Path("/proc/self/task").iterdir()) == 1
    except OSError:
        return False


class _Started:
    def __init__(self) -> None:
        self._errors = _Errors()
        try:
            self._process = subprocess.Popen(
                python_command(_COMMAND.format(os.getpid())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors.theirs,
                env=child_environment(),
            )
        finally:
            self._errors.started()
        self.tasks = cast(IO[bytes], self._process.stdin)
        self.answers = cast(IO[bytes], self._process.stdout)

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        self._process.communicate()
        self._errors.wait()


class _Errors:
    """What a new process says on standard error. Where that is a terminal it has no guard of its own
    (a copy has ours), and what it says may quote a transcript: so it goes through our stream."""

    def __init__(self) -> None:
        #: Where the worker writes it; None: where we do.
        self.theirs: int | None = None
        self._thread: threading.Thread | None = None
        if sys.stderr is not None and sys.stderr.isatty():
            self._pass_on()

    def _pass_on(self) -> None:
        ours, self.theirs = os.pipe()
        self._thread = threading.Thread(target=_pass_on, args=(ours,), daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            # Threads count as processes where a user may have only so many.
            os.close(ours)
            self.started()
            raise OSError(errno.EAGAIN, str(error)) from error

    def started(self) -> None:
        """From now on the other end is the worker's alone, and closed with it."""
        if self.theirs is not None:
            os.close(self.theirs)

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()


def _pass_on(pipe: int) -> None:
    with os.fdopen(pipe, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            sys.stderr.write(line)
            sys.stderr.flush()


class _Copy:
    def __init__(self, ready: bool = False) -> None:
        """`ready`: it imports what it will need before it is asked for anything."""
        theirs, tasks = os.pipe()
        answers, mine = os.pipe()
        parent = os.getpid()
        try:
            self._pid = os.fork()
        except OSError:
            for end in (theirs, tasks, answers, mine):
                os.close(end)
            raise
        if not self._pid:
            _live_as_worker(theirs, mine, parent, ready)
        os.close(theirs)
        os.close(mine)
        self.tasks: IO[bytes] = os.fdopen(tasks, "wb")
        self.answers: IO[bytes] = os.fdopen(answers, "rb")

    def kill(self) -> None:
        # Nobody else can have this id before we waited for it.
        os.kill(self._pid, 9)

    def wait(self) -> None:
        os.waitpid(self._pid, 0)
        self.answers.close()
        # A task may have been on its way when it died.
        with suppress(BrokenPipeError):
            self.tasks.close()


def _live_as_worker(tasks: int, answers: int, parent: int, ready: bool) -> None:
    """All this process does from here on; what it has in common with the first one is left untouched."""
    code = 1
    try:
        os.dup2(tasks, _STDIN)
        os.dup2(answers, _STDOUT)
        os.closerange(_STDERR + 1, os.sysconf("SC_OPEN_MAX"))
        if ready:
            # Who made it is interrupted as well, and ends it.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            registry.readers()
        work(os.fdopen(_STDIN, "rb"), os.fdopen(_STDOUT, "wb"), parent)
        code = 0
    except BaseException:  # noqa: BLE001 - nobody is there to raise it to
        traceback.print_exc()
    finally:
        # Not as programs end: what waits to be written, and whoever waits for the end, is the other's.
        os._exit(code)
