"""Everything there is to push, pushed: every home of the fixtures and a corpus, to every engine. Of
each conversation messages, links, figures, earlier moments and restored files are the laptop's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive, open_store
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.support.equal import differences
from tests.support.homes import NAMES, lay_out
from tests.support.postgres import engines, running
from tests.support.pushing import push
from tests.support.searching import make_home

#: Bytes of a batch.
LIMIT = 200_000


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laptop")
    make_home(folder / "corpus", sessions=8, turns=3)
    homes = [lay_out(name, folder / name) for name in NAMES]
    with closing(open_archive(folder / "archive.sqlite3", create=True)) as archive:
        for home in (folder / "corpus", *homes):
            import_history(archive, places=Places.at(home))
        assert len(list(archive.headings())) > 100
    return folder / "archive.sqlite3"


@contextmanager
def target(engine: str, folder: Path) -> Iterator[Archive]:
    if engine == "sqlite":
        with closing(open_archive(folder / "other.sqlite3", create=True)) as archive:
            yield archive
        return
    with (
        running(int(engine)) as server,
        open_store(server.database(), create=True) as store,
        closing(store.archive(7)) as archive,
    ):
        yield archive


@pytest.mark.parametrize("engine", ["sqlite", *map(str, engines())])
def test_every_conversation_is_equal_where_it_was_pushed(
    engine: str, laptop: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    every = 1 if engine == "sqlite" or request.config.getoption("--campaign") else 5
    with closing(open_archive(laptop)) as here, target(engine, tmp_path) as there:
        push(here, there, LIMIT)
        assert list(differences(here, there, tmp_path / "files", every=every)) == []
        assert verify(there) == [] and there.check() == []
        assert push(here, there, LIMIT) == []
