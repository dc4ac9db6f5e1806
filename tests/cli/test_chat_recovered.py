"""`rireki chat --continue` and prompts that an earlier process stored and never gave."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rireki.journals.session_entry import BridgeEntry, spell

pytest.importorskip("pty")

from tests.cli.test_chat import Place, Start, Typist


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def start(place: Place) -> Iterator[Start]:
    typists: list[Typist] = []

    def begin(*arguments: str) -> Typist:
        typists.append(Typist(place, *arguments))
        return typists[-1]

    yield begin
    for typist in typists:
        typist.close()


@pytest.fixture
def conversation(place: Place) -> str:
    """One in which two prompts wait, as when a server was killed."""
    place.run("chat", "--agent", "scripted", typed="echo one\n")
    (journal,) = (place.archive.parent / "bridge").glob("*.jsonl")
    with journal.open("ab") as file:
        for number, text in enumerate(("echo two", "echo three")):
            more = {"id": f"p{number}", "text": text, "by": "web"}
            at = "2026-11-18T10:00:00.000Z"
            file.write(spell(BridgeEntry(time.time_ns() // 1000 + number, at, "prompt", more)))
    assert place.run("import").returncode == 0
    (listed,) = place.run("list", "--json").stdout.splitlines()
    found: str = json.loads(listed)["id"]
    return found


def given(place: Place) -> list[str]:
    texts = {entry["id"]: entry["text"] for entry in place.kind("prompt")}
    return [texts[entry["id"]] for entry in place.kind("given")]


def test_they_are_shown_and_given_after_one_yes(
    start: Start, place: Place, conversation: str
) -> None:
    person = start("--continue", conversation)
    shown = person.expect("A number: ")
    assert "2 prompts from before rireki was restarted" in shown
    assert re.search(r"echo two\s+echo three", shown)
    assert given(place) == ["echo one"]
    person.type("1\n")
    person.expect("three")
    person.ready()
    person.type("echo four\n")
    person.ready()
    assert person.leave() == 0
    assert given(place) == ["echo one", "echo two", "echo three", "echo four"]


def test_they_can_be_taken_back(start: Start, place: Place, conversation: str) -> None:
    person = start("--continue", conversation)
    person.expect("A number: ")
    person.type("2\n")
    person.ready()
    person.type("echo four\n")
    person.ready()
    assert person.leave() == 0
    assert given(place) == ["echo one", "echo four"]
    assert len(place.kind("withdraw")) == 2


@pytest.mark.parametrize("key", ["3\n", "\x04", "\x03"], ids=["3", "ctrl-d", "ctrl-c"])
def test_they_can_be_left_for_later(
    start: Start, place: Place, conversation: str, key: str
) -> None:
    processes = len(place.kind("process"))
    person = start("--continue", conversation)
    person.expect("A number: ")
    # Neither an empty line nor other words are an answer.
    person.type("\n")
    person.expect("A number: ")
    person.type(key)
    assert person.ended() == 0
    assert given(place) == ["echo one"]
    assert len(place.kind("process")) == processes, "no agent was started"
    again = start("--continue", conversation)
    assert "2 prompts" in again.expect("A number: ")
    again.type("3\n")
    assert again.ended() == 0


def test_in_a_pipe_nobody_can_say_yes(place: Place, conversation: str) -> None:
    processes = len(place.kind("process"))
    ran = place.run("chat", "--continue", conversation, typed="echo four\n")
    assert ran.returncode == 1
    assert "wait for your yes" in ran.stderr and "Traceback" not in ran.stderr
    assert given(place) == ["echo one"]
    assert len(place.kind("process")) == processes
    assert "echo four" not in [entry["text"] for entry in place.kind("prompt")]


def test_the_list_says_that_they_wait_for_a_yes(place: Place, conversation: str) -> None:
    row = place.run("list").stdout
    assert "waits for your permission · " in row
    (listed,) = place.run("list", "--json").stdout.splitlines()
    assert json.loads(listed)["waits"] == "permission"
    assert "waits for your permission" in place.run("show", conversation, "--no-pager").stdout
    (journal,) = (place.archive.parent / "bridge").glob("*.jsonl")
    with journal.open("ab") as file:
        for number in range(2):
            at = "2026-11-18T10:01:00.000Z"
            more = {"id": f"p{number}"}
            file.write(spell(BridgeEntry(time.time_ns() // 1000 + number, at, "withdraw", more)))
    assert "waits" not in place.run("list").stdout
    assert "waits" not in place.run("list", "--json").stdout
