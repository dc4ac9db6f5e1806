"""SQLite files of our own, whatever is in them: opened warily, written with a log, read where
nothing may be written.

A read-only disk, a folder of another user: to read a database in WAL mode SQLite makes two files
beside it. Where it cannot, and nobody else has made them, nobody is writing: so the file can be
read without locks. That nobody began to write meanwhile is not known then, so whoever reads has
to ask afterwards.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw

__all__ = [
    "PATIENCE_MS",
    "Frozen",
    "distrust",
    "is_shut",
    "keep_log",
    "log_of",
    "open_frozen",
    "stamps_of",
]

#: How long a writer waits for another process to finish its transaction.
PATIENCE_MS = 30_000

#: SQLite's way to the disk without locks; Windows does not have it.
NO_LOCKS = "unix-none"
Stamp = tuple[int, int, int] | None


class Frozen(apsw.Connection):
    """A connection without locks; what was read over it holds unless `is_outdated` afterwards."""

    def __init__(self, path: Path, how: str, seen: list[Stamp]) -> None:
        self.path = path
        self.seen = seen
        super().__init__(
            f"{path.as_uri()}?{how}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )

    def is_outdated(self) -> bool:
        """Whether somebody wrote the database since it was opened, or put another in its place."""
        return stamps_of(self.path) != self.seen


def is_shut(path: Path) -> bool:
    """Whether the file, or its folder, is not to be written by us."""
    path = path.resolve()
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def log_of(path: Path) -> Path | None:
    """The write-ahead log of a database, if there is anything in it."""
    log = _beside(path.resolve(), "-wal")
    return log if _stamp(log) else None


def open_frozen(path: Path) -> Frozen:
    """Raises apsw.CantOpenError where something beside the file is needed and cannot be used."""
    # SQLite looks for them where the file is, not where a link to it is.
    path = path.resolve()
    seen = stamps_of(path)
    _, log, journal = seen
    if journal is not None:
        raise apsw.CantOpenError("a change was interrupted, and has to be undone first")
    if log is None:
        return Frozen(path, "immutable=1", seen)
    if NO_LOCKS not in apsw.vfs_names():
        raise apsw.CantOpenError("there is no way to read its log here")
    connection = Frozen(path, f"vfs={NO_LOCKS}", seen)
    # Who has a database alone keeps the map of its log in memory, not in a file beside it.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def stamps_of(path: Path) -> list[Stamp]:
    """Of the file, its write-ahead log, and its rollback journal."""
    return [_stamp(_beside(path, ending)) for ending in ("", "-wal", "-journal")]


def _stamp(file: Path) -> Stamp:
    """What tells that a file is untouched; None for one that is absent or empty."""
    try:
        stat = file.stat()
    except FileNotFoundError:
        return None
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns) if stat.st_size else None


def distrust(connection: apsw.Connection) -> None:
    """An archive may come from somebody else: nothing that its schema brings along is run.

    We have no views and no triggers of our own but temporary ones, which stay allowed.
    """
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.execute("PRAGMA cell_size_check = ON")


def keep_log(connection: apsw.Connection) -> None:
    """Have SQLite write to a log first, so that others can read meanwhile.

    Where another process is just doing the same to a new file, SQLite does not wait by itself.
    """
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return
