"""The file of a store: opened, brought to the newest schema, and its errors told in words.

Knows neither ChatKit nor what the tables mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import apsw

from rireki.archive.database import PATIENCE_MS, keep_log
from rireki.errors import RirekiError
from rireki.sources.chatkit.names import STORE_ID

__all__ = ["Sync", "connect", "explain"]

#: What a method waits for: that the system has the row, or that the disk has it.
Sync: TypeAlias = Literal["os", "full"]


def connect(path: Path, *, read_only: bool = False, sync: Sync = "full") -> apsw.Connection:
    """A connection of this process; the one that writes makes the file and its tables."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    try:
        if not read_only:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Conversations are private: made readable for their owner alone.
            path.touch(mode=0o600, exist_ok=True)
        connection = apsw.Connection(str(path), flags=flags)
        try:
            connection.set_busy_timeout(PATIENCE_MS)
            connection.execute("PRAGMA foreign_keys = ON")
            if not read_only:
                _prepare(connection, path, sync)
        except BaseException:
            connection.close()
            raise
    except OSError as error:
        raise RirekiError("store-not-made", path=path, why=error.strerror or error) from error
    except apsw.Error as error:
        raise explain(error, path) from error
    return connection


def explain(error: apsw.Error, path: Path) -> RirekiError:
    """What an error of SQLite means for whoever runs the app."""
    if isinstance(error, apsw.NotADBError):
        return RirekiError("store-not-sqlite", path=path)
    if isinstance(error, apsw.CorruptError):
        return RirekiError("store-damaged", path=path, why=error)
    if isinstance(error, apsw.FullError):
        return RirekiError("store-disk-full", path=path)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return RirekiError("store-locked", path=path)
    if isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)):
        return RirekiError("store-not-opened", path=path, why=error)
    return RirekiError("store-fails", path=path, why=error)


def _prepare(connection: apsw.Connection, path: Path, sync: Sync) -> None:
    version: int = connection.pragma("user_version")
    steps = _steps()
    if version > len(steps):
        raise RirekiError("store-newer", path=path, version=version, known=len(steps))
    tables: int = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if connection.pragma("application_id") != STORE_ID and tables:
        raise RirekiError("store-foreign", path=path)
    keep_log(connection)
    connection.execute(f"PRAGMA synchronous = {'FULL' if sync == 'full' else 'NORMAL'}")
    # What is erased, and what was said before an item was saved anew, is overwritten.
    connection.execute("PRAGMA secure_delete = ON")
    if version < len(steps):
        _migrate(connection, steps)


def _migrate(connection: apsw.Connection, steps: list[str]) -> None:
    """The steps that this file has not seen. Two processes may get here at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        for number, step in enumerate(steps[version:], version + 1):
            connection.execute(step)
            connection.pragma("user_version", number)
        connection.pragma("application_id", STORE_ID)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _steps() -> list[str]:
    files = sorted((Path(__file__).parent / "schema").glob("*.sql"))
    return [file.read_text(encoding="utf-8") for file in files]
