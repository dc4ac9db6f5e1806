"""The feed names every message that is new or other, once, whoever asks and from wherever."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.forget import forget
from rireki.intake.interpret import read_conversation
from rireki.intake.known_origins import KnownOrigins
from rireki.intake.rebuild import rebuild
from rireki.intake.sweep import Report, discover, take_some
from rireki.live.feed import MANY, Feed, News, Touched
from rireki.live.readings import Readings
from rireki.model.record import Origin
from rireki.sources import registry
from rireki.sources.kit.places import Places

pytestmark = pytest.mark.usefixtures("plain_source")
TakeIn = Callable[[], Report]


def note(id: str, text: str) -> str:
    return json.dumps({"id": id, "who": "me", "text": text}) + "\n"


@pytest.fixture
def notes(home: Path) -> Path:
    folder = home / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def feed(archive: Archive) -> Feed:
    return Feed(archive)


def append(file: Path, *lines: str) -> None:
    with file.open("a") as open_file:
        open_file.writelines(lines)


def named(news: News) -> dict[str, list[str] | None]:
    return {touched.conversation: touched.messages for touched in news.changes}


def test_nothing_happened(feed: Feed) -> None:
    assert feed.since(0) == News(0, 0, [])


def test_a_new_conversation_and_what_follows(feed: Feed, notes: Path, take_in: TakeIn) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note("a", "one") + note("b", "two"))
    take_in()
    first = feed.since(0)
    assert first.changes == [Touched("plain/talk", "new", ["a", "b"])]
    append(file, note("c", "three"))
    take_in()
    second = feed.since(first.number)
    assert second.changes == [Touched("plain/talk", "changed", ["c"])]
    assert feed.since(second.number).changes == []
    take_in()
    assert feed.since(second.number).changes == []


def test_whoever_was_away_longer_is_told_all_of_it_once(
    feed: Feed, archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note("a", "one"))
    take_in()
    start = archive.number()
    for letter in "bcd":
        append(file, note(letter, letter))
        take_in()
    assert named(feed.since(start)) == {"plain/talk": ["b", "c", "d"]}
    assert named(Feed(archive).since(start)) == {"plain/talk": ["b", "c", "d"]}
    assert named(feed.since(0)) == {"plain/talk": ["a", "b", "c", "d"]}


def test_a_message_that_says_something_else_is_named(
    feed: Feed, archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note("a", "one") + note("b", "two"))
    take_in()
    start = archive.number()
    file.write_text(note("a", "one"))
    take_in()
    # The source no longer has it: it is told as gone from now on.
    assert named(feed.since(start)) == {"plain/talk": ["b"]}


def test_a_file_that_vanished_touches_its_messages(
    feed: Feed, archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note("a", "one"))
    take_in()
    start = archive.number()
    file.unlink()
    take_in()
    assert named(feed.since(start)) == {"plain/talk": ["a"]}


def test_what_is_forgotten_is_removed(
    feed: Feed, archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    (notes / "talk.jsonl").write_text(note("a", "one"))
    take_in()
    start = archive.number()
    forget(archive, archive.find("plain/talk"))
    assert feed.since(start).changes == [Touched("plain/talk", "removed")]
    assert feed.since(0).changes == [Touched("plain/talk", "removed")]


def test_interpreting_everything_anew_touches_no_message(
    feed: Feed, archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    (notes / "talk.jsonl").write_text(note("a", "one"))
    take_in()
    start = archive.number()
    rebuild(archive)
    assert feed.since(start).changes == [Touched("plain/talk", "changed", [])]


def test_an_import_of_many_names_conversations_only(
    feed: Feed, notes: Path, take_in: TakeIn
) -> None:
    for number in range(MANY + 1):
        (notes / f"talk{number}.jsonl").write_text(note("a", "one"))
    take_in()
    changes = feed.since(0).changes
    assert len(changes) == MANY + 1
    assert all(touched.messages is None for touched in changes)


def test_every_message_is_named_once_wherever_the_listener_drops_out(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    """Three listeners ask at random moments, one of them forgets what it remembered each time."""
    chance = random.Random(7)
    listeners = [Feed(archive), Feed(archive), Feed(archive)]
    reached = [0, 0, 0]
    heard: list[list[tuple[str, str]]] = [[], [], []]
    said = []
    for step in range(60):
        name = chance.choice("xyz")
        append(notes / f"{name}.jsonl", note(f"m{step}", "words"))
        said.append((f"plain/{name}", f"m{step}"))
        take_in()
        for who in range(3):
            if chance.random() < 0.4 or step == 59:
                if who == 2:
                    listeners[2] = Feed(archive)
                news = listeners[who].since(reached[who])
                reached[who] = news.number
                for touched in news.changes:
                    heard[who] += [(touched.conversation, id) for id in touched.messages or []]
    for found in heard:
        assert sorted(found) == sorted(said)
        for name in "xyz":
            assert [i for c, i in found if c == f"plain/{name}"] == [
                i for c, i in said if c == f"plain/{name}"
            ]


def test_what_the_keeper_read_is_what_the_archive_says(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    """A feed that is handed what was just read names the same messages as one that reads itself."""
    readings = Readings()
    readings.wanted = True
    file = notes / "talk.jsonl"
    file.write_text(note("a", "one") + note("b", "two"))
    take_in()
    start = archive.number()
    append(file, note("c", "three"))
    known_origins = KnownOrigins(archive)
    take_some(archive, discover_all(notes.parent), known_origins, witness=readings.witness)
    handed = Feed(archive, readings).since(start)
    assert named(handed) == named(Feed(archive).since(start)) == {"plain/talk": ["c"]}
    found = archive.find("plain/talk")
    told = readings.at(archive, found, archive.reached("plain/talk"))
    assert told is not None
    assert told[1] == read_conversation(archive, found).messages()


def test_nothing_is_laid_down_that_nobody_wants(archive: Archive, notes: Path) -> None:
    readings = Readings()
    (notes / "talk.jsonl").write_text(note("a", "one"))
    take_some(archive, discover_all(notes.parent), KnownOrigins(archive), witness=readings.witness)
    assert not readings._told


def discover_all(home: Path) -> list[Origin]:
    return discover(registry.readers(), Places.at(home)).origins
