"""`rireki push`: what is new here goes to the remotes."""

from __future__ import annotations

import click

from rireki.cli.options import archive_option, json_option
from rireki.cli.transfer import transfer

__all__ = ["command"]


@click.command("push")
@click.argument("name", required=False, metavar="[NAME]")
@json_option
@archive_option
@click.pass_context
def command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Send what is new in the archive to the remote NAME, or to all of them.

    Only what was read on this machine goes, each fact once. To your own remotes goes everything,
    to a team's server what you share. It may be ended at any time and goes on where it was.
    While 'rireki watch' or 'rireki serve' runs, what is new is pushed by itself.

    \b
    Examples:
      rireki push
      rireki push drive --json
    """
    ctx.exit(transfer(name, ["push"], as_json))
