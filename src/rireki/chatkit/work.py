"""Where a store's work is done: one thread that writes, a few that read, and no loop that waits.

Changes that wait at the same time are committed together, so that the disk is asked once for
all of them; each is whole or not at all, and is answered when the disk has it. Knows no SQL but
that of transactions.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

import apsw

from rireki.chatkit.database import Sync, connect, explain
from rireki.errors import RirekiError

__all__ = ["StoreConnections"]

T = TypeVar("T")

READERS = 4
#: Changes that are committed together at most.
TOGETHER = 256


class _Change(NamedTuple):
    do: Callable[[apsw.Connection], Any]
    done: Future[Any]


class StoreConnections:
    """The connections of one store in this process."""

    def __init__(self, path: Path, sync: Sync) -> None:
        self.path = path
        self._writing = connect(path, sync=sync)
        self._changes: SimpleQueue[_Change | None] = SimpleQueue()
        #: Set by a change that erases: what went is not to stay in the log either.
        self.scrub = False
        self._closing = threading.Lock()
        self.is_closed = False
        self._readers = ThreadPoolExecutor(READERS, "rireki-chatkit-read")
        self._local = threading.local()
        self._reading: list[apsw.Connection] = []
        # What is acknowledged is on disk: the thread need not hold up the end of the program.
        self._writer = threading.Thread(target=self._write, name="rireki-chatkit", daemon=True)
        self._writer.start()

    async def change(self, do: Callable[[apsw.Connection], T], user: str = "") -> T:
        """Done in a transaction; goes on although the caller is cancelled. All users wait for each other."""
        return await asyncio.shield(asyncio.wrap_future(self._submit(do)))

    async def read(self, do: Callable[[apsw.Connection], T]) -> T:
        """Done on a connection that sees everything that was acknowledged."""
        self._check()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, do)

    async def aside(self, do: Callable[[], T]) -> T:
        """Work with files, in a thread as well."""
        self._check()
        return await asyncio.get_running_loop().run_in_executor(self._readers, do)

    def close(self) -> None:
        """After everything that was asked for before."""
        with self._closing:
            if self.is_closed:
                return
            self.is_closed = True
            self._changes.put(None)
        self._writer.join()
        self._readers.shutdown()
        for connection in self._reading:
            connection.close()
        self._writing.close()

    def _submit(self, do: Callable[[apsw.Connection], T]) -> Future[T]:
        done: Future[T] = Future()
        with self._closing:
            self._check()
            self._changes.put(_Change(do, done))
        return done

    def _check(self) -> None:
        if self.is_closed:
            raise RirekiError("store-closed", path=self.path)

    # ── in the threads ──

    def _read(self, do: Callable[[apsw.Connection], T]) -> T:
        try:
            connection: apsw.Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = connect(self.path, read_only=True)
                self._reading.append(connection)
            return do(connection)
        except apsw.Error as error:
            raise explain(error, self.path) from error

    def _write(self) -> None:
        while (first := self._changes.get()) is not None:
            changes, ended = self._gather(first)
            self._commit(changes)
            if ended:
                return

    def _gather(self, first: _Change) -> tuple[list[_Change], bool]:
        """What waits by now, and whether it is the last."""
        changes = [first]
        while len(changes) < TOGETHER:
            try:
                change = self._changes.get_nowait()
            except Empty:
                break
            if change is None:
                return changes, True
            changes.append(change)
        return changes, False

    def _commit(self, changes: list[_Change]) -> None:
        """All of them in one transaction; one that fails takes back itself alone."""
        made: list[tuple[Future[Any], Any]] = []
        refused: list[tuple[Future[Any], BaseException]] = []
        try:
            self._writing.execute("BEGIN IMMEDIATE")
            for change in changes:
                try:
                    made.append((change.done, self._change(change)))
                except Exception as error:
                    if not self._writing.in_transaction:
                        # A full disk took back everything.
                        raise
                    refused.append((change.done, self._told(error)))
            self._writing.execute("COMMIT")
            self._scrub()
        except Exception as error:  # noqa: BLE001 - every caller gets it
            if self._writing.in_transaction:
                with suppress(apsw.Error):
                    self._writing.execute("ROLLBACK")
            refused = [(change.done, self._told(error)) for change in changes]
            made = []
        for done, value in made:
            done.set_result(value)
        for done, trouble in refused:
            done.set_exception(trouble)

    def _change(self, change: _Change) -> Any:
        sql = self._writing
        sql.execute("SAVEPOINT change")
        try:
            value = change.do(sql)
        except Exception:
            if sql.in_transaction:
                sql.execute("ROLLBACK TO change; RELEASE change")
            raise
        sql.execute("RELEASE change")
        return value

    def _scrub(self) -> None:
        """Empty the log into the file, where what was erased is overwritten."""
        if self.scrub:
            with suppress(apsw.Error):
                # What was changed is committed. If another process reads, the next change tries again.
                self._writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self.scrub = False

    def _told(self, error: Exception) -> Exception:
        return explain(error, self.path) if isinstance(error, apsw.Error) else error
