"""Opening the archive's file: settings, numbered schema steps, and honest errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from rireki.errors import ArchiveTrouble, NotFound

__all__ = ["connect", "explain", "select"]

#: "rirk", so that `file` and strangers can tell an archive from another database.
APPLICATION_ID = 0x7269726B
#: How long a writer waits for another process to finish its transaction.
PATIENCE_MS = 30_000


def connect(path: Path, *, create: bool = False, read_only: bool = False) -> apsw.Connection:
    """A connection to the archive at `path`, brought to the newest schema."""
    if not path.exists() and not create:
        raise NotFound(
            f"there is no archive at {path} yet",
            "Run 'rireki import' to make one, or 'rireki demo' to look at an invented one.",
        )
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags |= apsw.SQLITE_OPEN_CREATE
        # Conversations are private: made readable for their owner alone.
        path.touch(mode=0o600, exist_ok=True)
    try:
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_timeout(PATIENCE_MS)
        _prepare(connection, path, read_only)
    except apsw.Error as error:
        raise explain(error, path) from error
    return connection


def select(sql: apsw.Connection, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows at once: no cursor stays open while they are worked on."""
    return sql.execute(query, values).fetchall()


def explain(error: apsw.Error, path: Path) -> ArchiveTrouble:
    """What an SQLite error about the archive means for its owner."""
    if isinstance(error, apsw.NotADBError):
        return ArchiveTrouble(
            f"{path} is not a rireki archive", "Choose another file with --archive."
        )
    if isinstance(error, apsw.CorruptError):
        return ArchiveTrouble(
            f"{path} is damaged ({error})",
            "Restore it from a backup; 'rireki verify' tells what is affected.",
        )
    if isinstance(error, apsw.FullError):
        return ArchiveTrouble(
            f"the disk is full: {path} could not grow",
            "Make room and run the command again; what was stored before is complete.",
        )
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return ArchiveTrouble(
            f"{path} is being written by another process", "Try again when it has finished."
        )
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError)):
        return ArchiveTrouble(
            f"{path} cannot be opened for this ({error})",
            "Check that you may write to the file and its folder.",
        )
    return ArchiveTrouble(f"{path}: {error}", "Run 'rireki verify' to check the archive.")


def _prepare(connection: apsw.Connection, path: Path, read_only: bool) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -16000")
    version = connection.pragma("user_version")
    steps = _steps()
    if version > len(steps):
        raise ArchiveTrouble(
            f"{path} was written by a newer rireki (format {version}, this one knows {len(steps)})",
            "Update rireki.",
        )
    if (
        version == 0
        and connection.pragma("application_id") != APPLICATION_ID
        and _tables(connection)
    ):
        raise ArchiveTrouble(
            f"{path} is another program's database", "Choose another file with --archive."
        )
    if read_only:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    if version < len(steps):
        _migrate(connection, steps)


def _tables(connection: apsw.Connection) -> int:
    count: int = connection.execute("SELECT count(*) FROM sqlite_schema").get
    return count


def _migrate(connection: apsw.Connection, steps: list[str]) -> None:
    """Apply the steps this archive has not seen. Two processes may get here at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        for number, step in enumerate(steps[version:], version + 1):
            connection.execute(step)
            connection.pragma("user_version", number)
        connection.pragma("application_id", APPLICATION_ID)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _steps() -> list[str]:
    files = sorted((Path(__file__).parent / "schema").glob("*.sql"))
    return [file.read_text(encoding="utf-8") for file in files]
