"""Opening the archive's file: settings, numbered schema steps, and honest errors."""

from __future__ import annotations

import errno
import sys
from os import R_OK, access
from pathlib import Path

import apsw
import msgspec

from rireki.archive.database import PATIENCE_MS, distrust, is_shut, keep_log, log_of, open_frozen
from rireki.archive.rows import BadValue
from rireki.archive.sqlite import sums
from rireki.errors import ArchiveTrouble, NotFound, Wording

__all__ = ["DAMAGE", "connect", "damage", "explain", "steps"]

#: "rirk", so that `file` and strangers can tell an archive from another database.
APPLICATION_ID = 0x7269726B
#: From this format on, all that is needed to read an archive is there.
READABLE = 3
#: A table that formats before 6 lack, and that has no checksums.
_CURATION = {"curation": ("conversation", "title", "tags", "starred", "hidden", "notes")}
#: How long the first statement does, before it is asked whether there are locks at all.
SOON_MS = 2_000
#: What comes of reading a file whose bytes are not what was written. No error of Python's own but one
#: (apsw makes text of bytes): a mistake of ours must not be told as damage.
DAMAGE: tuple[type[Exception], ...] = (
    *(apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.IOError, apsw.TooBigError),
    *(apsw.NoMemError, apsw.MismatchError, apsw.InternalError, msgspec.MsgspecError),
    *(UnicodeDecodeError, BadValue),
)
#: What SQLite says of a file that it may not open, write, or make others beside.
_SHUT = (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError)


def connect(
    path: Path, *, create: bool = False, write: bool = False, read_only: bool = False
) -> apsw.Connection:
    """A connection to the archive at `path`, brought to the newest schema.

    Where nothing may be written it only reads, unless it is wanted to `write` or `create`.
    """
    if not path.exists():
        if not create:
            raise NotFound("no-archive", path=path)
        _make(path)
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    try:
        connection = apsw.Connection(str(path), flags=flags)
        distrust(connection)
        _ask_for_locks(connection, path)
        connection.set_busy_timeout(PATIENCE_MS)
        _prepare(connection, path)
    except _SHUT as error:
        if create or write:
            raise explain(error, path) from error
        connection = _frozen(path, error)
    except apsw.Error as error:
        raise explain(error, path) from error
    if (create or write) and connection.readonly("main"):
        connection.close()
        raise _cannot_write(path, "it can only be read")
    return connection


def _ask_for_locks(connection: apsw.Connection, path: Path) -> None:
    """Whether the file can be locked at all: SQLite would wait for it as if another process had it."""
    connection.set_busy_timeout(SOON_MS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018
    except (apsw.BusyError, apsw.IOError) as error:
        if lacks_locks(path.parent):
            raise ArchiveTrouble("no-file-locks", folder=path.parent) from None
        if isinstance(error, apsw.IOError):
            raise


def lacks_locks(folder: Path) -> bool:
    """Whether files in a folder cannot be locked; asked of a file of our own, never of the archive."""
    if sys.platform == "win32":
        return False
    # Imported late: Windows lacks the one, the other is slow, and hardly any disk lacks locks.
    import fcntl
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
    return False


def _make(path: Path) -> None:
    try:
        # Conversations are private: made readable for their owner alone.
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
    except OSError as error:
        raise ArchiveTrouble("archive-not-made", path=path, why=error.strerror) from error


def _frozen(path: Path, refusal: apsw.Error) -> apsw.Connection:
    """The archive where nothing may be written, which is why SQLite refused to open it as ever."""
    if not is_shut(path):
        raise explain(refusal, path) from refusal
    try:
        connection = open_frozen(path)
        _prepare(connection, path)
    except apsw.Error as error:
        log = log_of(path)
        if log is None or not isinstance(error, _SHUT) or not access(path, R_OK):
            raise explain(error, path) from error
        raise ArchiveTrouble("archive-log-unreadable", path=log) from error
    return connection


def explain(error: apsw.Error, path: Path) -> ArchiveTrouble:
    """What an SQLite error about the archive means for its owner."""
    if isinstance(error, apsw.NotADBError):
        return ArchiveTrouble("not-an-archive", path=path)
    if isinstance(error, apsw.CorruptError):
        return damage(path, error)
    if isinstance(error, apsw.FullError):
        return ArchiveTrouble("disk-full", path=path)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return ArchiveTrouble("archive-busy", path=path)
    if isinstance(error, _SHUT):
        return _cannot_write(path, error) if access(path, R_OK) else _cannot_read(path)
    return ArchiveTrouble("archive-fails", path=path, why=error)


def damage(path: Path, reason: object) -> ArchiveTrouble:
    return ArchiveTrouble("archive-damaged", path=path, why=reason)


def _cannot_write(path: Path, reason: object) -> ArchiveTrouble:
    return ArchiveTrouble("archive-read-only", path=path, why=reason, name=path.name)


def _cannot_read(path: Path) -> ArchiveTrouble:
    return ArchiveTrouble("archive-forbidden", path=path)


def _prepare(connection: apsw.Connection, path: Path) -> None:
    distrust(connection)
    connection.execute("PRAGMA cache_size = -16000")
    # By one statement: another process may be making the tables of a new file.
    version, owner, tables = connection.execute(
        """SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
             FROM pragma_user_version, pragma_application_id"""
    ).get
    known = steps()
    if version > len(known):
        raise ArchiveTrouble("archive-newer", path=path, version=version, known=len(known))
    if version == 0 and owner != APPLICATION_ID and tables:
        raise ArchiveTrouble("foreign-database", path=path)
    if connection.readonly("main"):
        if version < READABLE:
            reason = Wording("old-format", version=version, known=len(known))
            raise _cannot_write(path, reason)
        if version < len(known):
            _widen(connection, version)
        return
    # A new file leaves the mode with a rollback journal: the folder is synced without it, or a power
    # cut could bring it back, and with it the empty file.
    connection.execute("PRAGMA synchronous = EXTRA")
    keep_log(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    if version < len(known):
        migrate(connection, known)
    # Only now: a step may make a table anew that others refer to.
    connection.execute("PRAGMA foreign_keys = ON")


def _widen(connection: apsw.Connection, version: int) -> None:
    """Where an earlier format can only be read: views with the tables and columns that it lacks."""
    for table, columns in sums.ADDED.items() if version < sums.WIDER else ():
        lacking = ", ".join(f"{value} AS {column}" for column, value in columns.items())
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {lacking} FROM main.{table}")
    tables = {table: sums.SUMMED[table] for table, since in sums.SINCE.items() if version < since}
    for table, names in {**tables, **_CURATION}.items():
        nothing = ", ".join(f"0 AS {column}" for column in names)
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {nothing} WHERE 0")


# ── the newest format, step by step; each step is a file of schema/ ──


def steps() -> list[str]:
    files = sorted((Path(__file__).parent / "schema").glob("*.sql"))
    return [file.read_text(encoding="utf-8") for file in files]


def migrate(connection: apsw.Connection, known: list[str]) -> None:
    """Apply the steps this archive has not seen. Two processes may get here at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        for number, step in enumerate(known[version:], version + 1):
            if number == sums.FIRST:
                _complete_first_format(connection)
            connection.execute(step)
            if number == sums.FIRST:
                sums.fill(connection)
            elif number == sums.WIDER:
                sums.renew(connection)
            connection.pragma("user_version", number)
        connection.pragma("application_id", APPLICATION_ID)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _complete_first_format(sql: apsw.Connection) -> None:
    """What 001.sql got while archives were in use already: they say format 1 and lack it."""
    if "checksum" in _columns(sql, "chunk"):
        # The frame of each chunk has a checksum of its own.
        sql.execute("ALTER TABLE chunk DROP COLUMN checksum")
    if "together" not in _columns(sql, "forgotten"):
        sql.execute(
            """ALTER TABLE forgotten RENAME TO forgotten_before;
               CREATE TABLE forgotten (
                   family       TEXT NOT NULL,
                   conversation TEXT NOT NULL,
                   together     TEXT NOT NULL,
                   at           TEXT NOT NULL,
                   PRIMARY KEY (family, conversation)
               ) STRICT, WITHOUT ROWID;
               INSERT INTO forgotten
               SELECT family, conversation, conversation, at FROM forgotten_before;
               DROP TABLE forgotten_before"""
        )
    if "detail" not in _columns(sql, "tie"):
        sql.execute("ALTER TABLE tie ADD COLUMN detail TEXT")
        # Ties were kept without it: titles that stand in another file.
        sql.execute(
            """INSERT OR IGNORE INTO dirty (family, conversation, number)
               SELECT DISTINCT family, conversation, (SELECT value FROM meta WHERE key = 'number')
                 FROM strand WHERE conversation IS NOT NULL"""
        )
    sql.execute(
        "CREATE INDEX IF NOT EXISTS conversation_by_time ON conversation (updated_at DESC, id)"
    )


def _columns(sql: apsw.Connection, table: str) -> set[str]:
    return {row[1] for row in sql.execute(f"PRAGMA table_info({table})")}
