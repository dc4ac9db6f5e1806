"""Where the archive lies, and opening it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import apsw

from rireki.archive.base import Archive
from rireki.archive.sqlite.connect import explain
from rireki.archive.sqlite.copy import copy_database, is_database
from rireki.archive.sqlite.store import SqliteArchive
from rireki.model.conversation import Trouble

__all__ = [
    "FILE",
    "StorageError",
    "archive_path",
    "copy_database",
    "data_directory",
    "explain",
    "is_database",
    "now",
    "open_archive",
    "salvage_archive",
]

FILE = "archive.sqlite3"
#: What the storage raises by itself; `explain` tells its owner what it means.
StorageError = apsw.Error


def archive_path(given: str | None = None) -> Path:
    """The archive the user means: --archive, then RIREKI_ARCHIVE, then the platform's place."""
    chosen = given or os.environ.get("RIREKI_ARCHIVE")
    if not chosen:
        return data_directory() / FILE
    path = Path(chosen).expanduser().absolute()
    # A name without an ending is taken for a folder: the search index will lie beside the file.
    is_folder = path.is_dir() or (not path.suffix and not path.exists())
    return path / FILE if is_folder else path


def data_directory() -> Path:
    """The user's own folder; closed to others where they could look into it until now."""
    # Imported late: who names the archive does not need it.
    from platformdirs import user_data_path

    folder = user_data_path("rireki", appauthor=False)
    if not folder.is_absolute():
        # XDG_DATA_HOME=. would be whatever directory the user happens to be in.
        folder = Path.home() / ".local" / "share" / "rireki"
    # Who may not change it (it is somebody else's, or nothing can be written) uses it as it is.
    with suppress(OSError):
        mode = folder.stat().st_mode
        if os.name == "posix" and mode & 0o077:
            folder.chmod(mode & 0o700)
    return folder


def open_archive(
    path: Path,
    *,
    create: bool = False,
    write: bool = False,
    read_only: bool = False,
    clock: Callable[[], str] | None = None,
) -> Archive:
    """Where nothing may be written it can only be read; raises ArchiveTrouble then if it is
    wanted to `write`, or to `create`."""
    return SqliteArchive(path, create=create, write=write, read_only=read_only, clock=clock or now)


def salvage_archive(old: Path, new: Path) -> tuple[Archive, list[Trouble]]:
    """A new archive with all that can be read of another, and what could not be saved."""
    # Imported late: hardly any archive is damaged.
    from rireki.archive.sqlite.salvage import salvage

    return salvage(old, new, now)


def now() -> str:
    moment = datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
