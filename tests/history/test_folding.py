"""Closing a history costs what is new in it, and stores what reading all of it would."""

from __future__ import annotations

import copy
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki import MessageHistory
from rireki.archive.base import Archive, Heading, StoredConversation
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.history import importing
from rireki.intake import pending
from rireki.intake.interpret import interpret
from rireki.intake.rebuild import rebuild
from rireki.intake.rules import note_current
from rireki.intake.verify import verify
from tests.history.conftest import calls, exchange, says
from tests.history.test_laws import Player, steps
from tests.history.test_raw import ANSWERS
from tests.support.engine import sql_of

more = st.one_of(
    steps,
    st.tuples(st.just("whole"), st.sampled_from(sorted(ANSWERS))),
    st.just(("wait",)),
    st.just(("again",)),
    st.just(("turn",)),
    st.just(("named",)),
    st.just(("half",)),
)
requests = st.lists(st.lists(more, min_size=1, max_size=5), min_size=1, max_size=6)


class Caller(Player):
    """Does what a program does that opens a history for a request, and more."""

    def whole(self, provider: str) -> None:
        self.history.add_raw_message(copy.deepcopy(ANSWERS[provider]))

    def wait(self) -> None:
        for call in self.history.pending_calls()[:1]:
            if call.id:
                self.history.waiting(call.id)

    def again(self) -> None:
        """A call under an id that was there before."""
        self.history.add_raw_message(calls("c", "c_1", name="read"))
        self.history.add_tool_result("c", "once more", "read")

    def turn(self) -> None:
        exchange(self.history, self.count)

    def named(self) -> None:
        self.history.add_user_message("")
        self.history.add_raw_message({"role": "tool", "tool_call_id": "nobody", "content": "late"})

    def half(self) -> None:
        self.history.add_user_message("half \ud83d a pair")


def stored(place: Path) -> dict[str, StoredConversation]:
    with closing(open_archive(place)) as archive:
        return {id: kept for g in archive.groups() for id, kept in archive.kept_as(*g[:2]).items()}


def whole(place: Path) -> dict[str, StoredConversation]:
    """What a reading of all records gives."""
    with closing(open_archive(place)) as archive:
        return {
            reading.conversation.id: StoredConversation(
                reading.conversation, reading.answers, list(reading.link_tokens), True
            )
            for group in archive.groups()
            for reading in interpret(group.conversation, archive.strands(*group[:2]))
        }


@given(requests)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_stored_is_what_reading_all_of_it_gives(script: list[list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "archive.sqlite3"
        count = 0
        for number, request in enumerate(script):
            title = f"title {number}" if number % 4 == 3 else None
            with MessageHistory.open("x", archive=place, title=title) as history:
                player = Caller(history)
                player.count = count
                for step in request:
                    try:
                        player.play([step])
                    except RirekiError:
                        # What cannot be done to such a history is refused, and leaves it as it was.
                        continue
                count = player.count
            if place.exists():
                assert stored(place) == whole(place)
        if place.exists():
            sound(place)


def sound(place: Path) -> None:
    """The archive is as it should be, and making all of it anew changes nothing."""
    with closing(open_archive(place)) as archive:
        note_current(archive)
        assert verify(archive) == []
        before, headings = stored(place), headings_of(archive)
        rebuild(archive)
        assert headings_of(archive) == headings
    assert stored(place) == before


def headings_of(archive: Archive) -> list[Heading]:
    return sorted(heading._replace(changed=0) for heading in archive.headings(True))


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every time that all of a conversation is read to be stored."""
    seen: list[str] = []

    def noted(conversation: str, strands: Any) -> Any:
        seen.append(conversation)
        return interpret(conversation, strands)

    monkeypatch.setattr(pending, "interpret", noted)
    return seen


def answer(number: int) -> Any:
    """A whole answer of a provider, with an id and tokens of its own."""
    return ANSWERS["anthropic"].model_copy(
        update={
            "id": f"msg_{number}",
            "content": [
                block.model_copy(update={"id": f"toolu_{number}"} if hasattr(block, "id") else {})
                for block in ANSWERS["anthropic"].content
            ],
        }
    )


def test_closing_reads_the_new_messages_and_not_the_history(
    place: Path, readings: list[str]
) -> None:
    for number in range(4):
        with MessageHistory.open("x", archive=place) as history:
            exchange(history, number)
            history.add_raw_message(answer(number))
            history.compact("so far so good", 1)
    assert readings == ["x"], "the first time only"
    assert stored(place) == whole(place)
    sound(place)


@pytest.mark.parametrize(
    "what",
    [
        lambda history: history.add_tool_result("open", "late", "read"),
        lambda history: history.add_raw_message(calls("a0")),
        lambda history: history.add_raw_message(calls("new", name="ask_user")),
        lambda history: history.add_raw_message(
            {"role": "assistant", "content": {"tool_call": {"name": "ls", "arguments": {}}}}
        ),
        lambda history: history.waiting("open"),
        lambda history: history.repair(),
    ],
    ids=["late result", "known id", "question", "without id", "waits", "repair"],
)
def test_what_hangs_on_earlier_entries_is_read_with_them(
    place: Path, readings: list[str], what: Any
) -> None:
    with MessageHistory.open("x", archive=place) as history:
        exchange(history, 0)
        history.add_raw_message(calls("open"))
    with MessageHistory.open("x", archive=place) as history:
        what(history)
    assert readings == ["x", "x"]
    assert stored(place) == whole(place)


def test_a_journal_that_somebody_edited_is_read_anew(place: Path, readings: list[str]) -> None:
    with MessageHistory.open("x", archive=place) as history:
        exchange(history, 0)
    (journal,) = place.parent.rglob("x.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    # An entry once more, and one that is none.
    journal.write_bytes(b"".join([*lines, lines[1], b"{}\n"]))
    with MessageHistory.open("x", archive=place) as history:
        history.add_raw_message(says("on"))
    assert stored(place) == whole(place)
    assert readings == ["x", "x"]
    with MessageHistory.open("x", archive=place) as history:
        history.add_raw_message(says("and on"))
    assert stored(place) == whole(place)


def test_a_stored_row_that_is_damaged_is_not_added_to(place: Path, readings: list[str]) -> None:
    with MessageHistory.open("x", archive=place) as history:
        exchange(history, 0)
    with closing(open_archive(place)) as archive, archive.writing():
        sql_of(archive).execute("UPDATE answers SET data = x'00'")
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("one more")
    assert readings == ["x", "x"]
    assert stored(place) == whole(place)


def test_the_window_for_the_last_entry_may_be_too_small(
    place: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "WINDOW", 100)
    for number in range(2):
        with MessageHistory.open("x", archive=place) as history:
            exchange(history, number)
            history.add_user_message("long " * 50)
    assert readings == ["x", "x"]
    assert stored(place) == whole(place)


def test_of_two_open_calls_with_one_id_both_wait() -> None:
    history = MessageHistory()
    player = Caller(history)
    player.play([("again",), ("wait",), ("again",), ("repair",)])
    assert [call.waiting for call in history.pending_calls()] == [True, True]
