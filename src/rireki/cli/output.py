"""Where a command's words go: a terminal, a pager, a pipe, a program that reads JSON.

Knows how wide the screen is and whether it has colours, not what is written on it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from datetime import datetime, timezone
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from rireki.cli.terminal import steer
from rireki.show.catalogue import say
from rireki.show.safe import printable
from rireki.show.style import Style
from rireki.show.width import width

if TYPE_CHECKING:
    from subprocess import Popen

    from rireki.intake.progress import Progress

__all__ = ["ProgressBar", "StandardOutput", "now", "progress", "say_aside", "wants_colour"]

#: In a pipe lines are as long as they are, unless COLUMNS says otherwise.
WIDE = 100_000


def now() -> datetime:
    return datetime.now(timezone.utc)


def wants_colour(stream: IO[str]) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say_aside(what: str, message: str, hint: str) -> None:
    """Two lines for the person, beside what a program may read."""
    from rireki.show.safe import one_line

    style = Style(wants_colour(sys.stderr))
    sys.stderr.write(f"{style.red(say(what))} {one_line(say(message))}\n")
    if hint:
        sys.stderr.write(f"{style.dim(say('hint:'))} {one_line(say(hint))}\n")


class StandardOutput:
    """Standard output, as this run finds it."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()
        self.style = Style(wants_colour(sys.stdout))
        self.columns = _columns(self.terminal)
        if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
            # A terminal without our letters shows question marks rather than a traceback.
            _reconfigure(sys.stdout)

    def say(self, lines: Iterable[str]) -> None:
        written = iter(lines)
        while some := list(islice(written, 500)):
            sys.stdout.write("\n".join(some) + "\n")

    def json(self, values: Iterable[Any]) -> None:
        """One JSON value per line; on a terminal what could steer it is spelled as an escape."""
        from rireki.show.json import line
        from rireki.show.safe import escaped

        for value in values:
            told = line(value)
            sys.stdout.write((escaped(told) if self.terminal else told) + "\n")

    def page(self, lines: Iterable[str], pager: bool = True, at: int = 0) -> None:
        """Through a pager when somebody is looking, opened at a line; else straight out."""
        command = _pager(at) if pager and self.terminal else None
        if command is None:
            self.say(lines)
        else:
            _feed(command, lines)


def _columns(terminal: bool) -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return max(int(given), 20)
    if not terminal:
        return WIDE
    try:
        return max(os.get_terminal_size().columns, 20)
    except OSError:
        return 80


def _reconfigure(stream: Any) -> None:
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")


def _pager(at: int) -> list[str] | None:
    """The user's pager; `less` leaves short texts on the screen and can open in the middle."""
    import shutil

    chosen = os.environ.get("PAGER", "less").split()
    path = shutil.which(chosen[0]) if chosen else None
    if path is None or chosen[0] == "cat":
        return None
    if os.path.basename(path) == "less":  # noqa: PTH119
        return [path, *chosen[1:], "-R", *([f"+{at + 1}"] if at else ["-F", "-X"])]
    return [path, *chosen[1:]]


def _feed(command: list[str], lines: Iterable[str]) -> None:
    import subprocess

    pager = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, encoding="utf-8")
    assert pager.stdin is not None
    try:
        for line in lines:
            # What the pager shows, the terminal gets.
            pager.stdin.write(printable(line) + "\n")
        pager.stdin.close()
    except BrokenPipeError:
        # The reader has seen enough and closed the pager.
        pager.stdin = None
    finally:
        _wait(pager)


def _wait(pager: Popen[str]) -> None:
    """Ctrl-C belongs to the pager: it stops its reading, not ours."""
    while True:
        try:
            pager.wait()
            return
        except KeyboardInterrupt:
            continue


def progress() -> Progress | None:
    """A bar when somebody is looking; nothing in a pipe."""
    return ProgressBar(sys.stderr) if sys.stderr.isatty() else None


class ProgressBar:
    """A bar on one line of the terminal, gone when the work is done."""

    EVERY = 0.1

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.label = ""
        self.total = self.done = 0
        self.drawn = 0.0

    def start(self, label: str, total: int) -> None:
        self.label, self.total, self.done = say(label), total, 0
        self._draw()

    def advance(self, amount: int) -> None:
        self.done += amount
        if time.monotonic() - self.drawn >= self.EVERY:
            self._draw()

    def finish(self) -> None:
        steer(self.stream, "\r\x1b[K")
        self.stream.flush()

    def _draw(self) -> None:
        self.drawn = time.monotonic()
        share = min(self.done / self.total, 1.0) if self.total else 1.0
        room = max(min(_columns(True) - width(self.label) - 8, 40), 5)
        full = int(room * share)
        bar = "━" * full + "─" * (room - full)
        steer(self.stream, f"\r{printable(self.label)} {bar} {share:4.0%}\x1b[K")
        self.stream.flush()
