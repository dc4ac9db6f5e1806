"""Connections to one database, lent to whoever needs one for a statement or a transaction.

Not a pool with threads of its own: whoever needs a connection makes it, and so learns at once, and
in the server's own words, why there is none.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8BinaryDumper

from rireki.archive.postgres.trouble import explained
from rireki.errors import ArchiveTrouble

__all__ = ["ACROSS_SETTINGS", "Connection", "Connections"]

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
#: How many there are at most, and how long somebody waits for one, or for a lock of another process.
MOST = 32
PATIENCE = 30.0
#: Every statement asks for one owner, whose rows an index finds: no statistics are needed to know
#: the way, and no plan is to be made again for each.
_COMMON = (
    f"-c lock_timeout={int(PATIENCE * 1000)}"
    " -c idle_in_transaction_session_timeout=300000 -c jit=off"
)
SETTINGS = f"{_COMMON} -c enable_seqscan=off -c plan_cache_mode=force_generic_plan"
#: What asks of many owners is planned for what it asks: how many those are decides the way.
ACROSS_SETTINGS = f"{_COMMON} -c plan_cache_mode=force_custom_plan"


class Connections:
    def __init__(self, database: str, most: int = MOST, settings: str = SETTINGS) -> None:
        try:
            told = conninfo_to_dict(database)
        except psycopg.ProgrammingError:
            # What it says of the address may hold the password.
            raise ArchiveTrouble("postgres-misnamed") from None
        arguments: dict[str, Any] = {"application_name": "rireki", "connect_timeout": 10, **told}
        arguments["options"] = f"{settings} {told.get('options') or ''}"
        self._conninfo = make_conninfo(**arguments)
        #: What it is called in messages: without the name and the password of a user.
        self.name = _name(told)
        self.address = _address(told)
        self._idle: list[Connection] = []
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(most)
        self._closed = False

    @contextmanager
    def borrow(self) -> Iterator[Connection]:
        """A connection for one piece of work; made if all are lent out."""
        if not self._places.acquire(timeout=PATIENCE):
            raise ArchiveTrouble("database-busy", database=self.name, why="no connection is free")
        try:
            with self._lock:
                connection = self._next_idle()
            connection = connection or self._connect()
            try:
                yield connection
            finally:
                self._take_back(connection)
        finally:
            self._places.release()

    def _connect(self) -> Connection:
        with explained(self.name):
            connection: Connection = psycopg.connect(self._conninfo, autocommit=True)
        # Of one size, whatever the value: each size would be another statement to prepare.
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        return connection

    def _take_back(self, connection: Connection) -> None:
        status = connection.pgconn.transaction_status
        with self._lock:
            if status == psycopg.pq.TransactionStatus.IDLE and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _next_idle(self) -> Connection | None:
        if self._owner != os.getpid():
            # After a fork those of the first process are not ours to use, nor to close.
            self._owner = os.getpid()
            self._idle = []
        while self._idle:
            connection = self._idle.pop()
            # A server that ended says so, or nothing: in both cases there is something to read.
            if not _speaks(connection):
                return connection
            connection.close()
        return None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _speaks(connection: Connection) -> bool:
    if not hasattr(select, "poll"):
        return bool(select.select([connection], [], [], 0)[0])
    look = select.poll()
    look.register(connection.fileno(), select.POLLIN)
    return bool(look.poll(0))


def _name(told: dict[str, Any]) -> str:
    host = str(told.get("host") or told.get("hostaddr") or "localhost")
    port = f":{told['port']}" if told.get("port") else ""
    return f"postgresql://{host}{port}/{told.get('dbname') or told.get('user') or ''}"


def _address(told: dict[str, Any]) -> str:
    rest = {name: value for name, value in told.items() if name != "dbname"}
    database = quote(str(told.get("dbname") or ""), safe="")
    return f"postgresql:///{database}?{urlencode(rest, quote_via=quote)}"
