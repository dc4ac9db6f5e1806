"""Short, safe reads of SQLite files that belong to another program.

Every statement is finished before its rows are handed out, so the lock on the
file is held for the length of one statement and never while we think. Nothing
here knows what the tables mean, and nothing here can write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from rireki.errors import SourceTrouble
from rireki.model.names import as_text
from rireki.sources.kit.stamps import is_regular, open_plain

__all__ = ["Database", "open_database"]

T = TypeVar("T")

#: How long one statement waits for a writer, in milliseconds, and how often it is tried.
PATIENCE = 2000
ATTEMPTS = 3
MAGIC = b"SQLite format 3\x00"
WAL = b"\x02"

_CODES = {
    apsw.BusyError: "database-locked",
    apsw.LockedError: "database-locked",
    apsw.NotADBError: "file-not-a-database",
    apsw.CorruptError: "database-damaged",
    apsw.ReadOnlyError: "database-left-halfway",
    apsw.CantOpenError: "source-not-opened",
    apsw.PermissionsError: "source-not-opened",
}


class Database:
    """An open foreign database; made by `open_database`."""

    def __init__(self, place: str, connection: apsw.Connection) -> None:
        self.place = place
        self._connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of one statement. The lock is gone when this returns."""
        return self._patiently(
            lambda: self._connection.execute(statement, tuple(values)).fetchall()
        )

    def slice(self, table: str, column: str, rowid: int, start: int, size: int) -> bytes | None:
        """Some bytes of a long value, without walking through the rest; None when the row is gone."""

        def read() -> bytes | None:
            try:
                blob = self._connection.blob_open("main", table, column, rowid, False)
            except apsw.SQLError:
                # No such row, or neither a text nor a blob by now.
                return None
            try:
                blob.seek(min(start, blob.length()))
                return blob.read(size)
            finally:
                blob.close()

        return self._patiently(read)

    def starts(
        self, table: str, column: str, rowids: Sequence[int], size: int
    ) -> list[bytes | None]:
        """How the values of several rows begin; None for a row that is gone.

        One handle goes from row to row, which takes a tenth of the time of opening each.
        """
        return self._patiently(lambda: list(self._starts(table, column, rowids, size)))

    def _starts(
        self, table: str, column: str, rowids: Sequence[int], size: int
    ) -> Iterator[bytes | None]:
        blob: apsw.Blob | None = None
        try:
            for rowid in rowids:
                try:
                    if blob is None:
                        blob = self._connection.blob_open("main", table, column, rowid, False)
                    else:
                        blob.reopen(rowid)
                except apsw.SQLError:
                    # No such row, or neither a text nor a blob: the handle is of no more use.
                    if blob is not None:
                        blob.close(True)
                    blob = None
                    yield None
                    continue
                yield blob.read(size)
        finally:
            if blob is not None:
                blob.close()

    def _patiently(self, work: Callable[[], T]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return work()
            except apsw.BusyError as error:
                if attempt == ATTEMPTS:
                    raise _trouble(self.place, error) from error
            except apsw.Error as error:
                raise _trouble(self.place, error) from error
        raise AssertionError("unreachable")

    def columns(self, table: str) -> set[str]:
        """The column names of a table; empty when there is no such table.

        A view, or a table that a module makes up, is none: reading it would run what the file says.
        Columns that are worked out are left out for the same reason.
        """
        rows = self.rows(
            """SELECT i.name FROM sqlite_schema s, pragma_table_info(s.name) i
                WHERE s.type = 'table' AND s.rootpage > 0 AND s.name = ? COLLATE NOCASE""",
            (table,),
        )
        return {name for (name,) in rows}


@contextmanager
def open_database(place: str) -> Iterator[Database]:
    """Open read-only. Raises SourceTrouble, with a hint, when that cannot be done just now."""
    path = Path(place).absolute()
    _check(path)
    # An immutable file is never locked and never gets helper files, but rows in a
    # write-ahead log stay unseen: right only where there is provably no such log.
    mode = "mode=ro&immutable=1" if _at_rest_in_wal_mode(path) else "mode=ro"
    try:
        connection = apsw.Connection(
            f"{path.as_uri()}?{mode}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
    except apsw.Error as error:
        raise _trouble(place, error) from error
    try:
        connection.set_busy_timeout(PATIENCE)
        _distrust(connection)
        yield Database(place, connection)
    finally:
        connection.close()


def _distrust(connection: apsw.Connection) -> None:
    """Whoever made the file: nothing that its schema brings along is run, and nothing is changed."""
    for setting, value in (
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        (apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0),
    ):
        connection.config(setting, value)
    connection.execute("PRAGMA cell_size_check = ON")


def _check(path: Path) -> None:
    """Refuse what is no plain file before SQLite opens it: a named pipe would hang us."""
    try:
        status = path.stat()
    except OSError as error:
        raise SourceTrouble("source-not-opened", place=path, why=error.strerror) from error
    if not is_regular(status):
        raise SourceTrouble("not-a-plain-file", place=path)


def _at_rest_in_wal_mode(path: Path) -> bool:
    return _header(path)[18:19] == WAL and not Path(f"{path}-wal").exists()


def _header(path: Path) -> bytes:
    """The first bytes, read through SQLite.

    A plain open and close would drop the locks that another connection of this
    process may hold on the file.
    """
    header = _read_header(path) if as_text(str(path)) == str(path) else _head_of(path)
    if not header.startswith(MAGIC):
        raise SourceTrouble("not-a-database", place=path)
    return header


def _read_header(path: Path) -> bytes:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB
    try:
        file = apsw.VFSFile("", str(path), [flags, 0])
    except apsw.Error as error:
        raise _trouble(str(path), error) from error
    try:
        return file.xRead(20, 0)
    except apsw.Error as error:
        raise _trouble(str(path), error) from error
    finally:
        file.xClose()


def _head_of(path: Path) -> bytes:
    """The same for a name that is no text, which SQLite takes in an address only."""
    with open_plain(str(path)) as file:
        return file.read(20)


def _trouble(place: str, error: apsw.Error) -> SourceTrouble:
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)
    return SourceTrouble(code or "database-unreadable", place=place, why=error)
