"""Opening an archive, whichever engine it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from rireki.archive.base import Archive
from rireki.archive.sqlite import connect
from rireki.archive.sqlite.copy import copy_database, is_database
from rireki.archive.sqlite.rows import SqliteRows
from rireki.errors import ArchiveTrouble
from rireki.late import LateModule
from rireki.model.conversation import Trouble

if TYPE_CHECKING:
    from rireki.archive.postgres import store
else:
    store = LateModule("rireki.archive.postgres.store")

__all__ = [
    "StorageError",
    "copy_database",
    "explain",
    "is_database",
    "now",
    "open_archive",
    "open_store",
    "salvage_archive",
]

#: What the storage raises by itself; `explain` tells its owner what it means.
StorageError = apsw.Error
_DATABASES = ("postgresql://", "postgres://")
_OWNER = "#owner="


def open_archive(
    address: str | os.PathLike[str],
    *,
    create: bool = False,
    write: bool = False,
    read_only: bool = False,
    clock: Callable[[], str] | None = None,
) -> Archive:
    """The archive of an address: the path of its file, or `postgresql://…#owner=7`.

    Where nothing may be written it can only be read; raises ArchiveTrouble then if it is wanted to
    `write`, or to `create`.
    """
    database, _, owner = os.fspath(address).partition(_OWNER)
    if database.startswith(_DATABASES):
        if not owner.isdecimal():
            raise ArchiveTrouble("database-without-owner")
        return open_store(database, create=create, clock=clock).only_archive(int(owner))
    rows = SqliteRows(Path(address), create=create, write=write, read_only=read_only)
    return Archive(rows, clock or now)


def open_store(
    database: str, *, create: bool = False, clock: Callable[[], str] | None = None
) -> store.TeamStore:
    """The archives of many owners in a PostgreSQL database; with `create`, its tables are made."""
    try:
        return store.TeamStore(database, create=create, clock=clock or now)
    except ImportError as error:
        if not (error.name or "").startswith("psycopg"):
            raise
        raise ArchiveTrouble("database-not-installed") from error


def explain(error: apsw.Error, archive: Archive) -> ArchiveTrouble:
    """What an error of the storage means for the archive's owner."""
    return connect.explain(error, Path(archive.address))


def salvage_archive(old: Path, new: Path) -> tuple[Archive, list[Trouble]]:
    """A new archive with all that can be read of another, and what could not be saved."""
    # Imported late: hardly any archive is damaged.
    from rireki.archive.sqlite.salvage import salvage

    return salvage(old, new, now)


def now() -> str:
    moment = datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
