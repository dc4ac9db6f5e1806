"""Where the work of a store in PostgreSQL is done: in threads, each change in a transaction.

The changes of one user wait for each other, in whatever process: so what is later in order was also
later to be seen. A change whose connection broke is done again, unless it turns out to be kept.
Knows no SQL but that of transactions.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from rireki.chatkit.sql import StoreSql
from rireki.errors import RirekiError

try:
    import psycopg

    from rireki.journals.postgres.pool import PostgresConnection, PostgresPool, pool_of
    from rireki.journals.postgres.trouble import is_lost, is_undone
except ModuleNotFoundError as error:
    if error.name not in ("psycopg", "psycopg_pool"):
        raise
    raise RirekiError("postgres-not-installed") from error

__all__ = ["PostgresWork", "store_in"]

T = TypeVar("T")

SCHEMA = "rireki_chatkit"
#: How many changes and questions there are at once, of one store in one process.
THREADS = 12
#: How often a change is done again that the server took back because of another one.
ATTEMPTS = 5
#: How long to sleep before it is asked once more what became of a transaction.
PAUSE = 0.05
_STEPS = Path(__file__).parent / "schema"
#: The transaction gets its number, by which the server knows later what became of it; and the user
#: is held until its end.
_BEGIN = "SELECT pg_current_xact_id()::text, pg_advisory_xact_lock(hashtextextended(%s, 0))"
_BECAME = "SELECT pg_xact_status(%s::text::xid8)"


def store_in(address: str, name: str) -> PostgresPool:
    """The connections to a store of a database; each has a schema of its own."""
    steps = [file.read_text(encoding="utf-8") for file in sorted(_STEPS.glob("*.sql"))]
    return pool_of(address, schema_of(name), steps)


def schema_of(name: str) -> str:
    """What a store's schema is called, which may have 63 letters at most."""
    schema = SCHEMA if name == "chatkit" else f"{SCHEMA}_{name}"
    return schema if len(schema) <= 63 else f"{SCHEMA}_{sha256(name.encode()).hexdigest()[:32]}"


class PostgresSql:
    """A connection as the statements of a store know it."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    def execute(self, query: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._connection.execute(_translated(query), tuple(values))


@cache
def _translated(query: str) -> bytes:
    # Which index is to be walked along is a word of SQLite's; ours cannot be walked otherwise.
    return query.replace("INDEXED BY items_in_order", "").replace("?", "%s").encode()


class PostgresWork:
    """The changes and questions of one store in this process."""

    def __init__(self, pool: PostgresPool) -> None:
        self.pool = pool
        self.is_closed = False
        #: What was erased stays in the server's log and backups as long as those are kept.
        self.scrub = False
        pool.open()
        self._threads = ThreadPoolExecutor(THREADS, "rireki-chatkit")

    async def change(self, do: Callable[[StoreSql], T], user: str = "") -> T:
        """Done in a transaction; goes on although the caller is cancelled."""
        return await asyncio.shield(self._begun(lambda: self._change(do, user)))

    async def read(self, do: Callable[[StoreSql], T]) -> T:
        return await self._begun(lambda: self.pool.run(lambda one: do(PostgresSql(one))))

    async def aside(self, do: Callable[[], T]) -> T:
        """Work with files, in a thread as well."""
        return await self._begun(do)

    def close(self) -> None:
        """After everything that was asked for before."""
        self.is_closed = True
        self._threads.shutdown()
        # Another store of this process that has the same one opens it again.
        self.pool.close()

    def _begun(self, work: Callable[[], T]) -> asyncio.Future[T]:
        if self.is_closed:
            raise RirekiError("store-closed", path=self.pool.name)
        return asyncio.get_running_loop().run_in_executor(self._threads, work)

    # ── in the threads ──

    def _change(self, do: Callable[[StoreSql], T], user: str) -> T:
        lost: list[tuple[str, T]] = []

        def change() -> T:
            if lost and self._was_kept(lost[0][0]):
                return lost[0][1]
            lost.clear()
            return self._attempts(do, user, lost)

        return self.pool.persist(change)

    def _attempts(self, do: Callable[[StoreSql], T], user: str, lost: list[tuple[str, T]]) -> T:
        left = ATTEMPTS
        while True:
            try:
                return self._once(do, user, lost)
            except psycopg.Error as error:
                left -= 1
                if not is_undone(error) or not left:
                    raise

    def _once(self, do: Callable[[StoreSql], T], user: str, lost: list[tuple[str, T]]) -> T:
        with self.pool.borrow() as connection:
            connection.execute("BEGIN")
            row = connection.execute(_BEGIN, (f"{self.pool.schema}/{user}",)).fetchone()
            assert row is not None
            value = do(PostgresSql(connection))
            try:
                connection.execute("COMMIT")
            except psycopg.Error as error:
                if is_lost(error):
                    # Perhaps it was kept, and perhaps not: the server knows.
                    lost.append((str(row[0]), value))
                raise
            return value

    def _was_kept(self, transaction: str) -> bool:
        with self.pool.borrow() as connection:
            while True:
                row = connection.execute(_BECAME, (transaction,)).fetchone()
                became = row[0] if row else None
                if became != "in progress":
                    return bool(became == "committed")
                time.sleep(PAUSE)
