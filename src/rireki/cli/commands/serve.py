"""`rireki serve`: the archive in a browser, kept up to date as agents write."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import environ
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, NamedTuple

import click

from rireki.archive.open import open_archive
from rireki.cli.archive import archive_path
from rireki.cli.browser import Opening
from rireki.cli.commands.demo import DIRECTORY, ensure_demo
from rireki.cli.drive_options import drive_settings, is_on
from rireki.cli.lan_options import check_lan, lan_lines, plan_lan
from rireki.cli.options import archive_option, home_option, json_option
from rireki.cli.output import StandardOutput, progress
from rireki.cli.places import config_file, places_of, tell_ignored
from rireki.errors import NotFound, RirekiError, Wording
from rireki.home import Home
from rireki.intake.parallel import pool, spawn
from rireki.intake.survey import survey
from rireki.late import LateModule
from rireki.live.keeper import Keeper
from rireki.live.readings import Readings
from rireki.show.catalogue import say
from rireki.sources.kit.places import Places
from rireki.sync.devices import Devices
from rireki.web.notices.settings import read_notices
from rireki.web.running import Address, Served
from rireki.web.token import Access, checked, ensure_token, read_chosen

if TYPE_CHECKING:
    from rireki.drive.bridge import Settings
    from rireki.web import serve as serving
    from rireki.web.driving import Driving
    from rireki.web.serve import Server
else:
    # What takes longest to import: on a first start others are at work meanwhile.
    serving = LateModule("rireki.web.serve")

__all__ = ["command"]

PORT = 7475
VARIABLE = "RIREKI_TOKEN"


class ServedArchive(NamedTuple):
    """What is served: an archive, where its history comes from, and what stands in for it."""

    archive: Path
    places: Places
    #: An invented archive in front of one that has nothing in it.
    stand_in: Path | None = None
    #: Whether the archive lies where it can only be read.
    read_only: bool = False


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help=f"Where to listen; {PORT} unless said otherwise, 0 for any that is free.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Which of this machine's addresses; only this machine unless said otherwise.",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Also answer to this name, where something in front passes requests on.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"Take the token from this file (or from {VARIABLE}) instead of making one.",
)
@click.option("--drive", is_flag=True, help="Let agents work from the pages; they run commands.")
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="With --drive: agents work below this directory only, not your whole home. Repeatable.",
)
@click.option(
    "--accept-push",
    is_flag=True,
    help="Let other machines of yours push here, with 'rireki remote token'.",
)
@click.option(
    "--lan",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="Also let devices of the local network in that were paired, over HTTPS.",
)
@click.option(
    "--cert",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --lan: your own certificate (PEM), instead of one made on the spot.",
)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --cert: its key, where it is in a file of its own.",
)
@home_option
@click.option("--demo", is_flag=True, help="Show an invented history.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--no-redirect-file",
    is_flag=True,
    help="Open the browser at the address itself: for one that may not read your files.",
)
@click.option("--no-keep", is_flag=True, help="Only show what is archived; take nothing in.")
@click.option("--url", "only_url", is_flag=True, help="Print the address of the running server.")
@json_option
@archive_option
def command(
    port: int | None,
    host: str,
    allowed: tuple[str, ...],
    token_file: Path | None,
    drive: bool,
    roots: tuple[Path, ...],
    accept_push: bool,
    lan: str | None,
    cert: Path | None,
    key: Path | None,
    home: Path | None,
    demo: bool,
    no_open: bool,
    no_redirect_file: bool,
    no_keep: bool,
    only_url: bool,
    as_json: bool,
) -> None:
    """Show the archive in a browser: what is there, and what happens while you look.

    What agents write is taken in as they write it. Only this machine can reach
    the page, and only with the token in the address that is printed.

    \b
    Examples:
      rireki serve
      rireki serve --demo
      rireki serve --drive --root ~/src
      rireki serve --lan
      rireki serve --no-open --json
    """
    check_lan(lan, host, cert, key)
    with _started_early(home, taken_in=not (demo or no_keep), drive=drive) as early:
        shown = early.shown or _shown(home, demo, drive)
        tell_ignored(shown.archive, shown.places)
        keep = not (no_keep or shown.read_only)
        if accept_push:
            _check_push(shown, host, demo)
        driven = _driven(shown, drive, roots, demo=demo, keep=keep)
        access = _access(shown, token_file, public=not serving.is_loopback(host))
        served = Served(shown.archive)
        running = served.other()
        if only_url or (running and port in (None, running.port)):
            _point_to(running, shown, access.token, as_json)
            return
        plan = plan_lan(shown.archive, lan, cert, key) if lan is not None else None
        notices = read_notices(config_file()) if driven is not None else None
        bound = serving.bind(host, PORT if port is None else port)
        server = serving.Server(
            bound,
            shown.archive,
            shown.places,
            access,
            host=host,
            allowed=tuple(name.lower() for name in allowed),
            keep=early.keeper or keep,
            demo=demo,
            stand_in=shown.stand_in,
            drive=driven,
            accept_push=accept_push,
            lan=plan.open(bound.getsockname()[1]) if plan is not None else None,
            notices=notices,
        )
        if shown.read_only:
            click.echo(say(f"{shown.archive} can only be read: nothing is taken in."), err=True)
        opens = not no_open and _has_desktop()
        _announce(server, port, as_json, public=not serving.is_loopback(host), opens=opens)
        opening = _open(server, by_file=not no_redirect_file) if opens else None
        try:
            _run(server, served)
        finally:
            if opening is not None:
                opening.close()


class EarlyStart(NamedTuple):
    """What is at work already while the server is still being made ready."""

    shown: ServedArchive | None = None
    keeper: Keeper | None = None


@contextmanager
def _started_early(home: Path | None, *, taken_in: bool, drive: bool) -> Iterator[EarlyStart]:
    """On a first start the history is taken in while the web app is imported: half of the time
    until the first conversation is there."""
    if not taken_in or archive_path().exists():
        yield EarlyStart()
        return
    # Before anything has a thread, or the archive is open.
    spawn.reserve(pool.processors())
    keeper = None
    try:
        shown = _shown(home, demo=False, drive=drive)
        if not shown.read_only and Served(shown.archive).other() is None:
            keeper = Keeper(shown.archive, shown.places, readings=Readings())
            keeper.start()
        yield EarlyStart(shown, keeper)
    finally:
        if keeper is not None:
            keeper.stop()
        spawn.release()


def _check_push(shown: ServedArchive, host: str, demo: bool) -> None:
    """Nothing is encrypted here: what encrypts is in front of it, on this machine."""
    if not serving.is_loopback(host):
        raise RirekiError("push-not-encrypted", host=host)
    if demo or shown.read_only:
        why = Wording("push-into-demo" if demo else "push-read-only")
        raise RirekiError("push-not-taken", why=why)
    if not Devices(Home(shown.archive)).all("push"):
        nobody = "No device may push here yet: 'rireki remote token --new NAME' lets one."
        click.echo(say(nobody), err=True)


def _driven(
    shown: ServedArchive, drive: bool, roots: tuple[Path, ...], *, demo: bool, keep: bool
) -> Settings | None:
    """Which agents may work where; None when they may not at all."""
    if drive and shown.read_only:
        raise RirekiError("drive-read-only", path=shown.archive)
    if demo or not keep:
        if drive:
            raise RirekiError("drive-not-with", option="--demo" if demo else "--no-keep")
        return None
    if roots and not drive:
        raise RirekiError("root-without-drive")
    if not drive and not is_on():
        return None
    return drive_settings(shown.archive, shown.places, roots)


def _shown(home: Path | None, demo: bool, drive: bool) -> ServedArchive:
    """The user's archive; while there is nothing to put into it, an invented one in front of it."""
    path = archive_path()
    beside = path.parent / DIRECTORY
    if demo:
        made = ensure_demo(beside, progress())
        return ServedArchive(made.archive, Places.at(made.home))
    places = places_of(home)
    archive = open_archive(path, create=not path.exists())
    try:
        known, read_only = archive.count() > 0, archive.read_only
    finally:
        archive.close()
    if read_only:
        return ServedArchive(path, places, read_only=True)
    # Whoever drives agents makes a history of their own at once.
    if known or drive or any(source.found for source in survey(None, places)):
        return ServedArchive(path, places)
    return ServedArchive(path, places, ensure_demo(beside, progress()).archive)


def _access(shown: ServedArchive, file: Path | None, public: bool) -> Access:
    if file is not None:
        token = checked(file.read_text(encoding="utf-8", errors="replace"), str(file))
        # What is no plain file (`<(pass show …)`) can be read once.
        return Access(token, file if file.is_file() else None, read_chosen)
    if VARIABLE in environ:
        return Access(checked(environ[VARIABLE], VARIABLE))
    if public:
        raise RirekiError("token-needed", name=VARIABLE)
    try:
        return Access(ensure_token(shown.archive), Home(shown.archive).token)
    except OSError:
        # Where nothing can be kept, it is good until the server ends.
        return Access(token_urlsafe(32))


def _point_to(running: Address | None, shown: ServedArchive, token: str, as_json: bool) -> None:
    """Tell where the archive is served already."""
    if running is None:
        raise NotFound("no-server", path=shown.archive)
    url = serving.url_of(running.host, running.port, token)
    if as_json:
        told = {"url": url, "port": running.port, "pid": running.pid, "running": True}
        StandardOutput().json([told])
    else:
        click.echo(say(f"{shown.archive} is served already (process {running.pid})."), err=True)
        click.echo(url)


def _announce(
    server: Server, wanted: int | None, as_json: bool, *, public: bool, opens: bool
) -> None:
    wanted = PORT if wanted is None else wanted
    if wanted not in (0, server.port):
        click.echo(
            say(f"Port {wanted} is taken by another program: this is {server.port}."), err=True
        )
    if public:
        warning = (
            f"Other machines can reach {server.host}. Whoever has the token can read every "
            "conversation, and nothing is encrypted on the way."
        )
        click.echo(say(warning), err=True)
    if server.driving is not None:
        _announce_driving(server.driving, public)
    screen = StandardOutput()
    if as_json:
        # It listens already: whoever connects now is answered in a moment.
        told = {"url": server.url, "port": server.port, "pid": os.getpid(), "running": False}
        more = {"archive": str(server.archive), "demo": server.archive_reader.demo}
        lan = server.lan
        more_ways = {"url": lan.url, "fingerprint": lan.certificate.fingerprint} if lan else None
        screen.json([{**told, **more, "drive": server.driving is not None, "lan": more_ways}])
    else:
        if server.archive_reader.path != server.archive:
            screen.say([say("This machine has no history yet: here is an invented one.")])
        # The browser brings a ticket: the token need not be seen on the screen.
        first = say(f"Opening {server.plain_url} in your browser.") if opens else _to_open(server)
        screen.say([first, *(lan_lines(server.lan, screen) if server.lan else ())])
        screen.say([say("Stop with Ctrl-C.")])
    sys.stdout.flush()


def _announce_driving(driving: Driving, public: bool) -> None:
    """Plainly, and where nobody reads JSON: this is more than reading."""
    where = ", ".join(map(str, driving.roots))
    click.echo(say(f"Driving agents is on: they can be let run commands below {where}."), err=True)
    if public:
        click.echo(
            say("Whoever has the token can do so from another machine, with your rights."), err=True
        )


def _has_desktop() -> bool:
    """Whether a browser that opens here is one the person sees."""
    if not sys.stdout.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _to_open(server: Server) -> str:
    return say(f"Open {StandardOutput().style.bold(server.url)}")


def _open(server: Server, by_file: bool) -> Opening:
    def late() -> None:
        click.echo(say(f"The browser did not get there. {_to_open(server)}"))

    ticket = server.access.issue()
    opening = Opening(ticket, server.ticket_url(ticket.value), late, by_file=by_file)
    opening.start()
    return opening


def _run(server: Server, served: Served) -> None:
    """Until somebody ends it; both ways of asking for that are a good end."""
    # Where nothing can be written, nobody is told.
    with suppress(OSError):
        if served.take():
            served.tell(Address(server.host, server.port, os.getpid()))
    # What the server's own handler hands on when it has finished.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.run()
    except KeyboardInterrupt:
        click.echo("", err=True)
    finally:
        served.release()
