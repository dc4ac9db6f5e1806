"""A copy of a database as it is at one moment, while others write it."""

from __future__ import annotations

from pathlib import Path

import apsw

from rireki.archive.database import PATIENCE_MS, is_shut, open_frozen
from rireki.archive.sqlite.connect import explain

__all__ = ["copy_database", "is_database"]

MAGIC = b"SQLite format 3\0"


def is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _opened(source: Path) -> apsw.Connection:
    try:
        connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        # From the first look on: another process that closes the archive has it alone for a moment.
        connection.set_busy_timeout(PATIENCE_MS)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if not is_shut(source):
            raise
        # Where nothing may be written, its log is read without the files SQLite would make.
        return open_frozen(source)
    return connection


def copy_database(source: Path, target: Path) -> None:
    """With all that is committed, be it in the log. Raises ArchiveTrouble."""
    target.touch(mode=0o600)
    try:
        old = _opened(source)
        new = apsw.Connection(str(target))
        try:
            # All pages in one step: it is one look at the database, however long it takes.
            with new.backup("main", old, "main") as copying:
                while not copying.done:
                    copying.step(-1)
        finally:
            new.close()
            old.close()
    except apsw.Error as error:
        raise explain(error, source) from error
