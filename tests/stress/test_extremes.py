"""Very many files, a very long one: what they cost.

The figures for 100,000 files and 2 GB are those of bench/extremes.py, by `make bench`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.extremes import WORDS, measure, write_long, write_tiny

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.search.text import tokenizer
from rireki.sources.kit.places import Places
from tests.conftest import Clock


def test_thousands_of_tiny_files_are_each_a_conversation(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    count = 100_000 if request.config.getoption("--campaign") else 1000
    write_tiny(tmp_path / "home", count)
    figures = measure(tmp_path / "home", tmp_path / "archive.sqlite3")
    assert figures["first_import_memory_mb"]["ok"], figures
    assert figures["second_import_memory_mb"]["ok"], figures
    archive = open_archive(tmp_path / "archive.sqlite3", clock=Clock())
    assert len(list(archive.conversations(Filter(limit=None)))) == count
    archive.close()


def test_a_transcript_much_longer_than_usual_is_taken_in(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    short, long = (100e6, 300e6) if request.config.getoption("--campaign") else (55e6, 85e6)
    used = {}
    for size in (short, long):
        write_long(tmp_path / str(size), int(size))
        figures = measure(tmp_path / str(size), tmp_path / f"{size}.sqlite3")
        used[size] = figures["first_import_memory_mb"]["value"] * 1e6
    # Its records are held while it is interpreted, with what was decoded of them; its messages and
    # their texts are not, while they are indexed.
    assert (used[long] - used[short]) / (long - short) < 3.2, used


def test_the_room_of_the_tokenizer_does_not_grow_with_the_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if tokenizer.opened() is None:
        pytest.skip("tokenizer.c was not built")
    asked: list[int] = []
    plain = tokenizer._Room.for_texts

    def noted(room: tokenizer._Room, size: int) -> bytearray:
        asked.append(size)
        return plain(room, size)

    monkeypatch.setattr(tokenizer._Room, "for_texts", noted)
    texts = [f"{number} {WORDS}" for number in range(5000)]
    data = [text.encode() for text in texts]
    cuts = tokenizer.cut_many(texts, data)
    assert len(cuts) == len(texts)
    assert sum(map(len, data)) > 8e6
    assert max(asked) <= tokenizer.KEPT
    few = tokenizer.cut_many(texts[-20:], data[-20:])
    assert cuts[-20:] == few


def test_many_tiny_files_share_their_transactions(archive: Archive, home: Path) -> None:
    write_tiny(home, 400)
    import_history(archive, places=Places.at(home))
    assert archive.count() == 400
    assert archive.number() < 100, "one by one, each file has transactions of its own"
