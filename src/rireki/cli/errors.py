"""Errors told to the person: two lines of ours, or what click could not understand."""

from __future__ import annotations

import os
import sys
from typing import IO

import click

from rireki.show.catalogue import language, say
from rireki.show.safe import one_line
from rireki.show.style import Style

__all__ = ["say_aside", "show_usage", "wants_colour"]


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
