"""The rows of attachments, and the bytes behind them: kept once, by what they are.

A file's name is the digest of its bytes, so no name that a user chose ever touches the disk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from chatkit.store import NotFoundError

from rireki.chatkit.rows import moment_now, unused
from rireki.chatkit.sql import StoreSql
from rireki.chatkit.values import with_unknown
from rireki.errors import RirekiError

__all__ = [
    "Blobs",
    "Incoming",
    "StoredUpload",
    "announce",
    "delete_attachment",
    "find_attachment",
    "find_upload",
    "finish",
    "put_attachment",
]

#: How bytes on their way in are called.
NEW = ".new"
DAY = 86_400.0
_LIVE = "user_id = ? AND id = ? AND deleted_at IS NULL"


class StoredUpload(NamedTuple):
    """What is known of an attachment's bytes."""

    data: str
    size: int
    key: str
    #: None until they are there.
    digest: str | None


# ── rows ──


def put_attachment(sql: StoreSql, user: str, id: str, data: str, thread: str | None) -> int:
    """Insert or update it; its number. One of another user with the same id is another one."""
    rows: list[tuple[Any, ...]] = sql.execute(
        f"SELECT ordinal, data FROM attachments WHERE {_LIVE}", (user, id)
    ).fetchall()
    if not rows:
        rows = sql.execute(
            """INSERT INTO attachments (id, user_id, thread_id, created_at, data)
               VALUES (?, ?, ?, ?, ?) RETURNING ordinal""",
            (id, user, thread, moment_now(), data),
        ).fetchall()
        return int(rows[0][0])
    ordinal, stored = rows[0]
    sql.execute(
        "UPDATE attachments SET data = ?, thread_id = coalesce(?, thread_id) WHERE ordinal = ?",
        (data if data == stored else with_unknown(stored, data), thread, ordinal),
    )
    return int(ordinal)


def find_attachment(sql: StoreSql, user: str, id: str) -> str:
    rows = sql.execute(f"SELECT data FROM attachments WHERE {_LIVE}", (user, id)).fetchall()
    if not rows:
        raise NotFoundError(f"there is no attachment {id}")
    return str(rows[0][0])


def delete_attachment(sql: StoreSql, user: str, id: str, erase: bool) -> list[str]:
    """The digests of bytes that nothing refers to any more."""
    if not erase:
        sql.execute(
            f"UPDATE attachments SET deleted_at = ? WHERE {_LIVE}", (moment_now(), user, id)
        )
        return []
    rows = sql.execute(
        f"""SELECT digest FROM uploads WHERE digest IS NOT NULL AND attachment IN
             (SELECT ordinal FROM attachments WHERE {_LIVE})""",
        (user, id),
    ).fetchall()
    sql.execute(f"DELETE FROM attachments WHERE {_LIVE}", (user, id))
    return unused(sql, [str(digest) for (digest,) in rows])


def announce(sql: StoreSql, user: str, id: str, data: str, size: int, key: str) -> None:
    """An attachment whose bytes are still to come."""
    ordinal = put_attachment(sql, user, id, data, None)
    sql.execute(
        "INSERT INTO uploads (attachment, size, key) VALUES (?, ?, ?)", (ordinal, size, key)
    )


def find_upload(sql: StoreSql, user: str | None, id: str, key: str | None = None) -> StoredUpload:
    """The bytes of a user's attachment; or those that a key opens, whoever asks."""
    who, value = ("user_id = ?", user) if key is None else ("key = ?", key)
    rows: list[tuple[Any, ...]] = sql.execute(
        f"""SELECT data, size, key, digest FROM uploads JOIN attachments ON ordinal = attachment
             WHERE id = ? AND {who} AND deleted_at IS NULL""",
        (id, value),
    ).fetchall()
    if not rows:
        raise NotFoundError(f"there is no attachment {id}")
    return StoredUpload(*rows[0])


def finish(sql: StoreSql, user: str, id: str, data: str, digest: str, bytes_: Incoming) -> None:
    """Its bytes are there."""
    find_attachment(sql, user, id)
    bytes_.place()
    ordinal = put_attachment(sql, user, id, data, None)
    sql.execute("UPDATE uploads SET digest = ? WHERE attachment = ?", (digest, ordinal))


# ── bytes ──


class Incoming:
    """Bytes on their way in: nothing of them is seen by others before all are there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / f".{os.urandom(8).hex()}{NEW}"
        self.size = 0
        self._digest = sha256()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file: BinaryIO = os.fdopen(
            os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        )

    def write(self, data: bytes) -> None:
        self.size += len(data)
        self._digest.update(data)
        self._file.write(data)

    def seal(self) -> str:
        """All are there, and on disk; their digest."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return self._digest.hexdigest()

    def place(self) -> None:
        """Put them where they are found; in the transaction that refers to them.

        Others with the same bytes may be going away at this moment, in another one.
        """
        digest = self._digest.hexdigest()
        place = self.folder / digest[:2] / digest
        place.parent.mkdir(mode=0o700, exist_ok=True)
        if self.path.exists():
            # Not if the transaction is done once more.
            self.path.replace(place)
        _settle(place.parent)

    def drop(self) -> None:
        with suppress(OSError):
            # What a full disk did not take is still to be written, and is not wanted any more.
            self._file.close()
        self.path.unlink(missing_ok=True)


class Blobs:
    """The folder of a store's bytes."""

    def __init__(self, store: Path) -> None:
        self.folder = store.with_name(f"{store.stem}.files")

    def path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest

    def receive(self) -> Incoming:
        try:
            return Incoming(self.folder)
        except OSError as error:
            raise RirekiError(
                "file-not-kept", folder=self.folder, why=error.strerror or error
            ) from error

    def erase(self, digests: Sequence[str]) -> None:
        for digest in digests:
            with suppress(FileNotFoundError):
                self.path(digest).unlink()

    def abandoned(self) -> list[str]:
        """Removes what came in part, and names what may have come for nothing: a process was killed.

        Only what is a day old, and so no longer on its way.
        """
        if not self.folder.is_dir():
            return []
        before = time.time() - DAY
        old = [file for file in self.folder.rglob("*") if file.is_file() and _age(file) < before]
        for file in old:
            if file.suffix == NEW:
                file.unlink(missing_ok=True)
        return [file.name for file in old if file.suffix != NEW]


def _age(file: Path) -> float:
    """When it was written; of one that goes at this moment, now."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _settle(folder: Path) -> None:
    """Have the disk know a folder's files by name, where that can be asked for."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
