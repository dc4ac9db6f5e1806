"""Where a command's words go: a terminal, a pager, a pipe, a program that reads JSON.

Knows how wide the screen is and whether it has colours, not what is written on it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from itertools import islice
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

from rireki.cli.terminal import steer, wants_colour
from rireki.model.when import when
from rireki.show.catalogue import say
from rireki.show.json import line
from rireki.show.safe import Style, escaped, one_line, printable
from rireki.show.width import width, wrap
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.intake.progress import Progress
    from rireki.model.conversation import Trouble

__all__ = [
    "ProgressBar",
    "StandardOutput",
    "now",
    "progress",
    "time_of",
    "trouble_lines",
    "waiting_line",
]

#: In a pipe lines are as long as they are, unless COLUMNS says otherwise.
WIDE = 100_000


def now() -> datetime:
    return datetime.now(timezone.utc)


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
        for value in values:
            told = line(value)
            sys.stdout.write((escaped(told) if self.terminal else told) + "\n")

    def give(self, as_json: bool, values: Iterable[Any], lines: Iterable[str]) -> None:
        """Values for a program that asks for JSON, else lines for a person."""
        if as_json:
            self.json(values)
        else:
            self.say(lines)

    def page(self, lines: Iterable[str], pager: bool = True, at: int = 0) -> None:
        """Through a pager when somebody is looking, opened at a line; else straight out."""
        if not (pager and self.terminal):
            self.say(lines)
            return
        command = _pager().find_pager(at)
        if command is None:
            self.say(lines)
        else:
            _pager().feed(command, lines)

    def opens_in_the_middle(self) -> bool:
        """Whether the pager can be opened at a line, with everything else above and below it."""
        return bool(_pager().opens_in_the_middle())


def _pager() -> ModuleType:
    # Imported late: subprocess and shutil, which output into a pipe does not need.
    from rireki.cli import pager

    return pager


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


def time_of(text: str | None, end_of_day: bool = False) -> str | None:
    """A time as it was typed, in the archive's spelling."""
    return None if text is None else when(text, now(), end_of_day)


# ── What could not be read ──


def trouble_lines(troubles: Sequence[Trouble], screen: StandardOutput) -> Iterator[str]:
    """A hint that several troubles share is said once, after the last of them."""
    for place, trouble in enumerate(troubles):
        said = f"! {one_line(trouble.place)}: {one_line(say(trouble.message))}"
        for number, row in enumerate(wrap(said, screen.columns - 4)):
            yield screen.style.yellow(f"    {row}" if number else f"  {row}")
        following = troubles[place + 1].hint if place + 1 < len(troubles) else ""
        if trouble.hint and trouble.hint != following:
            hint = f"    {one_line(say(trouble.hint))}"
            yield from map(screen.style.dim, wrap(hint, screen.columns))


def waiting_line(number: int) -> str:
    """That conversations are kept, but not yet (or not any more) what their records mean."""
    wait = count(number, "conversation waits", "conversations wait")
    return say(
        f"{wait} to be read again: another process is at it, or was interrupted. "
        "'rireki import' finishes it."
    )
