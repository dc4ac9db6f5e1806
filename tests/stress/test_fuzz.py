"""Whatever a history looks like: it is interpreted and shown, and nothing is raised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rireki.sources import registry
from tests.stress.fuzz import __main__ as campaign
from tests.stress.fuzz import cases
from tests.stress.fuzz.corpus import READERS, corpus
from tests.stress.fuzz.damage import damage_bytes, damage_record

#: Cases of each reader here; `make stress` has 200,000.
SHORT = 300


@pytest.mark.parametrize("source", READERS)
def test_damaged_histories_are_interpreted_and_shown(source: str) -> None:
    found = {n: wrong for n in range(SHORT) if (wrong := cases.fails(source, 2, n))}
    assert found == {}


def test_a_case_is_the_same_whenever_it_is_made() -> None:
    for number in range(20):
        made = [
            cases.make_case(Random(f"1:claude-code:{number}"), corpus("claude-code")) for _ in "ab"
        ]
        first, second = ([s.document() for s in case.strands] for case in made)
        assert first == second


def test_records_are_damaged_in_structure_and_in_bytes() -> None:
    record = json.dumps({"type": "user", "message": {"content": ["a", 1]}, "uuid": "u"}).encode()
    made = {damage_record(Random(n), record, [{"uuid": "v"}]) for n in range(2000)}
    assert len(made) > 1000
    assert sum(_is_json(data) for data in made) > 500
    assert any(b"\xff" in data or b"\xed\xa0\x80" in data for data in made)
    assert max(map(len, made)) > 5000
    assert b"" in {damage_bytes(Random(n), record) for n in range(100)}


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A reader that fails at every tenth case, and one that never ends."""
    reader = registry.reader("rireki")
    asked = 0

    def interpret(*words: object) -> list[object]:
        nonlocal asked
        asked += 1
        if asked == 15:
            raise KeyError("what")
        while asked == 17:
            pass
        return []

    monkeypatch.setattr(type(reader), "interpret", lambda self, *words: interpret(*words))
    monkeypatch.setattr(cases, "LIMIT", 0.05)
    yield "rireki"


def test_a_failure_and_a_hang_are_found_and_named(
    broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--reader", broken, "--cases", "20", "--notes", str(tmp_path)]
    assert campaign.main(words) == 1
    said = capsys.readouterr().out
    assert "rireki --seed 1 --case 14: KeyError" in said
    assert "rireki --seed 1 --case 16: hang" in said
    assert "20 cases, 2 shown, 20 of them now" in said
    # What failed is tried again; once nothing does, the next run goes on behind it.
    assert campaign.main(words) == 0
    assert campaign.main([*words[:3], "30", *words[4:]]) == 0
    assert "30 cases, 3 shown, 10 of them now" in capsys.readouterr().out
