"""More conversations than the engine gives counts of at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.sweep import Report
from rireki.search.index import words
from rireki.search.index.update import catch_up
from rireki.search.index.words import WordReader, WordWriter, make_index
from rireki.search.results import SearchOptions
from rireki.search.search import Search
from rireki.search.text.blocks import IndexRow
from tests.search.test_find import note

TALKS = 65_010


def test_each_of_them_is_counted(tmp_path: Path) -> None:
    index = make_index(tmp_path / "words")
    writer = WordWriter(index)
    row = IndexRow(b"answer", "", 0)
    for talk in range(1, TALKS + 1):
        writer.add(talk, talk, [row])
    writer.commit(1)
    writer.close()
    counts = WordReader(index).per_conversation()
    assert [counts[talk] for talk in range(1, TALKS + 1)] == [1] * TALKS


@pytest.mark.usefixtures("plain_source")
def test_searches_find_the_same_however_few_counts_come_at_once(
    archive: Archive,
    home: Path,
    take_in: Callable[[], Report],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(9):
        note(home, f"n{number}", ("me", f"parser {number % 3}"), ("agent", "kettle, parser"))
    take_in()
    catch_up(archive)

    def found(query: str) -> list[tuple[str, list[str | None]]]:
        search = Search(archive)
        results = search.find(query, SearchOptions(limit=100, hits=100))
        search.close()
        return [(each.conversation.id, [h.message for h in each.hits]) for each in results.talks]

    queries = ["parser", "parser 1", "kettle -2", "author:person 1 | 2", "in:conversation 1 kettle"]
    wanted = {query: found(query) for query in queries}
    assert len(wanted["parser"]) == 9
    monkeypatch.setattr(words, "COUNTS", 2)
    assert {query: found(query) for query in queries} == wanted
