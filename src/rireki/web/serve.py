"""Serving: a socket, the app behind it, and an end that comes soon although pages are listening."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import ssl
import threading
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import msgspec
import uvicorn
from starlette.requests import Request
from starlette.types import ASGIApp

from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.live.activity import activities
from rireki.live.keeper import Keeper
from rireki.live.readings import Readings
from rireki.mcp.coverage import told_of
from rireki.mcp.http import RecallEndpoint
from rireki.web.app import create_app
from rireki.web.archive_reader import ArchiveReader
from rireki.web.broadcaster import Broadcaster
from rireki.web.connection import LimitedConnection
from rireki.web.driving import Driving
from rireki.web.guard import LOOPBACK, GuardSettings
from rireki.web.lan.entrance import LanEntrance
from rireki.web.lan.guard import LanGuard, device_of, lan_settings
from rireki.web.notices.notices import Notices
from rireki.web.notices.settings import NoticeSettings
from rireki.web.parts.leaving import schedule
from rireki.web.pushed import PushIntake
from rireki.web.scope import ReaderScope
from rireki.web.token import Access

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.drive.bridge import Settings
    from rireki.model.activity import Activity
    from rireki.sources.kit.places import Places

__all__ = ["Server", "bind", "is_loopback", "url_of"]

#: How many ports are tried from the wanted one on.
TRIES = 50
#: Seconds after which connections are cut that did not end by themselves.
GRACE = 1
#: Seconds in which an encrypted connection has to be agreed upon.
HANDSHAKE_SECONDS = 5.0
#: How often a machine without history is looked at again, in seconds.
HOPE = 1.0


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int) -> socket.socket:
    """A socket on the first free port from the wanted one on; with 0 on any."""
    for candidate in range(port, port + TRIES) if port else (0,):
        try:
            return _bound(host, candidate)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise RirekiError(
                    "not-listening", host=host, why=error.strerror or error
                ) from error
    raise RirekiError("no-free-port", first=port, last=port + TRIES - 1, host=host)


def _bound(host: str, port: int) -> socket.socket:
    (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    made = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # Elsewhere it would let two servers have the same port.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except BaseException:
        made.close()
        raise
    return made


def url_of(host: str, port: int, token: str = "", ticket: str = "") -> str:
    """What to open in a browser; every address of this machine is shown as one that can be typed."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    spelled = f"[{shown}]" if ":" in shown else shown
    given = {name: value for name, value in (("token", token), ("ticket", ticket)) if value}
    asked = f"?{urlencode(given, quote_via=quote, safe='')}" if given else ""
    return f"http://{spelled}:{port}/{asked}"


class Server:
    """One archive in a browser, until it is stopped."""

    def __init__(
        self,
        bound: socket.socket,
        archive: Path,
        places: Places,
        token: str | Access,
        *,
        host: str = "127.0.0.1",
        allowed: tuple[str, ...] = (),
        keep: bool | Keeper = True,
        demo: bool = False,
        stand_in: Path | None = None,
        drive: Settings | None = None,
        accept_push: bool = False,
        lan: LanEntrance | None = None,
        notices: NoticeSettings | None = None,
    ) -> None:
        """A `stand_in` is an invented archive, shown until there is something in the real one.

        The archive is kept by a keeper of its own, or by one that is at work already.
        With `drive`, agents can be let work from the pages; with `lan`, devices of the local network
        are let in that were paired.
        """
        self.archive = archive
        self.places = places
        self.socket = bound
        self.host = host
        self.port: int = bound.getsockname()[1]
        self.driving = Driving(drive) if drive else None
        # What the feed has read to name the new messages, pages ask for a moment later.
        self.keeper = _keeper(archive, places) if keep is True else keep or None
        readings = (self.keeper and self.keeper.readings) or Readings()
        self.broadcaster = Broadcaster(stand_in or archive, self._activities, readings)
        if self.keeper is not None:
            self.keeper.on_change = self.broadcaster.kick
        self.archive_reader = ArchiveReader(stand_in or archive, places, self.keeper, readings)
        self.archive_reader.demo = demo or stand_in is not None
        self.archive_reader.drives = drive is not None
        self.access = token if isinstance(token, Access) else Access(token)
        settings = GuardSettings(
            token=self.access.token,
            port=self.port,
            hosts=(*LOOPBACK, host.lower()),
            allowed=allowed,
            drive=drive is not None,
            accept_push=accept_push,
        )
        self.pushed = PushIntake(archive) if accept_push else None
        self.lan = lan
        self.notices = None
        if drive is not None:
            link = lan.url if lan is not None else self.plain_url
            self.notices = Notices(notices or NoticeSettings(), Home(archive), link)
        scope = ReaderScope(
            archive_reader=self.archive_reader,
            broadcaster=self.broadcaster,
            driving=self.driving,
            lan=lan,
            notices=self.notices,
        )
        reading = msgspec.structs.replace(scope, driving=None, read_only=True)
        recall = RecallEndpoint(lambda _: scope.archive_reader.library, places, self._coverage)
        push = self.pushed.routes if self.pushed is not None else ()

        def scope_of(request: Request) -> ReaderScope:
            device = device_of(request)
            return reading if device is not None and device.read_only else scope

        app = create_app(scope_of, settings, self.access, recall, push)
        self._server = _Uvicorn(app, self.broadcaster, self.driving, recall, self.notices)
        if lan is not None:
            guarded = lan_settings(lan, allowed, drive=drive is not None)
            self._server.second = (
                app.entrance(lambda inner: LanGuard(inner, guarded, lan)),
                lan.socket,
                lan.certificate.context,
            )
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        """The address, with the token in it."""
        return url_of(self.host, self.port, self.access.token)

    @property
    def plain_url(self) -> str:
        return url_of(self.host, self.port)

    def ticket_url(self, ticket: str) -> str:
        return url_of(self.host, self.port, ticket=ticket)

    def run(self) -> None:
        """Until `stop`, or a signal when this is the main thread."""
        self.broadcaster.start()
        # What an earlier server was to forget, and did not come to.
        schedule(self.archive_reader)
        if self.keeper is not None and not self.keeper.started:
            self.keeper.start()
        if self.pushed is not None:
            self.pushed.start()
        if self.archive_reader.path != self.archive:
            threading.Thread(target=self._hope, name="hope", daemon=True).start()
        try:
            self._server.run(sockets=[self.socket])
        finally:
            self._ended.set()
            self.broadcaster.close()
            self.broadcaster.wait()
            if self.keeper is not None:
                self.keeper.stop()
            if self.pushed is not None:
                self.pushed.close()
            self.archive_reader.close()

    def stop(self) -> None:
        """May be called from any thread."""
        self.broadcaster.close()
        self._server.should_exit = True

    @property
    def listening(self) -> bool:
        return self._server.started

    def _activities(self, archive: Archive) -> dict[str, Activity]:
        found = activities(archive, self.places)
        waiting = self.driving.activities() if self.driving is not None else []
        return {**found, **{each.conversation: each for each in waiting}}

    def _coverage(self) -> str:
        """What an agent has to know of an archive that is not up to date."""
        return told_of(self.keeper.status) if self.keeper is not None else ""

    def _hope(self) -> None:
        """Go over to the real history as soon as there is some, whoever took it in."""
        while not self._ended.wait(HOPE):
            if _has_history(self.archive):
                self.archive_reader.turn_to(self.archive)
                self.broadcaster.turn_to(self.archive)
                return


def _keeper(archive: Path, places: Places) -> Keeper:
    return Keeper(archive, places, readings=Readings())


def _has_history(path: Path) -> bool:
    if not path.exists():
        return False
    archive = open_archive(path)
    try:
        return archive.count() > 0
    finally:
        archive.close()


def _config(app: object, proxy_headers: bool = True) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=LimitedConnection,
        ws="none",
        lifespan="off",
        loop="asyncio",
        access_log=False,
        server_header=False,
        proxy_headers=proxy_headers,
        log_config=None,
        # Whoever sends nonsense must not be able to fill the screen, or a service's log.
        log_level=logging.ERROR,
        timeout_graceful_shutdown=GRACE,
    )


class _Uvicorn(uvicorn.Server):
    """Streams never end by themselves: they are ended first, then the server waits for the rest."""

    def __init__(
        self,
        app: object,
        broadcaster: Broadcaster,
        driving: Driving | None = None,
        recall: RecallEndpoint | None = None,
        notices: Notices | None = None,
    ) -> None:
        super().__init__(_config(app))
        self.notices = notices
        self.broadcaster = broadcaster
        self.driving = driving
        self.recall = recall
        #: Another way in: what answers there, where it listens, and how it encrypts.
        self.second: tuple[ASGIApp, socket.socket, ssl.SSLContext] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.driving is not None:
            await self.driving.open()
            if self.notices is not None:
                self.notices.open(self.driving)
        await super().startup(sockets)
        if self.second is not None:
            self.servers.append(await self._listen_too(*self.second))

    async def _listen_too(
        self, app: ASGIApp, bound: socket.socket, context: ssl.SSLContext
    ) -> asyncio.Server:
        # What a request says of a proxy counts for nothing here: there is none.
        config = _config(app, proxy_headers=False)
        config.load()

        def connection() -> asyncio.Protocol:
            return LimitedConnection(config, self.server_state, self.lifespan.state)

        return await asyncio.get_running_loop().create_server(
            connection,
            sock=bound,
            ssl=context,
            backlog=config.backlog,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.driving is not None:
            self.driving.dismiss()
        if self.notices is not None:
            await self.notices.close()
        await super().shutdown(sockets)
        if self.recall is not None:
            await self.recall.close()
        if self.driving is not None:
            await self.driving.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.broadcaster.close()
        super().handle_exit(sig, frame)
