"""`rireki team`: a server for what the people of a team share, on a PostgreSQL of theirs."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rireki.cli.commands.demo import ensure_demo
from rireki.cli.options import json_option
from rireki.cli.output import StandardOutput, progress
from rireki.cli.terminal import say_aside
from rireki.errors import RirekiError
from rireki.home import data_directory, make_folder_of
from rireki.late import LateModule
from rireki.show.catalogue import language, say
from rireki.show.safe import one_line
from rireki.show.words import count
from rireki.web.serve import bind, is_loopback, url_of

# What speaks with PostgreSQL may not be installed.
if TYPE_CHECKING:
    from rireki.team import demo, embedded, serve, signed, store
    from rireki.team.people import PersonStatus, Role
    from rireki.team.serve import TeamServer
    from rireki.team.signed import SignedHeader
    from rireki.team.store import Team
else:
    demo = LateModule("rireki.team.demo")
    embedded = LateModule("rireki.team.embedded")
    serve = LateModule("rireki.team.serve")
    signed = LateModule("rireki.team.signed")
    store = LateModule("rireki.team.store")

__all__ = ["command"]

ACTIONS = ("init", "add", "revoke", "serve", "status", "demo")
VARIABLE = "RIREKI_TEAM_DATABASE"
PORT = 7480
TEAM = "team"


@click.command("team")
@click.argument("action", type=click.Choice(ACTIONS))
@click.argument("person", required=False)
@click.option("--database", metavar="URL", help=f"postgresql://…; else {VARIABLE} says it.")
@click.option(
    "--team", metavar="TEAM", help="init, add: the team; the first one unless said otherwise."
)
@click.option(
    "--role",
    type=click.Choice(["member", "auditor", "owner"]),
    help="add: what the person is in the team; a member unless said otherwise.",
)
@click.option("--device", metavar="ID", help="revoke: this device alone.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help=f"serve: where to listen; {PORT}, or 0 for any.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="serve: which of this machine's addresses.",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="serve: also answer to this name, for a proxy in front.",
)
@click.option(
    "--sign-in-header",
    metavar="NAME",
    help="serve: the header in which a proxy signs who somebody is.",
)
@click.option(
    "--sign-in-key",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="serve: the public key, or the secret, of that proxy.",
)
@click.option(
    "--sign-in-claim",
    default="email",
    metavar="NAME",
    help="serve: what in it is the person's name here.",
)
@click.option(
    "--sign-in-audience", default="", metavar="NAME", help="serve: whom it has to be meant for."
)
@click.option(
    "--logs", is_flag=True, help="serve: a line of JSON for each request, without contents."
)
@json_option
def command(
    action: str,
    person: str | None,
    database: str | None,
    team: str | None,
    role: Role | None,
    device: str | None,
    port: int | None,
    host: str,
    allowed: tuple[str, ...],
    sign_in_header: str | None,
    sign_in_key: Path | None,
    sign_in_claim: str,
    sign_in_audience: str,
    logs: bool,
    as_json: bool,
) -> None:
    """Run a server that has what the people of a team share, and nothing else.

    'init' prepares the database and prints the first owner's token; 'add' prints a token for
    somebody's device, once; 'revoke' has it open nothing more. 'demo' shows all of it with two
    invented people, on a database of its own that is gone afterwards.

    \\b
    Examples:
      rireki team demo
      rireki team init --database postgresql://rireki@db/rireki
      rireki team add bob@example.com
      rireki team add eve --role auditor
      rireki team revoke bob@example.com
      rireki team serve --port 7480 --allow-host rireki.example.com
    """
    screen = StandardOutput()
    given = {"--role": role, "--device": device, "--team": team, "--port": port}
    _check(action, person, given)
    try:
        if action == "demo":
            _demo(port, host, screen, as_json)
        elif action == "serve":
            header = _signed(sign_in_header, sign_in_key, sign_in_claim, sign_in_audience)
            _serve(_address(database), port, host, allowed, header, logs, screen, as_json)
        else:
            with _opened(_address(database), create=action == "init") as known:
                lines, told = _asked(known, action, person, team, role, device)
                screen.give(as_json, [told], lines)
    except ImportError as error:
        raise RirekiError("team-not-installed", name=error.name or "psycopg") from error


_BELONGS = {
    "init": ("--team",),
    "add": ("--team", "--role"),
    "revoke": ("--device",),
    "serve": ("--port",),
    "demo": ("--port",),
    "status": (),
}


def _check(action: str, person: str | None, given: dict[str, Any]) -> None:
    for option, value in given.items():
        if value is not None and option not in _BELONGS[action]:
            raise RirekiError("team-option-misplaced", option=option, action=action)
    named = person is not None or (action == "revoke" and given["--device"] is not None)
    if action in ("add", "revoke") and not named:
        raise RirekiError("team-without-person", action=action)
    if person is not None and action in ("serve", "status", "demo"):
        raise RirekiError("team-option-misplaced", option=person, action=action)


def _address(database: str | None) -> str:
    found = database or os.environ.get(VARIABLE, "")
    if not found:
        raise RirekiError("team-without-database", variable=VARIABLE)
    return found


@contextmanager
def _opened(database: str, create: bool = False) -> Iterator[Team]:
    with closing(store.Team(database, _folder(), create=create)) as known:
        yield known


def _folder() -> Path:
    folder = data_directory() / "team"
    make_folder_of(folder / "x")
    return folder


# ── people ──


def _asked(
    team: Team,
    action: str,
    person: str | None,
    name: str | None,
    role: Role | None,
    device: str | None,
) -> tuple[list[str], dict[str, Any]]:
    if action == "status":
        return _status(team)
    if action == "revoke":
        return _revoked(team, person, device)
    if action == "init":
        owner = person or getpass.getuser().lower()
        token = team.people.begin(owner, name or TEAM)
        first = say(f"{team.name} is prepared. {owner} owns the team {name or TEAM}.")
        return _token(first, owner, name or TEAM, "owner", token)
    assert person is not None
    token = team.people.add(person, name or "", role)
    teams = next(each for each in team.people.all() if each.name == person.strip().lower()).roles
    told = name.strip().lower() if name else next(iter(teams))
    return _token(say(f"{person} is in the team {told}."), person, told, teams[told], token)


def _token(
    first: str, person: str, team: str, role: str, token: str
) -> tuple[list[str], dict[str, Any]]:
    second = say(f"The token of a device of {person}; it is not shown again:")
    third = say(f"On that device: rireki remote add {team} URL --token TOKEN")
    told = {"person": person.strip().lower(), "team": team, "role": role, "token": token}
    return [first, second, token, third], told


def _revoked(
    team: Team, person: str | None, device: str | None
) -> tuple[list[str], dict[str, Any]]:
    if device is not None:
        team.people.revoke_device(device)
        return [say(f"The device {device} opens nothing any more.")], {
            "device": device,
            "revoked": 1,
        }
    assert person is not None
    n = team.people.revoke(person.strip().lower())
    words = say(f"{person} can open nothing any more. Devices that could: {n}.")
    return [words, say("What was shared stays for the team.")], {"person": person, "revoked": n}


def _status(team: Team) -> tuple[list[str], dict[str, Any]]:
    people, waiting = team.people.all(), len(team.waiting())
    lines = [line for each in people for line in _person(each)]
    if waiting:
        lines.append(say(f"Archives that wait to be read: {waiting}"))
    told = [
        {
            "name": each.name,
            "roles": each.roles,
            "devices": each.devices,
            "revoked": each.revoked,
            "shared": each.shared,
        }
        for each in people
    ]
    return lines, {"database": team.name, "people": told, "waiting": waiting}


def _person(each: PersonStatus) -> Iterator[str]:
    roles = ", ".join(f"{team} ({say(role)})" for team, role in each.roles.items())
    shared = say(f"shares {count(each.shared, 'conversation')}")
    state = say("revoked") if each.revoked else say(f"devices: {', '.join(each.devices) or '-'}")
    yield f"{one_line(each.name)}  {roles}  {shared}  {state}"


# ── serving ──


def _signed(header: str | None, key: Path | None, claim: str, audience: str) -> SignedHeader | None:
    if header is None and key is None:
        return None
    if header is None or key is None:
        raise RirekiError("sign-in-needs-both")
    return signed.SignedHeader(header, key, claim, audience)


def _serve(
    database: str,
    port: int | None,
    host: str,
    allowed: tuple[str, ...],
    header: SignedHeader | None,
    logs: bool,
    screen: StandardOutput,
    as_json: bool,
) -> None:
    known = store.Team(database, _folder())
    server = serve.TeamServer(
        bind(host, PORT if port is None else port),
        known,
        host=host,
        allowed=tuple(name.lower() for name in allowed),
        signed=header,
        logs=logs,
    )
    _heed(server)
    if not is_loopback(host):
        click.echo(say("Nothing is encrypted on the way: let a proxy in front do that."), err=True)
    told = {"url": server.url, "port": server.port, "pid": os.getpid(), "database": known.name}
    first = say(f"Open {server.url}")
    screen.give(as_json, [told], [first, say("Stop with Ctrl-C.")])
    sys.stdout.flush()
    server.run()


def _heed(server: TeamServer) -> None:
    """Have signals end it in order, whenever they come: asked for before anybody is told to use one."""
    with suppress(ValueError):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: server.stop())


# ── looking around ──


def _demo(port: int | None, host: str, screen: StandardOutput, as_json: bool) -> None:
    folder = Path(tempfile.mkdtemp(prefix="rireki-team-"))
    try:
        with embedded.embedded_database() as address:
            made = ensure_demo(folder / "demo", progress())
            known = store.Team(address, folder / "server", create=True)
            tokens = {demo.PEOPLE[0]: known.people.begin(demo.PEOPLE[0], demo.TEAM)}
            tokens |= {name: known.people.add(name) for name in demo.PEOPLE[1:]}
            server = serve.TeamServer(bind(host, port or 0), known, host=host)
            _heed(server)
            pushing = threading.Thread(target=_push, args=(server, made.archive, tokens))
            pushing.start()
            try:
                _announce(server, tokens, screen, as_json)
                server.run()
            finally:
                server.stop()
                pushing.join()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _push(server: TeamServer, archive: Path, tokens: dict[str, str]) -> None:
    if not server.wait():
        return
    try:
        demo.push_for(archive, server.url.rstrip("/"), tokens)
    except RirekiError as error:
        if not server.ending:
            say_aside("error:", *error.lines(language()))


def _announce(
    server: TeamServer, tokens: dict[str, str], screen: StandardOutput, as_json: bool
) -> None:
    people = [
        {"name": name, "token": token, "url": url_of(server.host, server.port, token)}
        for name, token in tokens.items()
    ]
    lines = [say("Two invented people share with each other. Open it as one of them:")]
    lines += [f"  {each['name']}  {each['url']}" for each in people]
    told = {"url": server.url, "port": server.port, "pid": os.getpid(), "people": people}
    screen.give(as_json, [told], [*lines, say("Stop with Ctrl-C: nothing of it stays.")])
    sys.stdout.flush()
