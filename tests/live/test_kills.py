"""A keeper that is killed misses nothing once it is started again. The long form is in tests/stress."""

from __future__ import annotations

from pathlib import Path

from tests.live.burst import Burst


def test_a_hundred_appends_in_bursts_with_two_kills(home: Path, tmp_path: Path) -> None:
    Burst(home, tmp_path / "archive.sqlite3", appends=100, files=15).run(kills=2)
