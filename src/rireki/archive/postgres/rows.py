"""The rows of one owner's archive in a PostgreSQL database that many owners share.

One process at a time writes for an owner, whatever others do for theirs; nobody waits to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg

from rireki.archive.postgres import statements
from rireki.archive.postgres.connections import Connections
from rireki.archive.postgres.questions import PostgresQuestions, stored, told
from rireki.archive.postgres.transaction import READING, WRITING, Transaction
from rireki.archive.postgres.trouble import Again, explained
from rireki.archive.rows import BadValue, Row
from rireki.home import Home
from rireki.model.conversation import Trouble

__all__ = ["PostgresRows"]

T = TypeVar("T")
#: How often a transaction is done again that the server took back because of another one.
TIMES = 5
#: What an archive refers to conversations with, and what goes with them.
_OF_CONVERSATIONS = (
    ("answers", "conversation"),
    ("curation", "conversation"),
    ("tie", "conversation"),
    ("link", "child"),
    ("link", "parent"),
)
#: Of these the old rows are taken off their pages at once.
_WIPED = ("chunk", "state", "strand", "conversation", "answers", "tie", "fact")


class PostgresRows(PostgresQuestions):
    read_only = False
    damaged: tuple[type[Exception], ...] = (BadValue,)

    def __init__(
        self,
        connections: Connections,
        owner: int,
        home: Home,
        close: Callable[[], None] | None = None,
    ) -> None:
        self.owner = owner
        self.name = f"{connections.name}, owner {owner}"
        self.address = f"{connections.address}#owner={owner}"
        self.home = home
        self.damage: list[Trouble] = []
        self._connections = connections
        self._close = close
        self._transaction: Transaction | None = None

    # ── transactions ──

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._within(WRITING) as transaction:
            yield
            transaction.commit()

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._transaction is not None:
            yield
            return
        with self._within(READING) as transaction:
            yield
            transaction.commit()

    @contextmanager
    def _within(self, opening: str) -> Iterator[Transaction]:
        with explained(self.name), self._connections.borrow() as connection:
            transaction = self._transaction = Transaction(connection, self.owner, opening)
            try:
                yield transaction
            except BaseException as error:
                transaction.roll_back(refused=isinstance(error, psycopg.Error))
                raise
            finally:
                self._transaction = None

    def again(self, work: Callable[[], T]) -> T:
        for _ in range(TIMES - 1):
            try:
                return work()
            except Again:
                continue
        return work()

    def rescue(self, error: Exception) -> None:
        raise error

    @contextmanager
    def wiping(self) -> Iterator[None]:
        yield
        with explained(self.name), self._connections.borrow() as connection:
            connection.execute(f"VACUUM (SKIP_LOCKED) {', '.join(_WIPED)}".encode())

    def check(self) -> list[Trouble]:
        return [
            Trouble(f"table {table}", f"a row of {table} belongs to nothing", "")
            for table in self.orphans()
        ]

    def settle(self) -> None:
        """What was committed is on the server's disk."""

    def is_outdated(self) -> bool:
        return False

    def close(self) -> None:
        if self._close is not None:
            self._close()

    # ── statements ──

    def _run(self, question: str, values: Sequence[Any] | dict[str, Any]) -> list[Row]:
        if self._transaction is not None:
            return self._transaction.ask(question, values, statements.tables_of(question))
        with explained(self.name), self._connections.borrow() as connection:
            return connection.execute(question.encode(), values, binary=True).fetchall()

    def _tell(self, table: str, statement: str, *rows: Sequence[Any]) -> None:
        assert self._transaction is not None and self._transaction.is_writing
        _ = self._transaction.counter
        self._transaction.tell(table, statement, *rows)

    # ── rows of one table ──

    def get(
        self, table: str, columns: str, *, order: str = "", limit: int = -1, **where: Any
    ) -> list[Row]:
        query = statements.select(table, columns, tuple(where), order, limit >= 0)
        limits = (limit,) if limit >= 0 else ()
        return told(self._run(query, (self.owner, *stored(where.values()), *limits)))

    def get_readable(self, table: str, columns: str, *, order: str = "", **where: Any) -> list[Row]:
        return self.get(table, columns, order=order, **where)

    def add(self, table: str, **values: Any) -> int:
        number = 0
        if table in statements.NUMBERED:
            number = self._next_id()
            values[statements.NUMBERED[table]] = number
        statement = statements.insert(table, ", ".join(values), False)
        self._tell(table, statement, (self.owner, *stored(values.values())))
        return number

    def put(self, table: str, columns: str, *rows: Sequence[Any]) -> None:
        if table == "tie":
            # It has no key of its own: it stands where it was put.
            columns += ", place"
            rows = tuple((*row, self._next_id()) for row in rows)
        statement = statements.insert(table, columns, True)
        self._tell(table, statement, *((self.owner, *stored(row)) for row in rows))

    def change(self, table: str, where: dict[str, Any], **values: Any) -> None:
        statement = statements.update(table, tuple(values), tuple(where))
        row = (*stored(values.values()), self.owner, *stored(where.values()))
        self._tell(table, statement, row)

    def remove(self, table: str, **where: Any) -> None:
        if table == "conversation":
            self._remove_with(where)
        row = (self.owner, *stored(where.values()))
        self._tell(table, statements.delete(table, tuple(where)), row)

    def _remove_with(self, where: dict[str, Any]) -> None:
        """What cannot be without a conversation."""
        numbers = [number for (number,) in self.get("conversation", "number", **where)]
        for table, column in _OF_CONVERSATIONS:
            statement = statements.delete(table, (column,))
            self._tell(table, statement, *((self.owner, number) for number in numbers))

    # ── notes ──

    def _next_id(self) -> int:
        assert self._transaction is not None
        return self._transaction.next_id()

    def next_number(self) -> int:
        assert self._transaction is not None
        return self._transaction.next_number()

    def note(self, name: str) -> Any:
        if name == "number":
            return self.last_number()
        found = self.get("meta", "value", key=name)
        return found[0][0] if found else None

    def last_number(self) -> int | None:
        if self._transaction is not None and self._transaction.is_writing:
            return self._transaction.counter[0] or None
        found = self._run("SELECT number FROM counter WHERE owner = %s", (self.owner,))
        return (found[0][0] or None) if found else None

    def set_note(self, name: str, value: str, keep: bool) -> None:
        statement = statements.insert("meta", "key, value", not keep)
        if keep:
            statement += " ON CONFLICT (owner, key) DO NOTHING"
        self._tell("meta", statement, (self.owner, *stored((name, value))))
