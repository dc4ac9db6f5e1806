"""Bringing a database to the newest tables, step by step; of several processes one does.

Whoever does holds a lease: a row with a time until when. Should it die, another goes on where it
was: every statement is a transaction of its own and may be repeated.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import TypeAlias
from uuid import uuid4

import psycopg

from rireki.archive.postgres.connections import PATIENCE, Connection
from rireki.errors import ArchiveTrouble

__all__ = ["LEASE_SECONDS", "ensure_newest", "steps", "version_of"]

#: The earliest PostgreSQL that we run all tests on.
OLDEST = 150000
#: How long nobody else goes on with a step; each statement makes it longer again.
LEASE_SECONDS = 60
#: How often it is looked whether another process has finished.
LOOK_SECONDS = 0.05
#: What comes of making a table while another process does: of its name, its type, or itself.
_MADE_MEANWHILE = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.DuplicateObject,
    psycopg.errors.DuplicateTable,
)
Steps: TypeAlias = list[list[str]]

#: What is there before any step. Two processes that make the same table at once stand in each other's
#: way: one of them looks again.
BEGINNING = (
    """CREATE TABLE IF NOT EXISTS lease (
           name text COLLATE "C" PRIMARY KEY, holder text COLLATE "C" NOT NULL,
           until timestamptz NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS schema_step (
           name text COLLATE "C" PRIMARY KEY, number bigint NOT NULL)""",
)
#: Nothing is gained by compressing what is compressed. Other databases with these words lack this.
EXTERNAL = "ALTER TABLE chunk ALTER COLUMN data SET STORAGE EXTERNAL"
TAKE_LEASE = f"""
    INSERT INTO lease (name, holder, until)
    VALUES (%(name)s, %(holder)s, now() + interval '{LEASE_SECONDS} seconds')
    ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
     WHERE lease.until < now() OR lease.holder = EXCLUDED.holder
    RETURNING holder
"""
GIVE_LEASE = "DELETE FROM lease WHERE name = %(name)s AND holder = %(holder)s"
VERSION = "SELECT number FROM schema_step WHERE name = 'archive'"
SET_VERSION = """
    INSERT INTO schema_step (name, number) VALUES ('archive', %(number)s)
    ON CONFLICT (name) DO UPDATE SET number = EXCLUDED.number
"""


@cache
def steps() -> Steps:
    folder = files("rireki.archive.postgres") / "schema"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=str)
    return [_statements(file.read_text(encoding="utf-8")) for file in found]


def _statements(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [each.strip() for each in "\n".join(lines).split(";") if each.strip()]


def ensure_newest(connection: Connection, database: str, create: bool) -> None:
    """Make or complete the tables; raises ArchiveTrouble where they are newer than we know, or are
    not there and not to be made."""
    server = connection.info.server_version
    if server < OLDEST:
        told = f"{server // 10000}.{server % 10000}"
        raise ArchiveTrouble("database-too-old", database=database, version=told)
    known = len(steps())
    version = version_of(connection)
    if version > known:
        raise ArchiveTrouble("database-newer", database=database, version=version, known=known)
    if version == 0 and not create:
        raise ArchiveTrouble("database-unprepared", database=database)
    if version < known:
        _bring_up(connection, database)


def version_of(connection: Connection) -> int:
    """How many steps were done; 0 where there is nothing of ours."""
    try:
        found = connection.execute(VERSION).fetchall()
    except psycopg.errors.UndefinedTable:
        return 0
    return int(found[0][0]) if found else 0


def _bring_up(connection: Connection, database: str) -> None:
    _begin(connection)
    me = {"name": "schema", "holder": uuid4().hex}
    deadline = time.monotonic() + PATIENCE + LEASE_SECONDS
    while version_of(connection) < len(steps()):
        if connection.execute(TAKE_LEASE.encode(), me).fetchall():
            try:
                _take_steps(connection, me)
            finally:
                if not connection.closed:
                    connection.execute(GIVE_LEASE, me)
        elif time.monotonic() > deadline:
            raise ArchiveTrouble(
                "database-busy", database=database, why="another process prepares it"
            )
        else:
            time.sleep(LOOK_SECONDS)


def _begin(connection: Connection) -> None:
    for statement in BEGINNING:
        # Another process that makes it in between is met at each of these, and no more.
        for _ in _MADE_MEANWHILE:
            with suppress(*_MADE_MEANWHILE):
                connection.execute(statement.encode())
                break
        else:
            connection.execute(statement.encode())


def _take_steps(connection: Connection, me: dict[str, str]) -> None:
    for number in range(version_of(connection), len(steps())):
        for statement in steps()[number]:
            connection.execute(TAKE_LEASE.encode(), me)
            connection.execute(statement.encode())
        if number == 0 and _is_postgres(connection):
            connection.execute(EXTERNAL)
        _distribute(connection)
        connection.execute(SET_VERSION, {"number": number + 1})


def _is_postgres(connection: Connection) -> bool:
    ((told,),) = connection.execute("SELECT version()").fetchall()
    return str(told).startswith("PostgreSQL ") and "-YB-" not in told


# ── Citus ──

IS_CITUS = "SELECT 1 FROM pg_extension WHERE extname = 'citus'"
UNDISTRIBUTED = """
    SELECT c.relname FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
       AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'owner')
       AND NOT EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid)
     ORDER BY c.relname = 'counter' DESC, c.relname
"""


def _distribute(connection: Connection) -> None:
    """On a cluster, every table that has owners lies where its owner does."""
    if not connection.execute(IS_CITUS).fetchall():
        return
    for (table,) in connection.execute(UNDISTRIBUTED).fetchall():
        beside = "none" if table == "counter" else "counter"
        connection.execute(
            "SELECT create_distributed_table(%s::regclass, 'owner', colocate_with => %s)",
            (table, "default" if beside == "none" else beside),
        )
