"""A history is a conversation like any other: archived, found, shown, told live."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from rireki import MessageHistory
from rireki.archive.open import open_archive
from rireki.cli.main import run
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.live.feed import Feed
from rireki.live.keeper import Keeper
from rireki.model.message import Message
from rireki.providers import (
    Call,
    Media,
    NeutralText,
    Provider,
    Result,
    Turn,
    decode,
    encode,
    turns_of,
)
from rireki.sources.kit.places import Places
from tests.history.conftest import calls, exchange, says
from tests.history.test_raw import ANSWERS
from tests.providers.scripts import Script, scripts, spell

PATIENCE = 30.0
NEEDLE = "xylophone"


def told(place: Path, name: str = "rireki/x") -> list[Message]:
    with closing(open_archive(place)) as archive:
        return read_conversation(archive, archive.find(name)).messages()


def told_turns(place: Path) -> list[Turn]:
    with closing(open_archive(place)) as archive:
        reading = read_conversation(archive, archive.find("rireki/x"))
        return turns_of(reading.messages(), reading.attachment)


def said(turns: list[Turn]) -> list[tuple[Any, ...]]:
    """Who said what, whatever the messages it came in."""
    found: list[tuple[Any, ...]] = []
    for turn in turns:
        for part in turn.parts:
            if isinstance(part, NeutralText) and part.text:
                found.append((turn.role, part.text))
            elif isinstance(part, Media):
                found.append((turn.role, part.kind, part.data))
            elif isinstance(part, Call):
                found.append((turn.role, part.name, part.arguments))
            elif isinstance(part, Result):
                text = "".join(one.text for one in part.content if isinstance(one, NeutralText))
                media = len([one for one in part.content if not isinstance(one, NeutralText)])
                found.append((turn.role, text, media, part.is_error))
    return found


def test_a_long_title_ends_with_a_whole_letter(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("x" * 199 + "か\u3099 and more")
    with closing(open_archive(place)) as archive:
        assert archive.find("x").conversation.title == "x" * 199


def test_closing_brings_it_into_the_archive(place: Path) -> None:
    with MessageHistory.open("x", archive=place, title="T", project="/home/u/x") as history:
        exchange(history, 1)
    with closing(open_archive(place)) as archive:
        found = archive.find("x").conversation
    assert (found.id, found.title, found.project) == ("rireki/x", "T", "/home/u/x")
    assert (found.turns, found.tool_calls, found.tool_results, found.finished) == (1, 2, 2, True)
    assert [m.author for m in told(place)] == ["person", "agent", "tool", "tool", "agent"]


def test_a_program_that_just_ends_leaves_it_in_the_archive(place: Path) -> None:
    code = "from rireki import MessageHistory\n"
    code += f"h = MessageHistory.open('x', archive={str(place)!r})\nh.add_user_message('bye')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [part for m in told(place) for part in m.parts]


def test_closing_brings_in_what_a_killed_program_wrote(place: Path) -> None:
    code = (
        "import os; from rireki import MessageHistory\n"
        f"MessageHistory.open('x', archive={str(place)!r}).add_user_message('kept')\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    MessageHistory.open("x", archive=place).close()
    assert [message.author for message in told(place)] == ["person"]


def test_a_word_just_added_is_found(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("nothing here")
        history.add_raw_message(says(f"the {NEEDLE} is in the attic"))
        (hit,) = history.search(NEEDLE)
        assert hit.author == "agent" and NEEDLE in hit.snippet.text
        history.add_user_message(f"which {NEEDLE}?")
        assert len(history.search(NEEDLE)) == 2
        assert history.search(f"{NEEDLE} attic OR nothing", limit=1)
        assert history.search("absent") == history.search(" ") == []


def test_search_stays_in_its_own_history(place: Path) -> None:
    with (
        MessageHistory.open("x", archive=place) as one,
        MessageHistory.open("x2", archive=place) as other,
    ):
        one.add_user_message(f"{NEEDLE} one")
        other.add_user_message(f"{NEEDLE} two")
        other.search(NEEDLE)
        assert [hit.snippet.text for hit in one.search(NEEDLE)] == [f"{NEEDLE} one"]


def test_search_in_memory_finds_what_is_hidden_too() -> None:
    history = MessageHistory()
    history.add_user_message(f"the {NEEDLE}")
    history.compact("an instrument")
    (hit,) = history.search(NEEDLE)
    assert hit.author == "person"
    assert history.search("absent") == []


def test_what_was_cleared_and_left_is_still_told(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("first")
        here = history.checkpoint()
        history.add_raw_message(says("left"))
        history.branch(here)
        history.add_raw_message(says("taken"))
        history.clear()
        history.add_user_message("fresh")
        history.compact("so far")
        history.add_user_message("last")
        own = decode(None, history.get_messages())
    messages = told(place)
    shown = [(m.label or str(m.parts[0].text), m.abandoned) for m in messages]  # type: ignore[union-attr]
    assert shown == [
        ("first", True),
        ("left", True),
        ("branch", True),
        ("taken", True),
        ("cleared", False),
        ("fresh", False),
        ("summary", False),
        ("last", False),
    ]
    assert said(told_turns(place))[-2:] == said(own)


@given(scripts)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@pytest.mark.parametrize("provider", ["anthropic", "openai", "responses", "gemini", "bedrock"])
def test_the_archive_says_what_the_history_says(
    provider: Provider, tmp_path_factory: pytest.TempPathFactory, script: Script
) -> None:
    place = tmp_path_factory.mktemp("kept") / "archive.sqlite3"
    with MessageHistory.open("x", archive=place) as history:
        for message in spell(provider, script):
            history.add_raw_message(message, provider=provider)
        own = [
            turn for entry, _ in history._log.view.items for turns in entry.turns for turn in turns
        ]
    assert said(told_turns(place)) == said(own)


@pytest.mark.parametrize("provider", ANSWERS)
def test_answers_tell_their_model_and_tokens(provider: str, place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_raw_message(ANSWERS[provider])
    with closing(open_archive(place)) as archive:
        found = archive.find("x").conversation
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (5, 7)
    assert found.models == (["unknown"] if provider == "bedrock" else [told(place)[0].model])
    assert told(place)[0].usage == found.usage


def test_pictures_come_back_out(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_raw_message(calls("a"))
        history.add_tool_result("a", "seen", "read", images=[("image/png", b"\x89PNG pixels")])
    with closing(open_archive(place)) as archive:
        reading = read_conversation(archive, archive.find("x"))
        assert reading.attachment("0" * 64) is None
    request = encode("anthropic", told_turns(place))
    assert request.messages[-1]["content"][0]["content"][1]["source"]["data"] == "iVBORyBwaXhlbHM="


def test_import_and_list_know_the_histories_beside_an_archive(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MessageHistory.open("x", archive=place, title="Found") as history:
        history.add_user_message("a")
    place.unlink()
    (tmp_path / "home").mkdir()
    assert run(["import", "--archive", str(place), "--home", str(tmp_path / "home")]) == 0
    assert run(["list", "--archive", str(place)]) == 0
    assert "Found" in capsys.readouterr().out


def test_a_keeper_takes_it_in_as_it_is_written(place: Path, home: Path) -> None:
    keeper = Keeper(place, Places.at(home).beside(place), index=False)
    keeper.start()
    try:
        assert keeper.wait(PATIENCE)
        with closing(open_archive(place)) as archive:
            feed = Feed(archive)
            number = feed.number()
            history = MessageHistory.open("x", archive=place)
            history.add_user_message("live")
            news = _news(feed, number)
            assert (news[0].conversation, news[0].kind) == ("rireki/x", "new")
            number = feed.number()
            history.add_raw_message(says("and more"))
            (touched,) = _news(feed, number)
            assert touched.kind == "changed" and len(touched.messages or []) == 1
            # A keeper runs: closing leaves the rest to it.
            history.close()
            assert history.troubles == []
    finally:
        keeper.stop()


def _news(feed: Feed, after: int) -> list[Any]:
    deadline = time.monotonic() + PATIENCE
    while not (changes := feed.since(after).changes):
        assert time.monotonic() < deadline, "nothing was heard"
        time.sleep(0.01)
    return changes


def test_importing_beside_an_open_history_does_no_harm(place: Path, home: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        for number in range(5):
            exchange(history, number)
            with closing(open_archive(place, create=True)) as archive:
                import_history(archive, places=Places.at(home).beside(place))
                assert archive.find("x").conversation.turns == number + 1
    assert len(told(place)) == 25


def shown(place: Path, form: str, capsys: pytest.CaptureFixture[str], *more: str) -> list[Any]:
    assert run(["show", "x", "--format", form, "--archive", str(place), *more]) == 0
    told = json.loads(capsys.readouterr().out)
    messages: list[Any] = told[{"responses": "input", "gemini": "contents"}.get(form, "messages")]
    return messages


def test_show_writes_what_a_model_would_see_as_render_does(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_system_message("Be brief.")
        for number in range(4):
            exchange(history, number)
        history.compact("They asked twice.", keep_turns=2)
        history.add_user_message("left")
        history.trim(turns=3)
        here = history.checkpoint()
        history.add_user_message("on a branch that was left")
        history.branch(here)
        history.add_raw_message(calls("q"))
        history.repair()
        exchange(history, 5)
        history.compact("They asked often.", keep_turns=1)
        rendered = {form: history.render(form) for form in ("anthropic", "openai", "gemini")}
    for form, request in rendered.items():
        # Neighbours of one role may be one message here and two there.
        told = said(decode(form, shown(place, form, capsys)))
        assert told == said(decode(form, request.messages)), form
        assert "They asked often." in str(told) and "They asked twice." not in str(told)
    everything = str(shown(place, "openai", capsys, "--all"))
    assert "prompt 0" in everything and "They asked twice." in everything


@pytest.mark.parametrize(
    "form", ["anthropic", "openai", "responses", "gemini", "bedrock", "ollama"]
)
def test_show_writes_it_for_any_provider(
    form: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("go")
        history.add_raw_message(calls("a.b:c", "b", text="reading"))
        history.add_tool_result("a.b:c", "the end", "read")
    assert run(["show", "x", "--format", form, "--model", "some", "--archive", str(place)]) == 0
    out, err = capsys.readouterr()
    names = {"responses": "input", "gemini": "contents"}
    found = json.loads(out)[names.get(form, "messages")]
    assert "the end" in str(found) and "go" in str(found[0])
    if form != "ollama":
        assert f"{form}: call-interrupted (message 2): " in err
