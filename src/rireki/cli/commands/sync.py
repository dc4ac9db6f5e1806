"""`rireki sync`: both ways, so that the machines have the same history."""

from __future__ import annotations

import click

from rireki.cli.options import archive_option, json_option
from rireki.cli.transfer import transfer

__all__ = ["command"]


@click.command("sync")
@click.argument("name", required=False, metavar="[NAME]")
@json_option
@archive_option
@click.pass_context
def command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Push to the remote NAME, or to all of them, and then pull from it.

    Afterwards this machine has what the remote has. Run it on each machine; a second time there is
    nothing left to do.

    \b
    Examples:
      rireki sync
      rireki sync drive --json
    """
    ctx.exit(transfer(name, ["push", "pull"], as_json))
