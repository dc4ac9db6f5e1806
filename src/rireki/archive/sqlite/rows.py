"""An archive's rows in one SQLite file: one writer at a time, any number of readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from rireki.archive.database import Frozen
from rireki.archive.rows import BadValue, Row
from rireki.archive.sqlite.connect import DAMAGE, connect, damage, explain
from rireki.archive.sqlite.questions import Questions, select
from rireki.archive.sqlite.sums import ensure_triggers
from rireki.errors import ArchiveTrouble
from rireki.home import Home
from rireki.model.conversation import Trouble

if TYPE_CHECKING:
    from rireki.archive.sqlite.rescued import Rescued

__all__ = ["SqliteRows"]

T = TypeVar("T")


class SqliteRows(Questions):
    damaged = DAMAGE

    def __init__(
        self, path: Path, *, create: bool = False, write: bool = False, read_only: bool = False
    ) -> None:
        self.path = path
        self.name = self.address = str(path)
        self.home = Home(path)
        self.damage: list[Trouble] = []
        self._given_up: list[apsw.Connection] = []
        self._is_writing = False
        try:
            self.sql = connect(path, create=create, write=write, read_only=read_only)
        except ArchiveTrouble as error:
            if create or write or not isinstance(error.__cause__, DAMAGE):
                raise
            self.sql = self._rescued(error)
        self.read_only = bool(self.damage) or self.sql.readonly("main")

    # ── damage ──

    def _rescued(self, error: Exception) -> Rescued:
        """What can be read of a damaged file; the error itself if that is nothing."""
        # Imported late: hardly any archive is damaged.
        from rireki.archive.sqlite.rescued import open_rescued

        rescued = open_rescued(self.path)
        found = "SELECT EXISTS (SELECT 1 FROM strand) OR EXISTS (SELECT 1 FROM conversation)"
        if not rescued.execute(found).get:
            rescued.close()
            raise error
        self.damage = rescued.lost or [Trouble(str(self.path), str(error), "")]
        return rescued

    def rescue(self, error: Exception) -> None:
        if self.damage or self._is_writing:
            raise error
        rescued = self._rescued(error)
        self.sql.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # Not closed yet: somebody up the stack may be reading in it.
        self._given_up.append(self.sql)
        self.sql = rescued
        self.read_only = True

    def check(self) -> list[Trouble]:
        # Imported late: only `verify` checks.
        from rireki.archive.sqlite.check import check

        if self.damage:
            return []
        try:
            with self.reading():
                return check(self.sql)
        except DAMAGE as error:
            self.rescue(error)
            return []

    # ── transactions ──

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self.damage:
            raise damage(self.path, "nothing is written to it any more")
        try:
            ensure_triggers(self.sql)
            self.sql.execute("BEGIN IMMEDIATE")
            self._is_writing = True
            try:
                yield
            except BaseException:
                self.sql.execute("ROLLBACK")
                raise
            self.sql.execute("COMMIT")
        except apsw.Error as error:
            if self.sql.in_transaction:
                self.sql.execute("ROLLBACK")
            raise explain(error, self.path) from error
        finally:
            self._is_writing = False

    def again(self, work: Callable[[], T]) -> T:
        return work()

    @contextmanager
    def reading(self) -> Iterator[None]:
        sql = self.sql
        # A savepoint: it may also lie within a transaction.
        sql.execute("SAVEPOINT reading")
        try:
            yield
        finally:
            # Of a damaged file nothing is read by it any more: it need not end well.
            with suppress(apsw.Error) if sql in self._given_up else nullcontext():
                sql.execute("RELEASE reading")

    @contextmanager
    def wiping(self) -> Iterator[None]:
        self.sql.execute("PRAGMA secure_delete = ON")
        yield
        try:
            # Until the log is folded in and emptied, it still holds the old pages.
            self.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except apsw.Error as error:
            raise explain(error, self.path) from error

    def settle(self) -> None:
        """Move what was written from the log into the file, and to the disk.

        Where the file cannot grow now, nothing is lost: the log keeps it until it can.
        """
        try:
            with suppress(apsw.FullError, apsw.IOError):
                self.sql.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except apsw.Error as error:
            raise explain(error, self.path) from error

    def is_outdated(self) -> bool:
        if not self.read_only:
            return False
        # Imported late: hardly any archive can only be read.
        from rireki.archive.sqlite.rescued import Rescued

        return isinstance(self.sql, (Frozen, Rescued)) and self.sql.is_outdated()

    def close(self) -> None:
        for each in (self.sql, *self._given_up):
            each.close()

    # ── rows of one table ──

    def get(
        self, table: str, columns: str, *, order: str = "", limit: int = -1, **where: Any
    ) -> list[Row]:
        query = _select(table, columns, tuple(where), order)
        return select(self.sql, query, (*where.values(), limit))

    def get_readable(self, table: str, columns: str, *, order: str = "", **where: Any) -> list[Row]:
        rows: list[Row] = []
        with suppress(*DAMAGE, apsw.ConnectionClosedError):
            query = _select(table, columns, tuple(where), order)
            rows.extend(self.sql.execute(query, (*where.values(), -1)))
        return rows

    def add(self, table: str, **values: Any) -> int:
        self.sql.execute(_insert("INSERT", table, ", ".join(values)), tuple(values.values()))
        return self.sql.last_insert_rowid()

    def put(self, table: str, columns: str, *rows: Sequence[Any]) -> None:
        if rows:
            self.sql.executemany(_insert("INSERT OR REPLACE", table, columns), rows)

    def change(self, table: str, where: dict[str, Any], **values: Any) -> None:
        statement = _update(table, tuple(values), tuple(where))
        self.sql.execute(statement, (*values.values(), *where.values()))

    def remove(self, table: str, **where: Any) -> None:
        self.sql.execute(_delete(table, tuple(where)), tuple(where.values()))

    # ── notes ──

    def next_number(self) -> int:
        # Within the transaction, so numbers follow the order of commits.
        number: int = self.sql.execute(
            """INSERT INTO meta (key, value) VALUES ('number', 1)
               ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value"""
        ).get
        return number

    def note(self, name: str) -> Any:
        found = self.get("meta", "value", key=name)
        if not found and not self.damage:
            self._check_meta()
        return found[0][0] if found else None

    def _check_meta(self) -> None:
        """An archive that has anything counts its changes there: else the table is damaged."""
        notes = [key for key, _ in self.get("meta", "key, value")]
        if "number" not in notes and self.get("origin", "id", limit=1):
            raise BadValue("table meta", "no number of changes")

    def set_note(self, name: str, value: str, keep: bool) -> None:
        how = "INSERT OR IGNORE" if keep else "INSERT OR REPLACE"
        self.sql.execute(_insert(how, "meta", "key, value"), (name, value))


@cache
def _select(table: str, columns: str, where: tuple[str, ...], order: str) -> str:
    by = f"ORDER BY {order}" if order else ""
    return f"SELECT {columns} FROM {table} {_where(where)} {by} LIMIT ?"


@cache
def _insert(how: str, table: str, columns: str) -> str:
    marks = ", ".join("?" * (columns.count(",") + 1))
    return f"{how} INTO {table} ({columns}) VALUES ({marks})"


@cache
def _update(table: str, values: tuple[str, ...], where: tuple[str, ...]) -> str:
    return f"UPDATE {table} SET {', '.join(f'{column} = ?' for column in values)} {_where(where)}"


@cache
def _delete(table: str, where: tuple[str, ...]) -> str:
    return f"DELETE FROM {table} {_where(where)}"


def _where(columns: tuple[str, ...]) -> str:
    return "WHERE " + " AND ".join(f"{column} = ?" for column in columns) if columns else ""
