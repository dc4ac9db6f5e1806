"""What a library gives masked: conversations, their sub-agents, and what a search finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rireki.library import Library
from rireki.library import open as open_library
from tests.support.secret_history import PASSWORD, SECRET, archive_with_secrets


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(archive_with_secrets(tmp_path)) as library:
        yield library


def test_a_conversation_has_none_of_its_secrets(library: Library) -> None:
    about = next(library.conversations())
    masked = library.read(about.id, masked=True)
    plain = library.read(about.id)
    assert SECRET in str(plain)
    assert PASSWORD.value in str(plain)
    for secret in (SECRET, PASSWORD.value):
        assert secret not in str(masked)
    assert masked.conversation.title.startswith("deploy with [masked: github-token #")
    assert len(masked.messages) == len(plain.messages)


def test_a_search_shows_and_confirms_none(library: Library) -> None:
    found = library.search("deploy please", masked=True, context=2)
    assert found.talks
    assert SECRET not in str(found)
    # Who guesses must not learn by searching whether it is right.
    assert library.search(SECRET).messages == 2
    guessed = library.search(SECRET, masked=True)
    assert (guessed.talks, guessed.messages, guessed.conversations) == ([], 0, 0)
    assert library.search("nothing-like-it", masked=True).near == []


def test_a_snippet_is_not_cut_inside_a_secret(library: Library) -> None:
    for words in ("postgresql", "shop", "internal"):
        found = library.search(words, masked=True)
        assert PASSWORD.value[:6] not in str(found.talks)
