"""`rireki mcp`: the history for an agent that starts this, over its standard input and output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from rireki.cli.archive import archive_path
from rireki.cli.options import archive_option, home_option
from rireki.cli.places import places_of
from rireki.mcp.stdio import serve
from rireki.show.catalogue import say

__all__ = ["command"]


@click.command("mcp")
@home_option
@click.option("--no-keep", is_flag=True, help="Only tell what is archived; take nothing in.")
@archive_option
def command(home: Path | None, no_keep: bool) -> None:
    """Let an agent search its past: six read-only tools over MCP (stdio).

    An agent starts this itself, once 'rireki install' has told it to. What agents
    write is taken in meanwhile, unless another rireki does so already. The same
    tools are at /mcp of 'rireki serve', with its token.

    \b
    Examples:
      rireki install claude
      rireki mcp
      rireki mcp --no-keep --archive ~/backup/archive.sqlite3
    """
    if sys.stdin.isatty():
        click.echo(
            say("This speaks MCP with an agent: 'rireki install AGENT' sets it up."), err=True
        )
    serve(archive_path(), places_of(home), keep=not no_keep, parent=os.getppid())
