"""What an error of PostgreSQL means for whoever uses the store, as a code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from rireki.errors import ArchiveTrouble
from rireki.journals.postgres.trouble import said_by

__all__ = ["Again", "explain", "explained"]

#: By the beginning of an SQLSTATE, the longest first.
_CODES = {
    "25006": "database-read-only",
    "3D000": "database-missing",
    "42501": "database-forbidden",
    "42P01": "database-unprepared",
    "53100": "database-full",
    "53300": "database-busy",
    "55P03": "database-busy",
    "57014": "database-busy",
    "57P0": "database-gone",
    "XX001": "database-damaged",
    "XX002": "database-damaged",
    "08": "database-gone",
    "28": "database-refused",
    "54": "database-too-long",
}
#: What may well succeed if all of the transaction is done again: a serialization failure, a
#: deadlock, and what CockroachDB says for both.
_AGAIN = ("40001", "40P01", "CR000")


class Again(ArchiveTrouble):
    """The database took the transaction back because of another one."""


@contextmanager
def explained(name: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise explain(error, name) from error


def explain(error: psycopg.Error, name: str) -> ArchiveTrouble:
    state = error.sqlstate or ""
    why = said_by(error)
    if state in _AGAIN:
        return Again("database-busy", database=name, why=why)
    found = (code for start, code in _CODES.items() if state.startswith(start))
    code = next(found, "database-fails" if state else _unsaid(error))
    return ArchiveTrouble(code, database=name, why=why)


def _unsaid(error: psycopg.Error) -> str:
    """Where nothing came of connecting, only words tell why; or it came to an end."""
    said = str(error)
    for words, code in (
        ("does not exist", "database-missing"),
        ("authentication", "database-refused"),
        ("no pg_hba.conf entry", "database-refused"),
        ("no password", "database-refused"),
        ("too many clients", "database-busy"),
        ("remaining connection slots", "database-busy"),
    ):
        if words in said:
            return code
    return "database-gone" if isinstance(error, psycopg.OperationalError) else "database-fails"
