"""Bringing an archive to the newest format, step by step; each step is a file of schema/."""

from __future__ import annotations

from pathlib import Path

import apsw

from rireki.archive.sqlite import sums

__all__ = ["APPLICATION_ID", "READABLE", "migrate", "steps"]

#: "rirk", so that `file` and strangers can tell an archive from another database.
APPLICATION_ID = 0x7269726B
#: From this format on, all that is needed to read an archive is there.
READABLE = 3
#: The step that brings checksums.
SUMS = 4


def steps() -> list[str]:
    files = sorted((Path(__file__).parent / "schema").glob("*.sql"))
    return [file.read_text(encoding="utf-8") for file in files]


def migrate(connection: apsw.Connection, known: list[str]) -> None:
    """Apply the steps this archive has not seen. Two processes may get here at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.pragma("user_version")
        for number, step in enumerate(known[version:], version + 1):
            if number == SUMS:
                _complete_first_format(connection)
            connection.execute(step)
            if number == SUMS:
                sums.fill(connection)
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
