"""The engines that an archive can stand on: every story of the contract is told to each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive

#: How each engine opens an archive in a folder; a second engine adds a line.
ENGINES: dict[str, Callable[[Path, Callable[[], str]], Archive]] = {
    "sqlite": lambda folder, clock: open_archive(
        folder / "archive.sqlite3", create=True, clock=clock
    ),
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, clock: Callable[[], str]) -> Callable[[Path], Archive]:
    """Opens the archive of a folder."""
    return lambda folder: ENGINES[request.param](folder, clock)


@pytest.fixture
def reopen(engine: Callable[[Path], Archive], tmp_path: Path) -> Callable[[], Archive]:
    """Another handle on the same archive, as another process would have."""
    return lambda: engine(tmp_path / "contract")


@pytest.fixture
def archive(reopen: Callable[[], Archive]) -> Iterator[Archive]:
    with closing(reopen()) as opened:
        yield opened


@pytest.fixture
def other(engine: Callable[[Path], Archive], tmp_path: Path) -> Iterator[Archive]:
    """The archive of another machine."""
    with closing(engine(tmp_path / "other")) as opened:
        yield opened
