"""ARCHITECTURE.md says where a change goes; what it names is there, and it names few files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Where does a change go?")[2]
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", SECTION.partition("\n## ")[0], re.MULTILINE)[1:]


def test_there_are_fifteen() -> None:
    assert len(ROWS) == 15


@pytest.mark.parametrize(("change", "where"), ROWS, ids=[change for change, _ in ROWS])
def test_a_change_touches_three_files_that_are_there(change: str, where: str) -> None:
    existing = re.sub(r"\+ `[^`]+`", "", where)
    named = [name for name in re.findall(r"`([^`]+)`", existing) if re.search(r"[/.]\w", name)]
    assert 1 <= len(named) <= 3, change
    for name in named:
        place = ROOT / name if (ROOT / name).exists() else ROOT / "src" / "rireki" / name
        assert place.exists(), name
