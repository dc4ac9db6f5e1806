"""What an error of PostgreSQL means for whoever runs the program, as a code."""

from __future__ import annotations

from contextlib import suppress

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from rireki.errors import RirekiError

__all__ = ["explain", "is_lost", "is_over_soon", "is_starting", "is_undone", "said_by"]

#: By the beginning of an SQLSTATE, the longest first.
_CODES = {
    "25006": "postgres-read-only",
    "25P03": "postgres-gone",
    "3D000": "postgres-no-database",
    "42501": "postgres-no-rights",
    "53100": "postgres-full",
    "53300": "postgres-busy",
    "55P03": "postgres-busy",
    "57P0": "postgres-gone",
    "08": "postgres-gone",
    "28": "postgres-refused",
}
#: Where no connection came about there is no SQLSTATE, only words; first those that say most.
_WORDS = {
    "authentication failed": "postgres-refused",
    "no password supplied": "postgres-refused",
    "no pg_hba.conf entry": "postgres-refused",
    "too many clients": "postgres-busy",
    "remaining connection slots": "postgres-busy",
    'role "': "postgres-refused",
    'database "': "postgres-no-database",
}
#: A server that is starting, or ends, will answer before long; one that refuses will not.
_PASSING = ("postgres-gone", "postgres-busy")


def explain(error: psycopg.Error, database: str) -> RirekiError:
    """The error in words; `database` is its address without a password."""
    return RirekiError(_code(error), database=database, why=said_by(error))


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection broke, so that nobody knows what became of the statement."""
    return _code(error) == "postgres-gone"


def is_undone(error: psycopg.Error) -> bool:
    """Whether the server took the transaction back because of another one: to be done again."""
    return error.sqlstate in ("40001", "40P01")


def is_starting(error: psycopg.Error) -> bool:
    """Whether a server is there and not ready: it starts, recovers or ends."""
    return "the database system is" in str(error)


def is_over_soon(error: psycopg.Error) -> bool:
    return _code(error) in _PASSING


def _code(error: psycopg.Error) -> str:
    if isinstance(error, PoolTimeout):
        return "postgres-busy"
    if isinstance(error, PoolClosed):
        return "postgres-gone"
    state = error.sqlstate or ""
    if state:
        return next((c for start, c in _CODES.items() if state.startswith(start)), "postgres-fails")
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return "postgres-fails"
    pgconn = error.pgconn
    with suppress(psycopg.Error, AttributeError):
        if pgconn is not None and pgconn.needs_password:
            return "postgres-refused"
    said = str(error)
    return next((code for words, code in _WORDS.items() if words in said), "postgres-gone")


def said_by(error: psycopg.Error) -> str:
    """What the server says, or whoever did not reach it, in one line."""
    lines = map(str.strip, (error.diag.message_primary or str(error)).splitlines())
    # Of several addresses that were tried, each has a line: the last one is the last that was tried.
    # Behind it there may be a question, which helps nobody.
    told = [line for line in lines if line and not line.endswith("?")]
    return told[-1] if told else type(error).__name__
