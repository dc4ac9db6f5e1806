"""What the index has: which conversations, how far, and the texts behind its documents.

An SQLite file beside the index proper. Each row of `talk` carries a checksum, and
each block one of its own, so that damage shows itself instead of hiding a message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import apsw

__all__ = ["Damaged", "Kept", "Store"]

#: What this file and the index look like; another number means: make both anew.
FORMAT = 1
PATIENCE_MS = 10_000
#: Stands for "being written": such a conversation is read from the archive.
UNSETTLED = -1

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE talk (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    changed    INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    dead       TEXT NOT NULL DEFAULT '',
    seal       INTEGER NOT NULL
) STRICT;
CREATE TABLE block (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    talk    INTEGER NOT NULL,
    strands TEXT NOT NULL,
    data    BLOB NOT NULL
) STRICT;
CREATE INDEX block_of_talk ON block (talk);
"""


class Damaged(Exception):
    """The index cannot be trusted: it has to be made anew."""


class Kept(NamedTuple):
    """How far the index has a conversation."""

    number: int
    id: str
    #: The archive's number of the change it has reached.
    changed: int
    #: The commit of the index that brought it.
    generation: int
    #: Places of documents that were replaced since.
    dead: frozenset[int]


class Store:
    def __init__(self, path: Path, *, create: bool = False) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self.path = path
        with self._guarded():
            self.sql = apsw.Connection(str(path), flags=flags)
            self.sql.set_busy_timeout(PATIENCE_MS)
            self.sql.execute("PRAGMA journal_mode = WAL")
            self.sql.execute("PRAGMA synchronous = NORMAL")
            self.sql.execute("PRAGMA cache_size = -4000")
            if create:
                self.sql.execute(_SCHEMA)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (apsw.BusyError, apsw.FullError, apsw.ReadOnlyError):
            raise
        except apsw.Error as error:
            raise Damaged(f"{self.path}: {error}") from error

    def close(self) -> None:
        self.sql.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._guarded():
            self.sql.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.sql.execute("ROLLBACK")
                raise
            self.sql.execute("COMMIT")

    # ── facts about the whole ──

    def get(self, key: str, default: Any = None) -> Any:
        with self._guarded():
            row = self.sql.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else default

    def put(self, key: str, value: Any) -> None:
        self.sql.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    # ── conversations ──

    def talks(self) -> tuple[int, list[Kept]]:
        """The newest commit this file knows, and how far each conversation is, as of one moment."""
        with self._guarded():
            rows = self.sql.execute(
                """SELECT -1, '', value, 0, '', 0 FROM meta WHERE key = 'generation'
                    UNION ALL SELECT number, id, changed, generation, dead, seal FROM talk"""
            ).fetchall()
        generation: Any = next((row[2] for row in rows if row[0] == -1), 0)
        return generation, [_kept(row) for row in rows if row[0] != -1]

    def talk(self, id: str) -> Kept | None:
        with self._guarded():
            row = self.sql.execute(
                "SELECT number, id, changed, generation, dead, seal FROM talk WHERE id = ?", (id,)
            ).fetchone()
        return _kept(row) if row else None

    def settle(self, kept: Kept) -> None:
        dead = " ".join(map(str, sorted(kept.dead)))
        self.sql.execute(
            "UPDATE talk SET changed = ?, generation = ?, dead = ?, seal = ? WHERE number = ?",
            (kept.changed, kept.generation, dead, _seal(kept), kept.number),
        )

    def begin(self, id: str, generation: int) -> Kept:
        """Note that a conversation is being written; until it is settled, nobody relies on it."""
        known = self.sql.execute("SELECT number FROM talk WHERE id = ?", (id,)).fetchone()
        number = known[0] if known else None
        if number is None:
            number = self.sql.execute(
                """INSERT INTO talk (id, changed, generation, seal) VALUES (?, ?, ?, 0)
                   RETURNING number""",
                (id, UNSETTLED, generation),
            ).get
        kept = Kept(number, id, UNSETTLED, generation, frozenset())
        self.settle(kept)
        return kept

    def drop(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.sql.execute("DELETE FROM talk WHERE number = ?", (number,))
            self.drop_blocks(number)

    # ── blocks ──

    def next_block(self) -> int:
        """A number no block ever had."""
        with self._guarded():
            row = self.sql.execute(
                "SELECT seq FROM sqlite_sequence WHERE name = 'block'"
            ).fetchone()
        return (row[0] if row else 0) + 1

    def add_block(self, id: int, talk: int, strands: str, data: bytes) -> None:
        self.sql.execute(
            "INSERT INTO block (id, talk, strands, data) VALUES (?, ?, ?, ?)",
            (id, talk, strands, data),
        )

    def drop_blocks(self, talk: int) -> None:
        self.sql.execute("DELETE FROM block WHERE talk = ?", (talk,))

    def block(self, id: int) -> tuple[str, bytes] | None:
        with self._guarded():
            row = self.sql.execute("SELECT strands, data FROM block WHERE id = ?", (id,)).fetchone()
        return (row[0], row[1]) if row else None

    def blocks(self, talk: int) -> list[tuple[int, str, bytes]]:
        with self._guarded():
            rows: list[tuple[Any, ...]] = self.sql.execute(
                "SELECT id, strands, data FROM block WHERE talk = ? ORDER BY id", (talk,)
            ).fetchall()
        return [(row[0], row[1], row[2]) for row in rows]


def _seal(kept: Kept) -> int:
    dead = " ".join(map(str, sorted(kept.dead)))
    return crc32(f"{kept.number}\n{kept.id}\n{kept.changed}\n{kept.generation}\n{dead}".encode())


def _kept(row: tuple[Any, ...]) -> Kept:
    number, id, changed, generation, dead, seal = row
    kept = Kept(number, id, changed, generation, frozenset(map(int, dead.split())))
    if _seal(kept) != seal:
        raise Damaged(f"the index's note about {id} is damaged")
    return kept
