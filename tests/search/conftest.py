"""Archives to search in: made once, only read afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.search.index.importing import take_in
from rireki.sources.kit.places import Places
from tests.support import homes
from tests.support.searching import make_home


@pytest.fixture(scope="session")
def corpus(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[int], tuple[Path, dict[str, Any]]]:
    made: dict[int, tuple[Path, dict[str, Any]]] = {}

    def make(seed: int) -> tuple[Path, dict[str, Any]]:
        if seed not in made:
            folder = tmp_path_factory.mktemp(f"corpus-{seed}")
            made[seed] = (folder, make_home(folder, 40, seed=seed))
        return made[seed]

    return make


@pytest.fixture(scope="session")
def everything(
    tmp_path_factory: pytest.TempPathFactory,
    corpus: Callable[[int], tuple[Path, dict[str, Any]]],
) -> Iterator[Archive]:
    """All fixtures and a corpus in one archive."""
    folder = tmp_path_factory.mktemp("everything")
    archive = open_archive(folder / "archive.sqlite3", create=True)
    for name in homes.NAMES:
        take_in(archive, Places.at(homes.lay_out(name, folder / name)))
    take_in(archive, Places.at(corpus(1)[0]))
    yield archive
    archive.close()
