"""Standard output and standard error where they are a terminal: text and our own colours, nothing else.

Installed once, before any command runs, so that no command can forget it. What is
archived was written by others, and an escape sequence in a title or a path could set the
clipboard, hide a line or answer for the person.
"""

from __future__ import annotations

import io
import sys
from typing import IO, Any

from rireki.show.safe import printable

__all__ = ["TerminalStream", "guard_terminal", "steer"]


class TerminalStream(io.TextIOWrapper):
    """A terminal that shows control characters instead of obeying them."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        # A terminal without our letters shows question marks rather than a traceback.
        errors = "replace" if stream.errors in ("strict", "surrogateescape") else stream.errors
        super().__init__(
            stream.buffer,
            stream.encoding,
            errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        # It closes the terminal when it is collected.
        self._kept = stream

    @property
    def buffer(self) -> Any:
        """Bytes would get past us. (Also how click looks for a way around text it does not like.)"""
        raise AttributeError("a terminal takes text only")

    def write(self, text: str) -> int:
        super().write(printable(text))
        return len(text)

    def steer(self, codes: str) -> None:
        super().write(codes)


def guard_terminal() -> None:
    """From now on; what is no terminal stays as it is, and so does what is guarded already."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if type(stream) is io.TextIOWrapper and stream.isatty():
            stream.flush()
            setattr(sys, name, TerminalStream(stream))


def steer(stream: IO[str], codes: str) -> None:
    """Write codes of our own that move the cursor; text between them has to be `printable`."""
    if isinstance(stream, TerminalStream):
        stream.steer(codes)
    else:
        stream.write(codes)
