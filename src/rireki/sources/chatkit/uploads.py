"""What only stores of our own have: what changed last, and the files that were sent with messages.

Also the pictures of a thread: those files, and what stands in its items.

The files lie beside the database, under the digest of their bytes. A strand of its own is read once,
however often its thread changes, and comes back byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from rireki.model.parts import Notice, Part, Unknown
from rireki.model.strand import Strand
from rireki.sources.chatkit.names import FILE, STORE_ID, conversation_of, file_key, named_in
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.fields import string
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.sqlite import Database
from rireki.sources.kit.stamps import is_regular
from rireki.sources.kit.tables import BATCH, LOOK
from rireki.sources.reader import Content, Piece, Update

__all__ = ["StoredFile", "ThreadPictures", "files_in", "numbers_of", "uploads_of"]

LANE = "bytes"
#: Records of this size: what two files share at their beginning is kept once.
PIECE = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class SentFile(NamedTuple):
    """A file that is there, and was sent in a thread."""

    number: int
    id: str
    user: str
    thread: str
    digest: str
    size: int

    @property
    def key(self) -> str:
        return file_key(self.id, self.user)

    @property
    def cursor(self) -> dict[str, Any]:
        return {"digest": self.digest, "size": self.size}

    def update(self, store: str, project: str) -> Update | None:
        """The file as it lies beside the store; None when it is not there, or not whole."""
        data = _read(Path(store), self.digest)
        if data is None:
            return None
        pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]
        return Update(
            key=self.key,
            role=FILE,
            conversation=conversation_of(self.thread, self.user),
            contents=[Content(LANE, [Piece(one, digest_of_bytes(one)) for one in pieces])],
            cursor=self.cursor,
            project=project,
        )


def uploads_of(database: Database) -> list[SentFile]:
    """The files of a store of ours; other stores keep theirs where only their app knows."""
    if not _is_our_own(database, "uploads"):
        return []
    statement = f"""SELECT ordinal, id, user_id, thread_id, digest, size
                      FROM uploads JOIN attachments ON ordinal = attachment
                     WHERE ordinal > ? AND digest IS NOT NULL AND thread_id IS NOT NULL
                     ORDER BY ordinal LIMIT {BATCH}"""
    found: list[SentFile] = []
    last = -1
    while batch := database.rows(statement, (last,)):
        found += [SentFile(*row) for row in batch]
        last = batch[-1][0]
    return found


def numbers_of(database: Database) -> dict[tuple[str, str], int] | None:
    """Of each thread and user a number that changes when any of its rows does; None if unknown.

    The stores of our own keep account of it. Asked for before the rows: what changes in between
    has another number the next time.
    """
    if not _is_our_own(database, "touched"):
        return None
    statement = f"""SELECT number, thread_id, user_id FROM touched WHERE number > ?
                     ORDER BY number LIMIT {BATCH}"""
    numbers: dict[tuple[str, str], int] = {}
    last = 0
    while batch := database.rows(statement, (last,)):
        numbers.update({(thread, user): number for number, thread, user in batch})
        last = batch[-1][0]
    # Names without bounds are not told in full where rows are listed.
    long = any(len(name) > LOOK // 4 for names in numbers for name in names)
    return None if long else numbers


def _is_our_own(database: Database, table: str) -> bool:
    told = "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name = ?"
    ours = database.rows("PRAGMA application_id") == [(STORE_ID,)]
    return ours and bool(database.rows(told, (table,)))


def _read(store: Path, digest: str) -> bytes | None:
    if not _DIGEST.fullmatch(digest):
        return None
    file = store.with_name(f"{store.stem}.files") / digest[:2] / digest
    try:
        data = file.read_bytes() if is_regular(file.lstat()) else b""
    except OSError:
        return None
    return data if sha256(data).hexdigest() == digest else None


class StoredFile(NamedTuple):
    """The bytes of an attachment, as they are archived."""

    digest: str
    size: int
    strand: Strand

    def read(self) -> bytes:
        return self.strand.document()


def files_in(strands: Sequence[Strand], user: str) -> dict[str, StoredFile]:
    """The files of one user's thread, by the ids of their attachments."""
    found: dict[str, StoredFile] = {}
    for strand in strands:
        if strand.role == FILE and strand.states:
            _, id, owner = named_in(strand.key)
            if owner == user:
                found[id] = _stored(strand)
    return found


def _stored(strand: Strand) -> StoredFile:
    known: Any = strand.cursor
    if isinstance(known, dict):
        return StoredFile(str(known["digest"]), int(known["size"]), strand)
    # As it was at an earlier time: what is known of it are its bytes.
    data = strand.document()
    return StoredFile(sha256(data).hexdigest(), len(data), strand)


@dataclass(slots=True)
class ThreadPictures(Pictures):
    #: Files that were uploaded, by the id of their attachment.
    files: dict[str, StoredFile] = field(default_factory=dict)

    def bytes_of(self, digest: str) -> bytes | None:
        """Files are brought when bytes are first asked for, all at once: the archive may close then."""
        while self.files:
            _, stored = self.files.popitem()
            self.found[stored.digest] = stored.read()
        return self.found.get(digest)

    def add_image(self, image: Any) -> Part:
        """The picture itself where the item holds it, else where it was to be had."""
        url, name = string(image, "url"), string(image, "id")
        if not url:
            return Unknown("image", image)
        if not url.startswith("data:"):
            return Notice(f"Picture {name} at {url}" if name else f"Picture at {url}")
        return self.add_url(url, name) or Unknown("picture that cannot be decoded", image)
