"""What one archive tells another: between two owners of one database, and from a laptop's file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from tests.archive.test_pushed import *  # noqa: F403
from tests.archive.test_pushed import test_what_is_told_in_parts_is_equal_in_the_end as equal
from tests.support.homes import NAMES

#: A campaign tries them all.
FEW = ("amazon-q-1.12", "claude-code-2.0.76")

del globals()[equal.__name__]
# Stories of the process that tells, or of a folder that is read: they are the same everywhere.
del test_every_kill_and_lost_answer_leaves_it_whole  # noqa: F821
del test_an_import_leaves_what_other_machines_read_alone  # noqa: F821


@pytest.fixture
def laptop(tmp_path: Path, clock: Callable[[], str]) -> Archive:
    return open_archive(tmp_path / "laptop.sqlite3", create=True, clock=clock)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function is test_what_a_laptop_tells_is_equal_here:
        names = NAMES if metafunc.config.getoption("--campaign") else FEW
        metafunc.parametrize("name", names)


def test_what_a_laptop_tells_is_equal_here(
    name: str, laptop: Archive, other: Archive, home: Path, tmp_path: Path
) -> None:
    with closing(laptop):
        equal(name, laptop, other, home, tmp_path)
