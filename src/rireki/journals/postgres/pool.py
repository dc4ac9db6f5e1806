"""The connections of this process to one database: lent out, and made again when the server is back.

Each works in one schema of ours, which is brought to its newest version when the first is made.
Knows no tables.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from rireki.errors import RirekiError
from rireki.journals.postgres.trouble import explain, is_lost, is_over_soon, is_starting

__all__ = ["PostgresConnection", "PostgresPool", "pool_of"]

T = TypeVar("T")
PostgresConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

#: How many connections there are at most, and how long somebody waits for one that is free.
MOST = 20
FREE_SECONDS = 30.0
#: After so many seconds without one it is asked whether the server is there at all.
LOOK = 1.0
#: How long a server that went away is waited for: a restart takes seconds.
PATIENCE = 20.0
#: How long to sleep between two looks whether it is back.
SHORTEST, LONGEST = 0.02, 0.5
#: How long somebody waits for others who work on the same rows; and how long they may do nothing
#: while they hold them.
SETTINGS = {"lock_timeout": "60s", "idle_in_transaction_session_timeout": "5min"}
#: Held by whoever makes the tables ("riremig"), so that two processes do not make them at once.
_MAKING = 0x726972656D6967


class PostgresPool:
    """Connections to one schema of one database, for all threads of this process."""

    def __init__(self, address: str, schema: str, steps: Sequence[str]) -> None:
        told = _parsed(address)
        self._conninfo = make_conninfo(
            **{"application_name": "rireki", "connect_timeout": "10", **told}
        )
        #: What it is called in messages and as a place: without a password.
        self.name = _name(told)
        self.schema = schema
        self._steps = steps
        self._lock = threading.Lock()
        self._pool: ConnectionPool[PostgresConnection] | None = None

    # ── opening ──

    def open(self) -> None:
        """Have the tables made or brought up to date; once is enough."""
        with self._lock:
            if self._pool is not None:
                return
            with self._first() as connection:
                self._prepare(connection)
            self._pool = self._made()

    def knows_tables(self) -> bool:
        """Whether the tables are there, without making any."""
        return self._pool is not None or self.persist(self._are_there)

    def _are_there(self) -> bool:
        with self._first() as connection:
            return self._checked(connection) > 0

    @contextmanager
    def _first(self) -> Iterator[PostgresConnection]:
        """What is not there the first time is named wrongly, and not waited for: unless it starts."""
        try:
            with self._connected() as connection:
                yield connection
        except psycopg.Error as error:
            if is_starting(error):
                raise
            raise explain(error, self.name) from error

    def _made(self) -> ConnectionPool[PostgresConnection]:
        return ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},
            configure=self._configure,
            min_size=0,
            max_size=MOST,
            timeout=FREE_SECONDS,
            # Whoever needs one waits for the server (below), and then wants it at once.
            reconnect_timeout=0.05,
            name="rireki",
            open=True,
        )

    def _connected(self) -> PostgresConnection:
        """A connection apart from the others: says at once why there is none."""
        return psycopg.connect(self._conninfo, autocommit=True)

    def _configure(self, connection: PostgresConnection) -> None:
        settings = {**SETTINGS, "search_path": f'"{self.schema}"'}
        calls = sql.SQL(", ").join(
            sql.SQL("set_config({}, {}, false)").format(name, value)
            for name, value in settings.items()
        )
        connection.execute(sql.SQL("SELECT {}").format(calls))

    # ── the tables ──

    def _prepare(self, connection: PostgresConnection) -> None:
        if self._checked(connection) == len(self._steps):
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
            version = self._checked(connection)
            schema = sql.Identifier(self.schema)
            if not version:
                connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(schema))
            if not version:
                connection.execute("CREATE TABLE version (number integer PRIMARY KEY)")
            for number, step in enumerate(self._steps[version:], version + 1):
                connection.execute(step.encode())
                connection.execute("INSERT INTO version VALUES (%s)", (number,))

    def _checked(self, connection: PostgresConnection) -> int:
        """The version of the tables; 0 where there are none."""
        table = sql.Identifier(self.schema, "version")
        there = connection.execute(
            "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'version'",
            (self.schema,),
        ).fetchone()
        if not there:
            return 0
        query = sql.SQL("SELECT coalesce(max(number), 0) FROM {}").format(table)
        row = connection.execute(query).fetchone()
        version = int(row[0]) if row else 0
        if version > len(self._steps):
            raise RirekiError(
                "postgres-newer", database=self.name, version=version, known=len(self._steps)
            )
        return version

    # ── lending ──

    @contextmanager
    def borrow(self) -> Iterator[PostgresConnection]:
        """A connection for one piece of work. What psycopg raises is not put into words."""
        connection = self.lend()
        try:
            yield connection
        finally:
            self.give_back(connection)

    def lend(self) -> PostgresConnection:
        """A connection until it is given back."""
        until = time.monotonic() + FREE_SECONDS
        while True:
            try:
                return self._opened().getconn(timeout=LOOK)
            except PoolTimeout:
                # If it is for the server that there is none, this raises what it says.
                self._connected().close()
                if time.monotonic() > until:
                    raise

    def give_back(self, connection: PostgresConnection) -> None:
        """What was begun on it and not committed is taken back."""
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                connection.rollback()
        try:
            self._opened().putconn(connection)
        except ValueError:
            # It was lent out before the pool was closed and opened again.
            connection.close()

    def _opened(self) -> ConnectionPool[PostgresConnection]:
        self.open()
        assert self._pool is not None
        return self._pool

    def run(self, work: Callable[[PostgresConnection], T]) -> T:
        """Work that may be done once more without harm: it is, where the connection broke."""

        def done() -> T:
            with self.borrow() as connection:
                return work(connection)

        return self.persist(done)

    def persist(self, work: Callable[[], T]) -> T:
        """The work, again and again while the server is away. Errors are put into words."""
        until = time.monotonic() + PATIENCE
        with self.explained():
            while True:
                try:
                    return work()
                except psycopg.Error as error:
                    if not is_lost(error) or time.monotonic() > until:
                        raise
                self._wait(until)

    def _wait(self, until: float) -> None:
        """Until the server answers again; raises what it said last, if that is not in time."""
        pause = SHORTEST
        while True:
            time.sleep(pause)
            try:
                self._connected().close()
                break
            except psycopg.Error as error:
                if not is_over_soon(error) or time.monotonic() > until:
                    raise
            pause = min(2 * pause, LONGEST)
        if self._pool is not None:
            # Those that were lent out as long ago are broken as well.
            self._pool.check()

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise explain(error, self.name) from error

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


_guard = threading.Lock()
_pools: dict[tuple[str, str], PostgresPool] = {}


def pool_of(address: str, schema: str, steps: Sequence[str]) -> PostgresPool:
    """The one that this process has for an address and a schema."""
    with _guard:
        pool = _pools.get((address, schema))
        if pool is None:
            pool = _pools[address, schema] = PostgresPool(address, schema, steps)
        return pool


def _after_fork() -> None:
    """Connections belong to the process that made them: a copy of it makes its own."""
    global _guard
    _guard = threading.Lock()
    _copies.extend(_pools.values())
    _pools.clear()


#: Those of the process that this one is a copy of: never closed here, which would tell the server so.
_copies: list[PostgresPool] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _close_all() -> None:
    for pool in _pools.values():
        pool.close()


def _parsed(address: str) -> dict[str, Any]:
    try:
        return conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # What it says of the address may hold the password.
        raise RirekiError("postgres-misnamed") from None


def _name(told: dict[str, Any]) -> str:
    host = quote(str(told.get("host") or told.get("hostaddr") or "localhost"), safe="")
    port = f":{told['port']}" if told.get("port") else ""
    return f"postgresql://{host}{port}/{told.get('dbname') or told.get('user') or ''}"
