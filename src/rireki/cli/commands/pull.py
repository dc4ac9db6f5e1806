"""`rireki pull`: what is new on the remotes comes here."""

from __future__ import annotations

import click

from rireki.cli.options import archive_option, json_option
from rireki.cli.transfer import transfer

__all__ = ["command"]


@click.command("pull")
@click.argument("name", required=False, metavar="[NAME]")
@json_option
@archive_option
@click.pass_context
def command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Take what other machines of yours have told the remote NAME, or all remotes, into the archive.

    Conversations appear in lists and search beside those of this machine; one that went on on two
    machines is one conversation with both branches. Your agents' files are left alone.

    \b
    Examples:
      rireki pull
      rireki pull drive --json
    """
    ctx.exit(transfer(name, ["pull"], as_json))
