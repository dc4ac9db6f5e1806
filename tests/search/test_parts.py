"""A very long conversation goes into the index in parts: the same as all at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.extremes import SESSION, write_long
from hypothesis import given
from hypothesis import strategies as st

from rireki.archive.base import Archive
from rireki.intake.interpret import interpret
from rireki.intake.sweep import import_history
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.search.index import update
from rireki.search.search import Search
from rireki.search.text import blocks
from rireki.search.text.blocks import digest, digest_parts, open_block, open_entry
from rireki.search.text.documents import docs_in_turn, docs_of
from rireki.sources.kit.places import Places

ids = st.sampled_from("abcdef")
told = st.lists(
    st.tuples(
        ids,
        st.sampled_from(["one", "two"]),
        st.none() | st.sampled_from(["2026-01-01", "2026-01-02"]),
        st.none() | ids,
    ),
    max_size=12,
    unique_by=lambda each: each[0],
)


@given(told, st.none() | st.just("2026-02-02"))
def test_messages_one_by_one_are_the_same_documents(
    messages: list[tuple[str, str, str | None, str | None]], at: str | None
) -> None:
    def made() -> list[Message]:
        return [
            Message(
                id=id,
                author="person",
                display="bubble",
                at=when,
                replaced_by=successor,
                parts=[Text(text)],
            )
            for id, text, when, successor in messages
        ]

    assert list(docs_in_turn(iter(made()), at)) == docs_of(made(), at)


def test_parts_are_what_the_whole_is(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_long(home, 1 << 20)
    import_history(archive, places=Places.at(home))
    strands = archive.strands("claude-code", SESSION.format(1))
    (reading,) = interpret(SESSION.format(1), strands)
    whole = digest(reading)
    monkeypatch.setattr(blocks, "PART", 50_000)
    parts = list(digest_parts(reading))
    assert len(parts) > 5
    assert {m: mark for part in parts for m, mark in part.marks.items()} == whole.marks
    assert sum(part.letters for part in parts) == whole.letters
    rows = [row for part in parts for block in part.blocks for row in block.rows]
    assert rows == [row for block in whole.blocks for row in block.rows]
    assert _entries(*parts) == _entries(whole)


def _entries(*digests: blocks.Digest) -> list[blocks.IndexedMessage]:
    return [open_entry(e) for d in digests for b in d.blocks for e in open_block(b.data)]


def test_a_conversation_in_parts_is_found_and_goes_on(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "PART", 50_000)
    monkeypatch.setattr(update, "HEAVY", 1 << 10)
    write_long(home, 1 << 20)
    import_history(archive, places=Places.at(home))
    update.catch_up(archive)
    index = update.ensure(archive)
    before = index.reader().documents
    index.close()
    (file,) = (home / ".claude" / "projects").rglob("*.jsonl")
    line = file.read_text().splitlines()[0].replace("What does the log say?", "Where is the quay?")
    with file.open("a") as more:
        more.write(line.replace("00000000-0000-4000-8000", "ffffffff-0000-4000-8000", 1) + "\n")
    import_history(archive, places=Places.at(home))
    update.catch_up(archive)
    index = update.ensure(archive)
    assert index.reader().documents == before + 1
    index.close()
    assert _hits(archive, "quay") == 1
    assert _hits(archive, '"high water at noon"') > 100


def _hits(archive: Archive, query: str) -> int:
    search = Search(archive)
    try:
        return search.find(query).messages
    finally:
        search.close()
