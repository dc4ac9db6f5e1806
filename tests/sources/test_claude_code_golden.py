"""What the reader makes of real files, told in full beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden import HOMES, expected, golden


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
def test_real_files_are_understood_as_written_down_beside_them(home: Path) -> None:
    told = json.loads(json.dumps(golden(home, HOMES[home])))
    assert told == json.loads(expected(home).read_text(encoding="utf-8"))
