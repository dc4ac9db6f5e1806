"""An archived conversation of any agent opens as a history and goes on with any provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki import MessageHistory
from rireki.archive.base import Filter
from rireki.archive.open import open_archive
from rireki.errors import NotFound, RirekiError
from rireki.intake.sweep import import_history
from rireki.providers import PROVIDERS, Request
from rireki.sources.kit.places import Places
from tests.providers.rules_of import complaints
from tests.providers.types_of import checker
from tests.support.homes import NAMES, lay_out


@pytest.fixture
def ids(request: pytest.FixtureRequest, place: Path, tmp_path: Path) -> list[str]:
    """The conversations of a home, sub-agents included, taken into the archive."""
    home = tmp_path / "home"
    home.mkdir()
    lay_out(request.param, home)
    archive = open_archive(place, create=True)
    import_history(archive, places=Places.at(home))
    found = [one.id for one in archive.conversations(Filter(subagents=True))]
    archive.close()
    return found


@pytest.mark.parametrize("ids", NAMES, indirect=True)
def test_every_conversation_of_every_source_goes_on_with_every_provider(
    ids: list[str], place: Path
) -> None:
    assert ids
    seen = 0
    for id in ids:
        for everything in (False, True):
            with MessageHistory.from_conversation(
                id, archive=place, everything=everything
            ) as history:
                seen += len(history)
                history.add_user_message("And now?")
                for provider in PROVIDERS:
                    request: Request = history.render(provider)
                    checker(provider)(request)
                    assert complaints(provider, request.as_json().messages, "") == [], id
                assert "And now?" in str(request.messages[-1])
    assert seen


def archived(place: Path) -> None:
    with MessageHistory.open("mine", title="Mine", project="/src/app", archive=place) as history:
        history.add_system_message("Be brief.")
        history.add_user_message("Look.", images=[b"\x89PNG\r\n\x1a\n picture"])
        use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "it"}}
        thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
        history.add_raw_message({"role": "assistant", "content": [thought, use]})
        history.add_tool_result("t1", "seen", "look", images=[b"\x89PNG\r\n\x1a\n shot"])
        history.add_raw_message({"role": "assistant", "content": "A picture."})


def test_a_history_of_ours_comes_along_as_it_is(place: Path) -> None:
    archived(place)
    with MessageHistory.from_conversation("rireki/mine", "next", archive=place) as history:
        assert history.id == "next" and history.title == "Mine"
        assert "sig" in str(history.render("anthropic").messages)
    with MessageHistory.open("mine", archive=place, read_only=True) as before:
        assert len(before) == 5


def test_one_whose_file_is_gone_comes_from_the_archive(place: Path) -> None:
    archived(place)
    (place.parent / "histories" / "mine.jsonl").unlink()
    with MessageHistory.from_conversation("rireki/mine", archive=place) as history:
        (call, told) = [m["content"] for m in history.messages[2:4]]
        assert [block["type"] for block in call] == ["thinking", "tool_use"]
        assert [block["type"] for block in told[0]["content"]] == ["text", "image"]
        request: Any = history.render("anthropic")
        assert request.system == "Be brief."
        assert history.title == "Mine"
        assert history.notes("continued from")[0].value == "rireki/mine"


def test_names_that_are_nobodys_or_taken_are_told(place: Path) -> None:
    archived(place)
    with pytest.raises(NotFound):
        MessageHistory.from_conversation("claude-code/none", archive=place)
    with pytest.raises(RirekiError, match="there is a history mine already"):
        MessageHistory.from_conversation("rireki/mine", "mine", archive=place)
