"""`rireki title`, `tag`, `star`, `note`, `hide`: what a person adds, from the terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.cli.main import run
from rireki.intake.curate import for_team
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.sources.transcripts import SESSION, Transcript, lay

OTHER = f"b{SESSION[1:]}"


@pytest.fixture
def two(archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with two conversations."""
    for session, text in ((SESSION, "count the pelicans"), (OTHER, "paint the shed")):
        talk = Transcript(session)
        talk.user(text, uuid=f"{session[:8]}-1111-4000-8000-000000000000")
        lay(home, talk.bytes(), session)
    import_history(archive, places=Places.at(home))
    archive.close()
    monkeypatch.setenv("RIREKI_ARCHIVE", archive.address)
    return Path(archive.address)


class Said:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str, code: int = 0) -> str:
        self.capsys.readouterr()
        assert run(list(arguments)) == code, self.capsys.readouterr()
        said = self.capsys.readouterr()
        return said.out + said.err

    def json(self, *arguments: str) -> list[Any]:
        return [json.loads(line) for line in self(*arguments, "--json").splitlines()]


@pytest.fixture
def rireki(two: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


def test_tags_are_added_found_and_taken_away(rireki: Said) -> None:
    assert "#db  #Work" in rireki("tag", SESSION, "#Work", "db")
    # Other capitals are no other tag, on no conversation.
    rireki("tag", OTHER, "WORK")
    assert rireki.json("tag", "--list") == [
        {"tag": "Work", "conversations": 2},
        {"tag": "db", "conversations": 1},
    ]
    assert [c["native_id"] for c in rireki.json("list", "--tag", "db")] == [SESSION]
    assert len(rireki.json("list", "--tag", "work")) == 2
    assert "pelicans" in rireki("search", "tag:WORK", "author:me")
    rireki("tag", SESSION, "--remove")
    assert rireki.json("tag", SESSION)[0]["added"]["tags"] == []
    assert "comma" in rireki("tag", SESSION, "a,b", code=1)
    assert "61 characters" in rireki("tag", SESSION, "x" * 61, code=1)


def test_a_title_of_ones_own_stays_until_it_is_taken_back(rireki: Said) -> None:
    assert rireki("title", SESSION, "birds", "at", "sea") == "birds at sea\n"
    rireki("rebuild")
    assert rireki("title", SESSION) == "birds at sea\n"
    assert "birds at sea" in rireki("search", "sea") and "birds at sea" in rireki("show", SESSION)
    assert rireki("title", SESSION, "--remove") == "count the pelicans\n"
    assert "--remove" in rireki("title", SESSION, "", code=1)
    assert "both" in rireki("title", SESSION, "x", "--remove", code=1)


def test_stars_narrow_lists_and_searches(rireki: Said) -> None:
    assert "★ count the pelicans" in rireki("star", SESSION)
    assert [c["native_id"] for c in rireki.json("list", "--starred")] == [SESSION]
    assert "shed" not in rireki("search", "is:starred")
    assert "pelicans" in rireki("star", "--list")
    rireki("star", SESSION, "--remove")
    assert "Nothing is starred" in rireki("star", "--list")
    assert "name the conversation" in rireki("star", code=1)


def test_what_is_hidden_is_left_out_with_a_count(rireki: Said) -> None:
    rireki("hide", OTHER)
    listed = rireki("list")
    assert "shed" not in listed and "pelicans" in listed
    assert "shed" in rireki("list", "--hidden") and "shed" in rireki("hide", "--list")
    assert len(rireki.json("list")) == 2
    found = rireki("search", "the")
    assert "shed" not in found and "left out: 1 hidden conversation" in found
    assert "shed" in rireki("search", "the", "--hidden")
    assert "shed" in rireki("search", "is:hidden")
    rireki("hide", SESSION)
    assert "2 hidden conversations left out: --hidden" in rireki("list")
    rireki("hide", OTHER, SESSION, "--remove")
    assert "left out" not in rireki("search", "the")


def test_notes_are_found_by_what_they_say(rireki: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    rireki("note", SESSION, "the quokkaflux was it")
    message = SESSION[:8] + "-1111"
    monkeypatch.setattr("sys.stdin", io.StringIO("first line\nsecond zebrafinch line\n"))
    rireki("note", f"{SESSION}#{message}", "-")
    for query in ("quokkaflux", "note:zebrafinch", "has:note pelicans", "quokkaflux -shed"):
        assert "pelicans" in rireki("search", query), query
    (talk,) = rireki.json("search", "zebrafinch")[0]["talks"]
    (hit,) = talk["hits"]
    assert hit["where"] == "note" and hit["message"].startswith(message)
    notes = rireki.json("note", "--list")
    assert [note["note"] for note in notes] == [
        "the quokkaflux was it",
        "first line\nsecond zebrafinch line",
    ]
    rireki("note", SESSION, "--remove")
    rireki("search", "quokkaflux", code=1)
    assert "nosuch" in rireki("note", f"{SESSION}#nosuch", "x", code=1)


def test_a_team_gets_titles_and_tags_alone(rireki: Said, two: Path) -> None:
    rireki("title", SESSION, "mine")
    rireki("tag", SESSION, "work")
    rireki("star", SESSION)
    rireki("note", SESSION, "private")
    rireki("hide", SESSION)
    archive = open_archive(two)
    facts = archive.facts(archive.find(SESSION))
    archive.close()
    assert len(facts) == 5
    assert {fact.kind for fact in for_team(facts)} == {"title", "tag"}
