"""The entries of one history as rows: added behind those that are known, or not at all.

Any number of processes may add some. Whoever adds says how many entries it knows of; if there are
more by now it is refused, reads those, and tries again. Whoever decides by what is there holds the
conversation: until it is released nobody else adds anything. Knows no messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psycopg

from rireki.journals.postgres.pool import PostgresConnection, PostgresPool, pool_of
from rireki.journals.postgres.trouble import is_lost

__all__ = ["SCHEMA", "PostgresJournal", "histories_in"]

SCHEMA = "rireki_histories"
_STEPS = Path(__file__).parent / "schema"
#: The row of the first entries may have been made by others a moment ago: then it is theirs.
_BEGIN = """
    WITH holder AS (
        INSERT INTO history (conversation, entries) VALUES (%(name)s, %(count)s)
        ON CONFLICT (conversation) DO UPDATE SET entries = excluded.entries, changed_at = now()
         WHERE history.entries = 0
        RETURNING conversation)
    INSERT INTO entry (conversation, place, line)
    SELECT holder.conversation, added.place - 1, added.line
      FROM holder, unnest(%(lines)b::bytea[]) WITH ORDINALITY AS added (line, place)"""
_APPEND = """
    WITH holder AS (
        UPDATE history SET entries = entries + %(count)s, changed_at = now()
         WHERE conversation = %(name)s AND entries = %(known)s
        RETURNING conversation)
    INSERT INTO entry (conversation, place, line)
    SELECT holder.conversation, %(known)s + added.place - 1, added.line
      FROM holder, unnest(%(lines)b::bytea[]) WITH ORDINALITY AS added (line, place)"""
_LINES = "SELECT line FROM entry WHERE conversation = %s AND place >= %s ORDER BY place"
_MAKE = "INSERT INTO history (conversation, entries) VALUES (%s, 0) ON CONFLICT DO NOTHING"
_HOLD = "SELECT entries FROM history WHERE conversation = %s FOR UPDATE"


def histories_in(address: str) -> PostgresPool:
    """The connections to the histories of a database."""
    steps = [file.read_text(encoding="utf-8") for file in sorted(_STEPS.glob("*.sql"))]
    return pool_of(address, SCHEMA, steps)


class PostgresJournal:
    """One conversation. `known` is always the number of entries that the caller has read."""

    def __init__(self, pool: PostgresPool, conversation: str) -> None:
        self.pool = pool
        self.conversation = conversation
        #: On which the conversation is held.
        self._held: PostgresConnection | None = None

    def read(self, known: int = 0) -> list[bytes]:
        """The lines behind those that are known."""
        return self.pool.run(lambda connection: self._lines(connection, known))

    def append(self, lines: Sequence[bytes], known: int) -> bool:
        """Add lines behind those that are known; False, and nothing is added, where others came first.

        Where the connection breaks, the lines themselves tell whether they were added.
        """
        lost = False

        def add() -> bool:
            nonlocal lost
            try:
                with self.pool.borrow() as connection:
                    if self._append(connection, lines, known):
                        return True
                    return lost and self._lines(connection, known)[: len(lines)] == list(lines)
            except psycopg.Error as error:
                lost = lost or is_lost(error)
                raise

        return self.pool.persist(add)

    # ── alone ──

    def hold(self, known: int) -> list[bytes]:
        """Until it is released; waits for whoever holds it. The lines behind those that are known."""
        return self.pool.persist(lambda: self._hold(known))

    def _hold(self, known: int) -> list[bytes]:
        connection = self.pool.lend()
        try:
            connection.execute("BEGIN")
            if not known:
                connection.execute(_MAKE, (self.conversation,))
            row = connection.execute(_HOLD, (self.conversation,)).fetchone()
            there = int(row[0]) if row else 0
            lines = self._lines(connection, known) if there > known else []
        except BaseException:
            self.pool.give_back(connection)
            raise
        self._held = connection
        return lines

    @property
    def is_held(self) -> bool:
        return self._held is not None

    def append_and_release(self, lines: Sequence[bytes], known: int) -> bool:
        """Add lines at the end; False where the connection broke, and others came meanwhile."""
        connection, self._held = self._held, None
        assert connection is not None
        try:
            self._append(connection, lines, known)
            connection.execute("COMMIT")
            return True
        except psycopg.Error as error:
            if not is_lost(error):
                with self.pool.explained():
                    raise
        finally:
            self.pool.give_back(connection)
        return self._added(lines, known) or self.append(lines, known)

    def _added(self, lines: Sequence[bytes], known: int) -> bool:
        """Whether lines were kept although their acknowledgement was lost."""
        return self.read(known)[: len(lines)] == list(lines)

    def release(self) -> None:
        """Nothing was to be added."""
        connection, self._held = self._held, None
        if connection is not None:
            self.pool.give_back(connection)

    def _append(self, connection: PostgresConnection, lines: Sequence[bytes], known: int) -> bool:
        values = {
            "name": self.conversation,
            "known": known,
            "count": len(lines),
            "lines": list(lines),
        }
        return connection.execute(_APPEND if known else _BEGIN, values).rowcount > 0

    def _lines(self, connection: PostgresConnection, known: int) -> list[bytes]:
        rows = connection.execute(_LINES, (self.conversation, known))
        return [bytes(line) for (line,) in rows]
