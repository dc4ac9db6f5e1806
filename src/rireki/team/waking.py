"""Wakes the other servers of a team when something is new, and is woken by them.

A hint and nothing more: it goes over a connection of its own, at most once in 50 ms, never in a
transaction that keeps something. Whoever misses it, or whose database knows nothing of the kind, looks
by himself twice a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import psycopg

from rireki.archive.postgres.connections import Connection, Connections
from rireki.errors import RirekiError

__all__ = ["Waker"]

CHANNEL = "rireki_team"
#: Between two hints, and after a connection that broke, in seconds.
PACE, PATIENCE = 0.05, 5.0
#: How long it is listened at once before it is asked whether the server ends.
TURN = 0.5


class Waker:
    """`announce` may be called from any thread."""

    def __init__(self, connections: Connections, woken: Callable[[], None]) -> None:
        self._connections = connections
        self._woken = woken
        self._new = threading.Event()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._keep, args=(work,), name=name, daemon=True)
            for work, name in ((self._tell, "waker"), (self._listen, "woken"))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def announce(self) -> None:
        self._new.set()

    def close(self) -> None:
        self._closed = True
        self._new.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _keep(self, work: Callable[[Connection], None]) -> None:
        while not self._closed:
            try:
                with self._connections.borrow() as connection:
                    try:
                        work(connection)
                    finally:
                        # It listens, or may be broken: nobody else is given it.
                        connection.close()
            except (RirekiError, psycopg.Error):
                # Not every database knows this; then, and while it is away, everybody looks.
                self._wait(PATIENCE)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._closed and time.monotonic() < end:
            time.sleep(PACE)

    def _tell(self, connection: Connection) -> None:
        while not self._closed:
            self._new.wait()
            self._new.clear()
            if not self._closed:
                connection.execute("SELECT pg_notify(%s, '')", (CHANNEL,))
                time.sleep(PACE)

    def _listen(self, connection: Connection) -> None:
        connection.execute(f"LISTEN {CHANNEL}".encode())
        while not self._closed:
            for _ in connection.notifies(timeout=TURN, stop_after=1):
                self._woken()
