"""The server's own tables, beside those of its people's archives: their SQL stands here alone.

Every statement may be repeated. A column that names a person is called so, not `owner`: on a cluster
these few small tables stay together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from rireki.archive.postgres.connections import Connection, Connections
from rireki.archive.postgres.trouble import explained

__all__ = ["Row", "TeamTables", "TeamTransaction"]

Row: TypeAlias = tuple[Any, ...]

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS team_counter (
           name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS team_account (
           id bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
           made_at text COLLATE "C" NOT NULL, revoked_at text COLLATE "C")""",
    """CREATE TABLE IF NOT EXISTS team_device (
           id text COLLATE "C" PRIMARY KEY, person bigint NOT NULL, kind text COLLATE "C" NOT NULL,
           hash bytea NOT NULL UNIQUE, parent text COLLATE "C" NOT NULL DEFAULT '',
           made_at text COLLATE "C" NOT NULL, until text COLLATE "C",
           seen_at text COLLATE "C", revoked_at text COLLATE "C")""",
    "CREATE INDEX IF NOT EXISTS team_device_of ON team_device (person)",
    """CREATE TABLE IF NOT EXISTS team_team (
           id bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE)""",
    """CREATE TABLE IF NOT EXISTS team_member (
           team bigint NOT NULL, person bigint NOT NULL, role text COLLATE "C" NOT NULL,
           PRIMARY KEY (team, person))""",
    """CREATE TABLE IF NOT EXISTS team_audience (
           person bigint NOT NULL, family text COLLATE "C" NOT NULL,
           grouping text COLLATE "C" NOT NULL, team bigint NOT NULL,
           PRIMARY KEY (person, family, grouping, team))""",
    "CREATE INDEX IF NOT EXISTS team_audience_of ON team_audience (team)",
    "CREATE INDEX IF NOT EXISTS team_audience_by ON team_audience (team, person)",
    """CREATE TABLE IF NOT EXISTS team_counted (
           person bigint NOT NULL, key text COLLATE "C" NOT NULL, team bigint NOT NULL,
           source text COLLATE "C" NOT NULL, day text COLLATE "C" NOT NULL,
           data text COLLATE "C" NOT NULL, PRIMARY KEY (person, key, team))""",
    "CREATE INDEX IF NOT EXISTS team_counted_of ON team_counted (team)",
    """CREATE TABLE IF NOT EXISTS team_audit (
           at text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, reader bigint NOT NULL,
           device text COLLATE "C" NOT NULL, what text COLLATE "C" NOT NULL,
           person bigint NOT NULL, family text COLLATE "C" NOT NULL,
           grouping text COLLATE "C" NOT NULL, team text COLLATE "C" NOT NULL,
           PRIMARY KEY (at, id))""",
    """CREATE TABLE IF NOT EXISTS team_feed (
           seq bigint PRIMARY KEY, person bigint NOT NULL, conversation text COLLATE "C" NOT NULL,
           earlier bigint NOT NULL, reached bigint NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS team_fed (
           person bigint PRIMARY KEY, number bigint NOT NULL)""",
)


class TeamTables:
    """Asked from any thread; errors come out as ArchiveTrouble."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.name = connections.name

    def create(self) -> None:
        for statement in SCHEMA:
            self.ask(statement)

    def ask(self, statement: str, *values: Any) -> list[Row]:
        """One statement, which is a transaction of its own; its values one by one, or by name."""
        with explained(self.name), self._connections.borrow() as connection:
            return _rows(connection, statement, values)

    @contextmanager
    def together(self) -> Iterator[TeamTransaction]:
        """Several statements: all of them, or none."""
        with (
            explained(self.name),
            self._connections.borrow() as connection,
            connection.transaction(),
        ):
            yield TeamTransaction(connection)


class TeamTransaction:
    """Several statements on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, statement: str, *values: Any) -> list[Row]:
        return _rows(self._connection, statement, values)

    def ask_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> int:
        """How many rows that concerned."""
        if not rows:
            return 0
        cursor = self._connection.cursor()
        cursor.executemany(statement.encode(), rows)
        return cursor.rowcount

    def next(self, counter: str, count: int = 1) -> int:
        """The next value of a counter, or the last of so many; whoever else wants one waits for the
        end of this."""
        ((value,),) = self.ask(NEXT, counter, count, count)
        return int(value)


NEXT = """INSERT INTO team_counter (name, value) VALUES (%s, %s)
          ON CONFLICT (name) DO UPDATE SET value = team_counter.value + %s RETURNING value"""


def _rows(connection: Connection, statement: str, values: Sequence[Any]) -> list[Row]:
    named = values[0] if values and isinstance(values[0], dict) else None
    cursor = connection.execute(statement.encode(), named or values or None)
    return cursor.fetchall() if cursor.description else []
