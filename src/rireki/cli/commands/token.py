"""`rireki token`: what lets a program or a browser into the web app, and how to change it."""

from __future__ import annotations

import click

from rireki.cli.archive import archive_path
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.home import Home
from rireki.show.catalogue import say
from rireki.web.token import ensure_token, new_token

__all__ = ["command"]


@click.command("token")
@click.option("--new", is_flag=True, help="Make another one: the old one opens nothing any more.")
@json_option
@archive_option
def command(new: bool, as_json: bool) -> None:
    """Print the token that opens the web app of this archive.

    With --new another one is made. Servers that are running refuse the old one from then on, end
    what was opened with it, and browsers have to be let in again ('rireki serve --url').
    A token that you chose yourself (--token-file, RIREKI_TOKEN) is yours to change.

    \b
    Examples:
      rireki token
      rireki token --new
      curl -H "Authorization: Bearer $(rireki token)" http://127.0.0.1:7475/api/v1/health
    """
    archive = archive_path()
    token = new_token(archive) if new else ensure_token(archive)
    if as_json:
        StandardOutput().json([{"token": token, "file": str(Home(archive).token), "new": new}])
        return
    if new:
        click.echo(say("The old token opens nothing any more."), err=True)
    StandardOutput().say([token])
