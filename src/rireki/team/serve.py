"""A team's server: a socket, the app behind it, the worker, and an end that comes soon."""

from __future__ import annotations

import logging
import socket
import sys
import time
from types import FrameType

import uvicorn

from rireki.mcp.http import RecallEndpoint
from rireki.team.app import create_team_app
from rireki.team.hub import TeamHub
from rireki.team.logs import AccessLog
from rireki.team.scopes import Scopes
from rireki.team.shelves import SHELVES, Shelves
from rireki.team.signed import SignedHeader
from rireki.team.store import Team
from rireki.team.worker import ProjectWorker, ShelfKeeper
from rireki.web.connection import LimitedConnection
from rireki.web.guard import LOOPBACK, GuardSettings
from rireki.web.serve import url_of

__all__ = ["TeamServer"]

#: Seconds after which connections are cut that did not end by themselves.
GRACE = 1


class TeamServer:
    def __init__(
        self,
        bound: socket.socket,
        team: Team,
        *,
        host: str = "127.0.0.1",
        allowed: tuple[str, ...] = (),
        signed: SignedHeader | None = None,
        logs: bool = False,
        shelves: int = SHELVES,
    ) -> None:
        """`logs`: a line of JSON for each request, on standard error. `shelves`: how many search indexes
        hold what is there."""
        self.team = team
        self.socket = bound
        self.host = host
        self.port: int = bound.getsockname()[1]
        indexes = Shelves(team, shelves)
        self.hub = TeamHub(team)
        self.scopes = Scopes(team, self.hub, indexes)
        self.keeper = ShelfKeeper(indexes)
        self.worker = ProjectWorker(team, self.keeper.kick)
        self.waker = team.waker(self._woken)
        self.worker.told = self._told
        settings = GuardSettings(
            token="", port=self.port, hosts=(*LOOPBACK, host.lower()), allowed=allowed
        )
        log = AccessLog(sys.stderr if logs else None)
        self.app, recall = create_team_app(team, self.scopes, self.worker, settings, log, signed)
        self._server = _Uvicorn(self.app, self.scopes, recall)

    @property
    def url(self) -> str:
        return url_of(self.host, self.port)

    @property
    def listening(self) -> bool:
        return self._server.started

    def _told(self) -> None:
        """This server has put something into the feed."""
        self.hub.kick()
        self.waker.announce()

    def _woken(self) -> None:
        self.hub.kick()

    @property
    def ending(self) -> bool:
        return self._server.should_exit

    def wait(self) -> bool:
        """Until it listens; False where it ended before."""
        while not (self._server.started or self._server.should_exit):
            time.sleep(0.01)
        return self._server.started

    def run(self) -> None:
        """Until `stop`, or a signal when this is the main thread."""
        self.team.tallies.count_again()
        self.hub.start()
        self.waker.start()
        self.worker.start()
        self.keeper.start()
        try:
            self._server.run(sockets=[self.socket])
        finally:
            self.scopes.dismiss()
            self.worker.stop()
            self.keeper.stop()
            self.waker.close()
            self.hub.wait()
            self.scopes.close()
            self.team.close()

    def stop(self) -> None:
        """May be called from any thread."""
        self.scopes.dismiss()
        self._server.should_exit = True


class _Uvicorn(uvicorn.Server):
    def __init__(self, app: object, scopes: Scopes, recall: RecallEndpoint) -> None:
        super().__init__(
            uvicorn.Config(
                app,  # type: ignore[arg-type]
                http=LimitedConnection,
                ws="none",
                lifespan="off",
                loop="asyncio",
                access_log=False,
                server_header=False,
                log_config=None,
                log_level=logging.ERROR,
                timeout_graceful_shutdown=GRACE,
            )
        )
        self.scopes = scopes
        self.recall = recall

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.scopes.dismiss()
        await super().shutdown(sockets)
        await self.recall.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.scopes.dismiss()
        super().handle_exit(sig, frame)
