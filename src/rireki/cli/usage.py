"""A command line that click cannot understand, told in the language of the terminal."""

from __future__ import annotations

import click

from rireki.show.catalogue import language, say

__all__ = ["show_usage"]


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
