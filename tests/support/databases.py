"""A PostgreSQL server and a database for the tests of a folder: to be imported by its conftest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.postgres import PostgresServer, absent, running

__all__ = ["database", "durable", "postgres"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for all tests of a folder."""
    if why := absent():
        pytest.skip(why)
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def database(postgres: PostgresServer) -> str:
    """One database for all tests that give what they keep a name of its own."""
    return postgres.database()


@pytest.fixture(scope="module")
def durable() -> Iterator[PostgresServer]:
    """As people run one: what was committed is on its disk."""
    if why := absent():
        pytest.skip(why)
    with running(durable=True) as server:
        yield server
