"""An agent is killed at 200 random points of its runs (a few, without --campaign)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.agent.killing import check, kill_once


def test_every_entry_is_there_once_and_the_run_goes_on(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = 200 if pytestconfig.getoption("campaign") else 8
    chance = random.Random(11)
    place, acknowledged = tmp_path, list[str]()
    for kill in range(wanted):
        # A conversation of its own now and then: they grow.
        if kill % 10 == 0:
            place, acknowledged = tmp_path / str(kill) / "archive.sqlite3", []
        acknowledged += kill_once(place, chance)
        check(place, acknowledged)
