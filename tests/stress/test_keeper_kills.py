"""Five hundred appends over fifty files and two databases, the keeper killed meanwhile: all is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.burst import Burst


def test_appends_in_bursts_with_kills(
    home: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    long = pytestconfig.getoption("campaign")
    appends, kills = (500, 2) if long else (150, 2)
    Burst(home, tmp_path / "archive.sqlite3", appends, files=50).run(kills)


def test_many_kills_at_any_moment(home: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    appends, kills = (1000, 30) if pytestconfig.getoption("campaign") else (60, 4)
    Burst(home, tmp_path / "archive.sqlite3", appends, files=20).run(kills)
