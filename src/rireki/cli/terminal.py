"""What reaches the person at a terminal: text and our own colours, and errors in two lines.

The guard is installed once, before any command runs, so that no command can forget it. What is
archived was written by others, and an escape sequence in a title or a path could set the
clipboard, hide a line or answer for the person.
"""

from __future__ import annotations

import io
import os
import sys
from typing import IO, Any

import click

from rireki.show.catalogue import language, say
from rireki.show.safe import Style, one_line, printable

__all__ = ["TerminalStream", "guard_terminal", "say_aside", "show_usage", "steer", "wants_colour"]


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


def wants_colour(stream: IO[str]) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say_aside(what: str, message: str, hint: str) -> None:
    """Two lines for the person, beside what a program may read."""
    style = Style(wants_colour(sys.stderr))
    sys.stderr.write(f"{style.red(say(what))} {one_line(say(message))}\n")
    if hint:
        sys.stderr.write(f"{style.dim(say('hint:'))} {one_line(say(hint))}\n")


def show_usage(error: click.ClickException) -> None:
    """In English as click words it; else the same lines, translated."""
    # Errors with words of their own, such as the help that `rireki` alone shows, keep them.
    if language() == "en" or type(error).show is not click.UsageError.show:
        error.show()
        return
    context = getattr(error, "ctx", None)
    if context is not None:
        click.echo(say(context.get_usage()), err=True)
        click.echo(say(f"Try '{context.command_path} --help' for help.") + "\n", err=True)
    click.echo(f"{say('error:')} {say(error.format_message())}", err=True)
