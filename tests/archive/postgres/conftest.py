"""The stories of the contract, told to PostgreSQL: an owner in place of each folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.postgres.store import TeamStore
from tests.support.postgres import PostgresServer

#: Owners are never the same in two tests: they share one database.
_owners = count(1)


@pytest.fixture(scope="session")
def database(postgres: PostgresServer) -> str:
    return postgres.database()


@pytest.fixture
def store(database: str, clock: Callable[[], str], tmp_path: Path) -> Iterator[TeamStore]:
    with TeamStore(database, create=True, clock=clock, folder=tmp_path / "team") as opened:
        yield opened


@pytest.fixture
def engine(store: TeamStore) -> Callable[[Path], Archive]:
    owners: dict[Path, int] = {}

    def open_one(folder: Path) -> Archive:
        return store.archive(owners.setdefault(folder, next(_owners)))

    return open_one
