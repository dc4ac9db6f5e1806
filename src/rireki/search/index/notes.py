"""What the index has: which conversations, how far, and the texts behind its documents.

An SQLite file beside the index proper. Every row carries a checksum, so that damage
shows itself instead of hiding a message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import apsw

from rireki.archive.database import distrust, is_shut, open_frozen
from rireki.errors import ArchiveTrouble

__all__ = ["Damaged", "IndexedConversation", "IndexStore", "cannot_write"]

#: What this file and the index look like; another number means: make both anew.
FORMAT = 5
PATIENCE_MS = 10_000
#: Stands for "being written": such a conversation is read from the archive.
UNSETTLED = -1

_SCHEMA = """
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY,
    seal  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
    data    BLOB NOT NULL,
    seal    INTEGER NOT NULL
) STRICT;
CREATE INDEX block_of_talk ON block (talk);
"""
#: When writing, these say that it is not possible just now, not that anything is damaged.
_NOT_NOW = (
    apsw.BusyError,
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
)
_BLOCKS = "SELECT id, talk, data, seal FROM block"
#: Behind everything that begins with a text.
_LAST = chr(0x10FFFF)
_NONE: frozenset[int] = frozenset()


class Damaged(Exception):
    """The index cannot be trusted: it has to be made anew."""


def cannot_write(place: Path, error: object) -> ArchiveTrouble:
    """Nothing is wrong with the index, it just cannot be written now."""
    return ArchiveTrouble("index-not-written", place=place, why=error)


class IndexedConversation(NamedTuple):
    """How far the index has a conversation."""

    number: int
    id: str
    #: The archive's number of the change it has reached.
    changed: int
    #: The commit of the index that brought it.
    generation: int
    #: Places of documents that were replaced since.
    dead: frozenset[int]


class IndexStore:
    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        with self._guarded(_NOT_NOW if create else (apsw.BusyError,)):
            self.sql = _connected(path, create)
            self.sql.execute("PRAGMA cache_size = -4000")
        #: Whether it lies where it can only be read.
        self.read_only = self.sql.readonly("main")

    @contextmanager
    def _guarded(self, spared: tuple[type[apsw.Error], ...] = (apsw.BusyError,)) -> Iterator[None]:
        """Whatever SQLite cannot make sense of is damage; `spared` errors say something else."""
        try:
            yield
        except spared as error:
            raise cannot_write(self.path, error) from error
        except (apsw.Error, UnicodeDecodeError) as error:
            raise Damaged(f"{self.path}: {error}") from error

    def close(self) -> None:
        self.sql.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._guarded(_NOT_NOW):
            self.sql.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.sql.execute("COMMIT")
            except BaseException:
                # Some errors have ended the transaction already.
                if self.sql.in_transaction:
                    self.sql.execute("ROLLBACK")
                raise

    def check(self) -> None:
        """Let SQLite look at every page; raises Damaged."""
        with self._guarded():
            found = [row[0] for row in self.sql.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise Damaged(f"{self.path}: {found[0]}")

    # ── facts about the whole ──

    def facts(self) -> dict[str, Any]:
        """All of them, as of one moment."""
        with self._guarded():
            rows = self.sql.execute("SELECT key, value, seal FROM meta").fetchall()
        return {str(row[0]): _sealed(row) for row in rows}

    def get(self, key: str, default: Any = None) -> Any:
        with self._guarded():
            row = self.sql.execute(
                "SELECT key, value, seal FROM meta WHERE key = ?", (key,)
            ).fetchone()
        return _sealed(row) if row else default

    def put(self, key: str, value: Any) -> None:
        self.sql.execute(
            "INSERT OR REPLACE INTO meta (key, value, seal) VALUES (?, ?, ?)",
            (key, value, _seal(key, value)),
        )

    # ── conversations ──

    def talks(self) -> tuple[int, list[IndexedConversation]]:
        """The newest commit this file knows, and how far each conversation is, as of one moment."""
        with self._guarded():
            rows = self.sql.execute(
                """SELECT -1, key, value, 0, '', seal FROM meta WHERE key = 'generation'
                    UNION ALL SELECT number, id, changed, generation, dead, seal FROM talk"""
            ).fetchall()
        generation: Any = next((_sealed((*r[1:3], r[5])) for r in rows if r[0] == -1), 0)
        return generation, [_kept(row) for row in rows if row[0] != -1]

    def talks_of(self, beginning: str) -> list[IndexedConversation]:
        """The conversations whose ids begin so."""
        with self._guarded():
            rows = self.sql.execute(
                """SELECT number, id, changed, generation, dead, seal FROM talk
                    WHERE id >= ? AND id < ?""",
                (beginning, beginning + _LAST),
            ).fetchall()
        return list(map(_kept, rows))

    def numbered(self, numbers: Iterable[int]) -> list[IndexedConversation]:
        """The conversations with these numbers, as far as they are there."""
        with self._guarded():
            rows = self.sql.execute(
                """SELECT number, id, changed, generation, dead, seal FROM talk
                    WHERE number IN (SELECT value FROM json_each(?))""",
                (json.dumps(list(numbers)),),
            ).fetchall()
        return list(map(_kept, rows))

    def reached(self) -> tuple[int, int]:
        """The newest change the index has of any conversation, and how many conversations it has."""
        with self._guarded():
            newest, count = self.sql.execute(
                "SELECT coalesce(max(changed), 0), count(*) FROM talk WHERE changed > ?",
                (UNSETTLED,),
            ).get
        return newest, count

    def talk(self, id: str) -> IndexedConversation | None:
        with self._guarded():
            row = self.sql.execute(
                "SELECT number, id, changed, generation, dead, seal FROM talk WHERE id = ?", (id,)
            ).fetchone()
        return _kept(row) if row else None

    def settle(self, kept: IndexedConversation) -> None:
        dead = " ".join(map(str, sorted(kept.dead)))
        self.sql.execute(
            "UPDATE talk SET changed = ?, generation = ?, dead = ?, seal = ? WHERE number = ?",
            (kept.changed, kept.generation, dead, _seal(*kept[:4], dead), kept.number),
        )

    def begin(self, id: str, generation: int) -> IndexedConversation:
        """Note that a conversation is being written; until it is settled, nobody relies on it."""
        known = self.sql.execute("SELECT number FROM talk WHERE id = ?", (id,)).fetchone()
        number = known[0] if known else None
        if number is None:
            number = self.sql.execute(
                """INSERT INTO talk (id, changed, generation, seal) VALUES (?, ?, ?, 0)
                   RETURNING number""",
                (id, UNSETTLED, generation),
            ).get
        kept = IndexedConversation(number, id, UNSETTLED, generation, frozenset())
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

    def add_block(self, id: int, talk: int, data: bytes) -> None:
        self.sql.execute(
            "INSERT INTO block (id, talk, data, seal) VALUES (?, ?, ?, ?)",
            (id, talk, data, crc32(data, _seal(id, talk))),
        )

    def drop_blocks(self, talk: int) -> None:
        self.sql.execute("DELETE FROM block WHERE talk = ?", (talk,))

    def pick(self, ids: Sequence[int]) -> list[tuple[int, bytes]]:
        """These blocks, as far as they are there."""
        wanted = "SELECT value FROM json_each(?)"
        with self._guarded():
            rows = self.sql.execute(
                f"{_BLOCKS} WHERE id IN ({wanted})", (json.dumps(ids),)
            ).fetchall()
        return [_block(row) for row in rows]

    def blocks(self, talk: int) -> list[tuple[int, bytes]]:
        with self._guarded():
            rows = self.sql.execute(f"{_BLOCKS} WHERE talk = ? ORDER BY id", (talk,)).fetchall()
        return [_block(row) for row in rows]

    def last_blocks(self, talk: int, limit: int) -> list[tuple[int, bytes]]:
        """The newest first."""
        with self._guarded():
            rows = self.sql.execute(
                f"{_BLOCKS} WHERE talk = ? ORDER BY id DESC LIMIT ?", (talk, limit)
            ).fetchall()
        return [_block(row) for row in rows]


def _connected(path: Path, create: bool) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    try:
        sql = apsw.Connection(str(path), flags=flags)
        sql.set_busy_timeout(PATIENCE_MS)
        distrust(sql)
        if create:
            # Most blocks fill a few pages of this size; of larger ones half of the last is empty.
            sql.execute("PRAGMA page_size = 2048")
        sql.execute("PRAGMA journal_mode = WAL")
        sql.execute("PRAGMA synchronous = NORMAL")
        if create:
            sql.execute(_SCHEMA)
        return sql
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        if create or not is_shut(path):
            raise
        return open_frozen(path)


def _seal(*facts: object) -> int:
    return crc32("\n".join(map(str, facts)).encode())


def _sealed(row: tuple[Any, ...]) -> Any:
    key, value, seal = row
    if _seal(key, value) != seal:
        raise Damaged(f"the index's note about its {key} is damaged")
    return value


def _kept(row: tuple[Any, ...]) -> IndexedConversation:
    number, id, changed, generation, dead, seal = row
    # The same as _seal, spelled out: every search that follows a change reads all of them.
    if crc32(f"{number}\n{id}\n{changed}\n{generation}\n{dead}".encode()) != seal:
        raise Damaged(f"the index's note about {id} is damaged")
    places = frozenset(map(int, dead.split())) if dead else _NONE
    return IndexedConversation(number, id, changed, generation, places)


def _block(row: tuple[Any, ...]) -> tuple[int, bytes]:
    id, talk, data, seal = row
    if not isinstance(data, bytes) or crc32(data, _seal(id, talk)) != seal:
        raise Damaged(f"block {id} is damaged")
    return id, data
