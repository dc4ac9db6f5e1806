"""The terminal while the finder has it: keys one by one, a screen of our own, and everything given back.

Plain ANSI and termios, so that it works over ssh. Knows no key's meaning, nor what the lines say.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from rireki.cli.terminal import steer
from rireki.show.safe import printable

__all__ = ["FinderTerminal"]

#: A screen of our own, no wrapping (a character that is wider than we think costs itself
#: only), pastes in brackets; and all of it back.
_ENTER = "\x1b[?1049h\x1b[?7l\x1b[?2004h\x1b[2J"
_LEAVE = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class FinderTerminal:
    """Used as `with Terminal() as terminal:`; whatever happens inside, it is left as it was."""

    def __init__(self) -> None:
        self.keyboard = sys.stdin.fileno()
        self._modes: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._lines: list[str] = []
        self._cursor: tuple[int, int] | None = None
        self._size = (0, 0)
        self._continued = False
        self._stopped = False
        self._ears, self._mouth = os.pipe()
        for end in (self._ears, self._mouth):
            os.set_blocking(end, False)

    def __enter__(self) -> FinderTerminal:
        self.enter()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()
        os.close(self._ears)
        os.close(self._mouth)

    # ── taking and giving back ──

    def enter(self) -> None:
        if self._modes is None:
            self._modes = termios.tcgetattr(self.keyboard)
            self._listen()
        try:
            termios.tcsetattr(self.keyboard, termios.TCSADRAIN, _raw(self._modes))
            self._write(_ENTER)
        except BaseException:
            self.leave()
            raise
        self._lines = []

    def leave(self) -> None:
        """Everything as it was before; never fails, and may be called twice."""
        modes, self._modes = self._modes, None
        if modes is None:
            return
        self._unlisten()
        # A terminal that is gone needs nothing back.
        with suppress(OSError, ValueError):
            self._write(_LEAVE)
        with suppress(OSError, termios.error):
            termios.tcsetattr(self.keyboard, termios.TCSADRAIN, modes)

    def suspend(self) -> None:
        """Ctrl-Z: the shell's turn, until it lets us go on."""
        self.leave()
        # All of our job stops, as if the terminal itself had seen the key.
        os.killpg(0, signal.SIGTSTP)
        self.enter()

    def _listen(self) -> None:
        handlers: dict[int, Callable[[int, FrameType | None], None]] = {
            signal.SIGWINCH: lambda *_: None,
            signal.SIGCONT: self._note_continued,
            signal.SIGTSTP: self._note_stopped,
        }
        handlers |= dict.fromkeys(_ENDING, _end)
        # Any of them wakes us from waiting.
        signal.set_wakeup_fd(self._mouth, warn_on_full_buffer=False)
        self._handlers = {number: signal.signal(number, act) for number, act in handlers.items()}

    def _unlisten(self) -> None:
        for number, before in self._handlers.items():
            signal.signal(number, before)
        self._handlers = {}
        signal.set_wakeup_fd(-1)

    def _note_continued(self, *_: object) -> None:
        self._continued = True

    def _note_stopped(self, *_: object) -> None:
        self._stopped = True

    # ── in and out ──

    def wake(self) -> None:
        """End a wait; from any thread."""
        # A full pipe wakes as well; a closed one belongs to nobody any more.
        with suppress(OSError):
            os.write(self._mouth, b"!")

    def wait(self, seconds: float | None) -> bytes | None:
        """What was typed; nothing when the time is over or something else happened, None at the end."""
        ready, _, _ = select.select([self.keyboard, self._ears], [], [], seconds)
        if self._ears in ready:
            with suppress(BlockingIOError):
                os.read(self._ears, 4096)
        if self._stopped:
            self._stopped = False
            self.suspend()
        if self._continued:
            # Somebody else had the terminal meanwhile.
            self._continued = False
            self.enter()
        if self.keyboard not in ready:
            return b""
        try:
            return os.read(self.keyboard, 65536) or None
        except OSError:
            return None

    def size(self) -> tuple[int, int]:
        """Columns and rows, as they are now."""
        with suppress(OSError):
            found = os.get_terminal_size(sys.stdout.fileno())
            if found.columns and found.lines:
                return found.columns, found.lines
        return 80, 24

    def draw(self, lines: list[str], cursor: tuple[int, int] | None) -> None:
        """Put lines on the screen, those that changed."""
        size = self.size()
        if (lines, cursor, size) == (self._lines, self._cursor, self._size):
            return
        before = self._lines if size == self._size else []
        out = ["\x1b[?25l"]
        if not before:
            out.append("\x1b[2J")
        for row, line in enumerate(lines):
            if row >= len(before) or before[row] != line:
                # Wiped first: behind a full line the cursor still stands on its last character.
                out.append(f"\x1b[{row + 1};1H\x1b[2K{printable(line)}")
        if len(before) > len(lines):
            out.append(f"\x1b[{len(lines) + 1};1H\x1b[J")
        if cursor is not None:
            out.append(f"\x1b[{cursor[0] + 1};{cursor[1] + 1}H\x1b[?25h")
        self._write("".join(out))
        self._lines, self._cursor, self._size = list(lines), cursor, size

    def _write(self, text: str) -> None:
        steer(sys.stdout, text)
        sys.stdout.flush()


def _raw(modes: list[Any]) -> list[Any]:
    """Every key at once and as it is; nothing echoed, no signal made of it."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, cc = modes
    iflag &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP | termios.IXON)
    lflag &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    cc = list(cc)
    cc[termios.VMIN], cc[termios.VTIME] = 1, 0
    return [iflag, oflag, cflag, lflag, ispeed, ospeed, cc]


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
