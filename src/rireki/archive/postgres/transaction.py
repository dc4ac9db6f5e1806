"""What is written is sent together: with the next question that reads one of its tables, or the end.

Every question waits for an answer from the server, and a push has more to write than to ask.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import psycopg

from rireki.archive.postgres.connections import Connection
from rireki.archive.rows import Row

__all__ = ["READING", "WRITING", "Transaction"]

#: All questions are answered of one moment.
READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
#: Only one process at a time writes for an owner: it holds the row of the counter, and what it
#: reads of this owner stays as it is.
WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
COUNTER = "SELECT number, id FROM counter WHERE owner = %s FOR UPDATE"
NEXT = "UPDATE counter SET number = number + 1 WHERE owner = %s RETURNING number, id"
FIRST = "INSERT INTO counter (owner, number, id) VALUES (%s, 0, 0) ON CONFLICT (owner) DO NOTHING"
COUNTED = "UPDATE counter SET number = %s, id = %s WHERE owner = %s"


class Transaction:
    def __init__(self, connection: Connection, owner: int, opening: str) -> None:
        self._connection = connection
        self._owner = owner
        self._opening = opening
        self.is_writing = opening == WRITING
        #: What is to be written, by table: statements with the values of each row.
        self._unsent: dict[str, list[tuple[str, list[Sequence[Any]]]]] = {}
        self._counter: list[int] | None = None
        self._counted = False

    # ── numbers ──

    @property
    def counter(self) -> list[int]:
        """The last number and the last id."""
        if self._counter is None:
            self._counter = self._lock(COUNTER)
        return self._counter

    def _lock(self, statement: str) -> list[int]:
        found = self.ask(statement, (self._owner,))
        if not found:
            self.ask(FIRST, (self._owner,))
            found = self.ask(statement, (self._owner,))
        return list(found[0])

    def next_number(self) -> int:
        if self._counter is None:
            # Nearly always the only one: counted at once, not locked first.
            self._counter = self._lock(NEXT)
            return self._counter[0]
        return self._count(0)

    def next_id(self) -> int:
        return self._count(1)

    def _count(self, place: int) -> int:
        counter = self.counter
        counter[place] += 1
        self._counted = True
        return counter[place]

    # ── statements ──

    def tell(self, table: str, statement: str, *rows: Sequence[Any]) -> None:
        unsent = self._unsent.setdefault(table, [])
        if unsent and unsent[-1][0] == statement:
            unsent[-1][1].extend(rows)
        else:
            unsent.append((statement, list(rows)))

    def ask(
        self, question: str, values: Sequence[Any] | dict[str, Any], tables: Collection[str] = ()
    ) -> list[Row]:
        before = [told for table in tables for told in self._unsent.pop(table, ())]
        if not before and not self._opening:
            return _rows(self._connection.execute(question.encode(), values, binary=True))
        with self._connection.pipeline():
            self._send(before)
            cursor = self._connection.execute(question.encode(), values, binary=True)
        return _rows(cursor)

    def _send(self, told: Sequence[tuple[str, list[Sequence[Any]]]]) -> None:
        cursor = self._connection.cursor()
        if self._opening:
            cursor.execute(self._opening.encode())
            self._opening = ""
        for statement, rows in told:
            for row in rows:
                cursor.execute(statement.encode(), row)

    def commit(self) -> None:
        before = [told for unsent in self._unsent.values() for told in unsent]
        if self._counter and self._counted:
            before.append((COUNTED, [(*self._counter, self._owner)]))
        if self._opening and not before:
            return
        with self._connection.pipeline():
            self._send(before)
            self._connection.execute(b"COMMIT")

    def roll_back(self, refused: bool = False) -> None:
        """`refused`: the server said no to some of what was sent together. Of what stood behind that it
        knows nothing, while we take it for prepared: such a connection is of no use any more."""
        if refused:
            self._connection.close()
        if not self._connection.closed and not self._opening:
            try:
                self._connection.execute(b"ROLLBACK")
            except psycopg.Error:
                # It is taken back when the server notices that nobody is there.
                self._connection.close()


def _rows(cursor: psycopg.Cursor[Row]) -> list[Row]:
    return cursor.fetchall() if cursor.description else []
