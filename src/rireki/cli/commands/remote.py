"""`rireki remote`: where the archive is pushed to and pulled from, and which devices may push here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from rireki.archive.open import now
from rireki.cli.archive import archive_path, opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.late import LateModule
from rireki.shares.link import stop_sharing
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.times import moment
from rireki.sync.devices import Devices
from rireki.sync.http import HttpRemote, checked_url
from rireki.sync.remotes import Remote, Remotes, RemoteStatus, is_folder
from rireki.sync.storage import folder_url

# What encrypts is needed for folders alone, and may not be installed.
if TYPE_CHECKING:
    from rireki.sync import cipher, folder
    from rireki.sync.wire import KindOfRemote
else:
    cipher = LateModule("rireki.sync.cipher")
    folder = LateModule("rireki.sync.folder")

__all__ = ["command"]


@click.command("remote")
@click.argument("action", type=click.Choice(["add", "list", "remove", "key", "token"]))
@click.argument("name", required=False)
@click.argument("url", required=False)
@click.option("--key", metavar="KEY", help="add: the key of an encrypted folder, or its file.")
@click.option(
    "--token",
    metavar="TOKEN",
    help="add: the token that the server gave this device; '-' reads it from standard input.",
)
@click.option("--own", is_flag=True, help="add: the server is your own, and gets everything.")
@click.option("--new", metavar="NAME", help="token: make one for this device, shown once.")
@click.option("--revoke", metavar="NAME", help="token: the one of this device opens nothing more.")
@json_option
@archive_option
def command(
    action: str,
    name: str | None,
    url: str | None,
    key: str | None,
    token: str | None,
    own: bool,
    new: str | None,
    revoke: str | None,
    as_json: bool,
) -> None:
    """Say where the archive is pushed to and pulled from: another machine of yours, a team's
    server, or a folder on any disk or drive, which holds nothing but ciphertext.

    Without a remote nothing leaves this machine. A server says whose it is; you are asked before
    it is believed to be yours, unless --own says so. 'token' lists the devices that may push to
    'rireki serve --accept-push' on this machine.

    \b
    Examples:
      rireki remote add drive ~/Drive/rireki
      rireki remote add drive ssh://me@host/~/rireki --key rireki.key
      rireki remote token --new laptop
      rireki remote add desktop http://127.0.0.1:7475 --token TOKEN --own
      rireki remote key drive
    """
    given = {"--key": key, "--token": token, "--own": own, "--new": new, "--revoke": revoke}
    _check(action, given, name, url)
    home, screen = Home(archive_path()), StandardOutput()
    if action == "add":
        assert name is not None
        _add(home, name, _url(name, url), key, token, own, screen, as_json)
    elif action == "list":
        _list(Remotes(home), screen, as_json)
    elif action == "token":
        _token(Devices(home), new, revoke, screen, as_json)
    elif name is None:
        raise RirekiError("remote-without-name")
    elif action == "remove":
        _remove(home, name, screen, as_json)
    else:
        remote = Remotes(home).get(name)
        if not remote.key:
            raise RirekiError("remote-without-key", name=name)
        screen.give(as_json, [{"name": name, "key": remote.key}], [remote.key])


def _check(action: str, given: dict[str, Any], name: str | None, url: str | None) -> None:
    """What does not go together is told before anything happens."""
    belongs = {"add": ("--key", "--token", "--own"), "token": ("--new", "--revoke")}
    for option, value in given.items():
        if value and option not in belongs.get(action, ()):
            raise RirekiError("remote-option-misplaced", option=option, action=action)
    spare = url if action != "add" else None
    spare = spare or (name if action in ("list", "token") else None)
    if spare or (given["--new"] and given["--revoke"]):
        raise RirekiError("remote-option-misplaced", option=spare or "--revoke", action=action)
    if action == "add" and name is None:
        raise RirekiError("remote-without-name")


def _url(name: str, url: str | None) -> str:
    if url is None:
        raise RirekiError("remote-without-url", name=name)
    return url


# ── adding ──


def _add(
    home: Home,
    name: str,
    url: str,
    key: str | None,
    token: str | None,
    own: bool,
    screen: StandardOutput,
    as_json: bool,
) -> None:
    if is_folder(url):
        if token:
            raise RirekiError("remote-option-misplaced", option="--token", action="add")
        remote = _folder(home, name, folder_url(url), key)
    else:
        if key:
            raise RirekiError("remote-option-misplaced", option="--key", action="add")
        remote = _server(name, checked_url(url), _typed(token), own)
    Remotes(home).add(remote)
    screen.give(as_json, [_as_json(remote, RemoteStatus())], _added(remote, made=not key))


def _folder(home: Home, name: str, url: str, key: str | None) -> Remote:
    known = cipher.given_key(key) if key else None
    # Nothing is made where the name cannot be used.
    Remotes(home).ensure_free(name)
    if known is None:
        if folder.is_ours(url):
            raise RirekiError("remote-needs-key", url=url)
        known = cipher.new_key()
    folder.ensure_folder(url, known)
    return Remote(name=name, url=url, kind="own", key=known, added_at=now())


def _typed(token: str | None) -> str | None:
    """Other users of the machine see what a command is given: here it can be kept from them."""
    if token == "-":
        return sys.stdin.readline().strip()
    if token is None and sys.stdin.isatty():
        return str(click.prompt(say("Token"), hide_input=True, err=True))
    return token


def _server(name: str, url: str, token: str | None, own: bool) -> Remote:
    if not token:
        raise RirekiError("remote-needs-token", url=url)
    with closing(HttpRemote(url, token)) as server:
        said = server.greet()
    if own and said.kind != "own":
        raise RirekiError("remote-not-own", url=url)
    kind: KindOfRemote = "own" if said.kind == "own" and (own or _asked(url)) else "team"
    return Remote(name=name, url=url, kind=kind, token=token, added_at=now())


def _asked(url: str) -> bool:
    """In doubt it is not one's own."""
    if not sys.stdin.isatty():
        return False
    claim = say(f"{url} says it is a server of your own: everything in the archive will go there.")
    click.echo(claim, err=True)
    return click.confirm(say("Is it yours?"), default=False, err=True)


def _added(remote: Remote, made: bool) -> Iterator[str]:
    if remote.is_folder:
        yield say(f"{remote.name} is added: {remote.url}, encrypted.")
        if made:
            yield say("Keep its key: without it nobody can read the folder, not even you.")
            yield say(f"On another machine: rireki remote add {remote.name} URL --key FILE")
            yield say(f"'rireki remote key {remote.name}' prints it.")
    elif remote.kind == "own":
        yield say(f"{remote.name} is added as your own: everything goes to {remote.url}.")
    else:
        yield say(f"{remote.name} is added as a team's server: only what you share goes there.")
        yield say("If it is your own, remove it and add it with --own.")


def _remove(home: Home, name: str, screen: StandardOutput, as_json: bool) -> None:
    rules = 0
    if Remotes(home).get(name).kind == "team":
        with opened(create=True) as archive:
            rules = stop_sharing(archive, name)
    Remotes(home).remove(name)
    lines = [say(f"{name} is removed; what is there stays there.")]
    if rules:
        lines.append(say(f"Rules that shared with it went, too: {rules}"))
    screen.give(as_json, [{"removed": name, "rules": rules}], lines)


# ── what there is ──


def _list(remotes: Remotes, screen: StandardOutput, as_json: bool) -> None:
    found, status = remotes.all(), remotes.status()
    told = [(remote, status.get(remote.name, RemoteStatus())) for remote in found]
    lines = [line for each in told for line in _lines(*each)]
    nothing = [say("There is no remote: nothing leaves this machine.")]
    screen.give(as_json, (_as_json(*each) for each in told), lines or nothing)


def _lines(remote: Remote, status: RemoteStatus) -> Iterator[str]:
    kind = say("one of your own") if remote.kind == "own" else say("a team's server")
    kind = say("one of your own, encrypted") if remote.is_folder else kind
    yield f"{remote.name}  {one_line(remote.url)}  ({kind})"
    pushed = moment(status.pushed_at) if status.pushed_at else say("never")
    pulled = moment(status.pulled_at) if status.pulled_at else say("never")
    yield "  " + say(f"pushed: {pushed}, pulled: {pulled}")
    if status.trouble:
        yield "  ! " + say(one_line(status.trouble))


def _as_json(remote: Remote, status: RemoteStatus) -> dict[str, Any]:
    """Without what opens it."""
    return {
        "name": remote.name,
        "url": remote.url,
        "kind": remote.kind,
        "encrypted": remote.is_folder,
        "added_at": remote.added_at,
        "pushed_at": status.pushed_at or None,
        "pulled_at": status.pulled_at or None,
        "trouble": status.trouble or None,
    }


# ── devices ──


def _token(
    devices: Devices, new: str | None, revoke: str | None, screen: StandardOutput, as_json: bool
) -> None:
    if new is not None:
        token = devices.new(new, now())
        if not as_json:
            told = say(f"The token of {new}; it is not shown again:")
            click.echo(told, err=True)
        screen.give(as_json, [{"name": new, "token": token}], [token])
    elif revoke is not None:
        devices.revoke(revoke, "push")
        lines = [say(f"The token of {revoke} opens nothing any more.")]
        screen.give(as_json, [{"name": revoke, "revoked": True}], lines)
    else:
        found = devices.all("push")
        told_devices = [{"name": each.name, "made_at": each.made_at} for each in found]
        lines = [f"{one_line(each.name)}  {moment(each.made_at)}" for each in found]
        nothing = [say("No device may push here: 'rireki remote token --new NAME' lets one.")]
        screen.give(as_json, told_devices, lines or nothing)
