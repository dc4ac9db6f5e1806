"""Two archives on two machines, and ways from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.sync.machine import Machine

LAPTOP, DESKTOP = Machine("aa" * 8, "laptop"), Machine("bb" * 8, "desktop")


@pytest.fixture
def archive(tmp_path: Path, clock: Callable[[], str]) -> Iterator[Archive]:
    path = tmp_path / "laptop" / "archive.sqlite3"
    with closing(open_archive(path, create=True, clock=clock)) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path, clock: Callable[[], str]) -> Iterator[Archive]:
    path = tmp_path / "desktop" / "archive.sqlite3"
    with closing(open_archive(path, create=True, clock=clock)) as opened:
        yield opened
