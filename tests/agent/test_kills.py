"""Killed at random points of a run: what was kept is there, once, and the run goes on."""

from __future__ import annotations

import random
from pathlib import Path

from tests.agent.killing import check, kill_once


def test_ten_kills_of_one_conversation(place: Path) -> None:
    chance = random.Random(7)
    acknowledged: list[str] = []
    for _ in range(10):
        acknowledged += kill_once(place, chance)
        check(place, acknowledged)
