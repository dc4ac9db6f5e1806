"""A program that runs in a terminal of its own: started, typed to, listened to, ended.

What it prints and what may be typed is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rireki.drive.driver import AgentGone

__all__ = ["PseudoTerminal"]

#: Wide, so that hardly a line of an answer is broken.
ROWS, COLUMNS = 50, 240
#: Makes the terminal the program's own (so that Ctrl-C reaches it), and becomes the program.
BECOME = (
    "import fcntl, os, sys, termios;"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
#: Seconds that a program has to end after it was asked to.
FAREWELL = 2.0


class PseudoTerminal:
    def __init__(self, heard: Callable[[bytes], None], ended: Callable[[int | None], None]) -> None:
        self._heard, self._ended = heard, ended
        self._master = -1
        self._waiting = b""
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(
        self, command: Sequence[str], directory: Path, environment: Mapping[str, str]
    ) -> None:
        if os.name != "posix":
            raise AgentGone("no-terminal-on-windows")
        master, slave = os.openpty()
        _resize(slave)
        os.set_blocking(master, False)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", BECOME, *command),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=directory,
                env={**environment, "TERM": "xterm-256color"},
                start_new_session=True,
            )
        except OSError as error:
            os.close(master)
            raise AgentGone(
                "program-not-started", command=command[0], why=error.strerror
            ) from error
        finally:
            os.close(slave)
        self._master = master
        loop = asyncio.get_running_loop()
        loop.add_reader(master, self._read)
        self._watch = loop.create_task(self._wait())

    def write(self, data: bytes) -> None:
        """Type; what the program does not take yet waits."""
        if self._master >= 0:
            self._waiting += data
            self._flush()

    async def close(self) -> None:
        """End it: asked to, then told to, then by force."""
        if self._watch is None:
            return
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGKILL):
            self._signal(number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._watch), FAREWELL)
                return

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    async def wait(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds."""
        if self._watch is not None:
            done, _ = await asyncio.wait([self._watch], timeout=seconds)
            return bool(done)
        return True

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    async def _wait(self) -> None:
        assert self._process is not None
        code = await self._process.wait()
        # What it printed last may still be on the way.
        self._read()
        self._release()
        self._ended(code)

    def _read(self) -> None:
        while self._master >= 0:
            try:
                data = os.read(self._master, 65536)
            except BlockingIOError:
                return
            except OSError:
                # Linux says so when nobody has the other end open any more.
                data = b""
            if not data:
                asyncio.get_running_loop().remove_reader(self._master)
                return
            self._heard(data)

    def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._waiting = self._waiting[os.write(self._master, self._waiting) :]
        except BlockingIOError:
            # The program is slow to read; go on when it has.
            loop.add_writer(self._master, self._flush)
            return
        except OSError:
            # It has just ended, which is told by whoever waits for it.
            self._waiting = b""
        if self._waiting:
            loop.add_writer(self._master, self._flush)
        else:
            loop.remove_writer(self._master)

    def _release(self) -> None:
        if self._master >= 0:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._master)
            loop.remove_writer(self._master)
            os.close(self._master)
            self._master = -1


def _resize(terminal: int) -> None:
    # Imported late: Windows lacks them, and drives no agent that needs a terminal.
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
