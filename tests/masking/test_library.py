"""What a library gives masked: conversations, their sub-agents, and what a search finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.library import Library
from rireki.library import open as open_library
from rireki.sources.kit.places import Places
from tests.support.secrets import secrets

SECRET = next(s for s in secrets(400) if s.kind == "github-token").value
PASSWORD = next(s for s in secrets(400) if s.kind == "url-password")
PROJECT = "/home/ann/shop"


def entry(role: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": content, "id": f"m{len(more)}", "model": "claude"}
    return {"type": role, "message": message, "sessionId": "s1", "cwd": PROJECT, **more}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    home = tmp_path / "home"
    folder = home / ".claude" / "projects" / "-home-ann-shop"
    folder.mkdir(parents=True)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"push {SECRET}"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": PASSWORD.text}
    entries = [
        entry("user", f"deploy with {SECRET} please", uuid="a", timestamp="2026-01-01T00:00:00Z"),
        entry("assistant", [call], uuid="b", parentUuid="a", timestamp="2026-01-01T00:00:01Z"),
        entry("user", [result], uuid="c", parentUuid="b", timestamp="2026-01-01T00:00:02Z"),
    ]
    lines = "".join(json.dumps(each) + "\n" for each in entries)
    (folder / "5471a680-0000-4000-8000-000000000001.jsonl").write_text(lines)
    path = tmp_path / "archive.sqlite3"
    archive = open_archive(path, create=True)
    import_history(archive, places=Places(home=home))
    archive.close()
    return open_library(path)


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
