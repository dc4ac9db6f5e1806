"""`rireki token`: what lets a program, a browser or a phone into the web app, and how to change it."""

from __future__ import annotations

import click

from rireki.cli.archive import archive_path
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.times import moment
from rireki.sync.devices import Device, Devices
from rireki.web.token import ensure_token, new_token

__all__ = ["command"]


@click.command("token")
@click.option("--new", is_flag=True, help="Make another one: the old one opens nothing any more.")
@click.option("--devices", is_flag=True, help="List the devices of the local network let in.")
@click.option("--revoke", metavar="NAME", help="Lock this device out, at once.")
@json_option
@archive_option
def command(new: bool, devices: bool, revoke: str | None, as_json: bool) -> None:
    """Print the token that opens the web app of this archive.

    With --new another one is made. Servers that are running refuse the old one from then on, end
    what was opened with it, and browsers have to be let in again ('rireki serve --url').
    A token that you chose yourself (--token-file, RIREKI_TOKEN) is yours to change.
    Devices that were paired with 'rireki serve --lan' have tokens of their own.

    \b
    Examples:
      rireki token
      rireki token --new
      rireki token --revoke iPhone
      curl -H "Authorization: Bearer $(rireki token)" http://127.0.0.1:7475/api/v1/health
    """
    archive = archive_path()
    if sum((new, devices, revoke is not None)) > 1:
        raise RirekiError("token-options-apart")
    if devices or revoke is not None:
        _devices(Devices(Home(archive)), revoke, as_json)
        return
    token = new_token(archive) if new else ensure_token(archive)
    if as_json:
        StandardOutput().json([{"token": token, "file": str(Home(archive).token), "new": new}])
        return
    if new:
        click.echo(say("The old token opens nothing any more."), err=True)
    StandardOutput().say([token])


def _devices(devices: Devices, revoke: str | None, as_json: bool) -> None:
    screen = StandardOutput()
    if revoke is not None:
        devices.revoke(revoke, "pages")
        lines = [say(f"{one_line(revoke)} is locked out.")]
        screen.give(as_json, [{"name": revoke, "revoked": True}], lines)
        return
    found = devices.all("pages")
    told = [
        {"name": each.name, "made_at": each.made_at, "read_only": each.read_only} for each in found
    ]
    nothing = [say("No device is paired: 'rireki serve --lan' shows a code.")]
    screen.give(as_json, told, [_line(each) for each in found] or nothing)


def _line(device: Device) -> str:
    rights = f"  {say('may only read')}" if device.read_only else ""
    return f"{one_line(device.name)}  {moment(device.made_at)}{rights}"
