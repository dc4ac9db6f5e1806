"""How a worker comes into being: as a copy of this process where that is safe, else as a new one.

A copy is there at once; a new one has to start Python and to import all that is
needed, which takes as long as reading ten megabytes of history. But SQLite believes
that a copy holds the locks of the first process: no copy may open the archive.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol, cast

from rireki.intake.worker import work
from rireki.python_path import child_environment, python_command

__all__ = ["Worker", "hire"]

_COMMAND = "from rireki.intake.worker import main; main({})"
#: Where the copy finds its pipes.
_STDIN, _STDOUT, _STDERR = range(3)


class Worker(Protocol):
    """A process that is told tasks and answers them."""

    tasks: IO[bytes]
    answers: IO[bytes]

    def kill(self) -> None: ...

    def wait(self) -> None:
        """Until it is gone, and its pipes with it."""


def hire(copy: bool) -> Worker:
    """A worker, a `copy` if that will do; raises OSError when there can be no more."""
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
        self._process = subprocess.Popen(
            python_command(_COMMAND.format(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
        )
        self.tasks = cast(IO[bytes], self._process.stdin)
        self.answers = cast(IO[bytes], self._process.stdout)

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        self._process.communicate()


class _Copy:
    def __init__(self) -> None:
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
            _live_as_worker(theirs, mine, parent)
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


def _live_as_worker(tasks: int, answers: int, parent: int) -> None:
    """All this process does from here on; what it has in common with the first one is left untouched."""
    code = 1
    try:
        os.dup2(tasks, _STDIN)
        os.dup2(answers, _STDOUT)
        os.closerange(_STDERR + 1, os.sysconf("SC_OPEN_MAX"))
        work(os.fdopen(_STDIN, "rb"), os.fdopen(_STDOUT, "wb"), parent)
        code = 0
    except BaseException:  # noqa: BLE001 - nobody is there to raise it to
        traceback.print_exc()
    finally:
        # Not as programs end: what waits to be written, and whoever waits for the end, is the other's.
        os._exit(code)
