"""Several entries at once, notes of a program, and taking back: what adapters are made of."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rireki import AsyncMessageHistory, MessageHistory
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.intake.interpret import read_conversation
from tests.history.conftest import calls, exchange, says
from tests.history.test_raw import ANSWERS


@pytest.fixture(params=["in memory", "on disk"])
def history(request: pytest.FixtureRequest, place: Path) -> Iterator[MessageHistory]:
    made = MessageHistory() if request.param == "in memory" else MessageHistory.open(archive=place)
    with made:
        yield made


def texts(history: MessageHistory) -> list[Any]:
    return [message["content"] for message in history.messages]


def test_what_is_added_within_is_kept_at_its_end(history: MessageHistory) -> None:
    history.add_user_message("a")
    with history.transaction():
        history.add_user_message("b")
        with history.transaction():
            history.add_raw_message(says("c"))
        assert texts(history) == ["a"], "until then it stays as it was"
    assert texts(history) == ["a", "b", "c"]


def test_after_an_error_nothing_of_it_is_there(history: MessageHistory) -> None:
    history.add_user_message("a")
    with pytest.raises(ZeroDivisionError), history.transaction():
        history.add_user_message("b")
        _ = 1 / 0
    history.add_user_message("c")
    assert texts(history) == ["a", "c"]


def test_a_transaction_may_go_back_first(history: MessageHistory) -> None:
    history.add_user_message("a")
    here = history.checkpoint()
    history.add_raw_message(says("left"))
    with history.transaction():
        history.branch(here)
        history.add_raw_message(says("b"))
        history.add_user_message("c")
    assert texts(history) == ["a", "b", "c"]


def test_other_threads_wait_and_are_not_part_of_it(history: MessageHistory) -> None:
    begun = threading.Event()

    def other() -> None:
        begun.set()
        history.add_user_message("theirs")

    thread = threading.Thread(target=other)
    with pytest.raises(ZeroDivisionError), history.transaction():
        history.add_user_message("mine")
        thread.start()
        assert begun.wait(20)
        _ = 1 / 0
    thread.join(20)
    assert texts(history) == ["theirs"]


KILLED = """
import os, sys
from rireki import MessageHistory

write = os.write

def cut(file, data):
    if data.count(b"\\n") > 1 and b"tenth" in data:
        write(file, data[: len(data) * 2 // 3])
        os._exit(9)
    return write(file, data)

history = MessageHistory.open("x", archive=sys.argv[1])
history.add_user_message("before")
os.write = cut
with history.transaction():
    for number in range(10):
        history.add_user_message(f"{number} tenth")
"""


@pytest.mark.parametrize("share", ["2 // 3", "1 // 20"])
def test_a_kill_in_the_middle_of_the_write_leaves_nothing_of_it(place: Path, share: str) -> None:
    """One write is all that the system is asked for, and it may be cut all the same."""
    program = KILLED.replace("2 // 3", share)
    assert subprocess.run([sys.executable, "-c", program, str(place)]).returncode == 9
    with MessageHistory.open("x", archive=place, read_only=True) as history:
        assert texts(history) == ["before"]
    with MessageHistory.open("x", archive=place) as history:
        assert texts(history) == ["before"]
        assert ("of an unfinished write" in str(history.troubles)) == (share == "2 // 3")
        history.add_user_message("after")
    with MessageHistory.open("x", archive=place) as history:
        assert texts(history) == ["before", "after"] and history.troubles == []
        with history.fork() as copy:
            assert texts(copy) == ["before", "after"]
    archive = open_archive(place)
    told = read_conversation(archive, archive.find("rireki/x")).messages()
    left = [message for message in told if message.author == "person" and message.abandoned]
    assert len(left) == (6 if share == "2 // 3" else 0), "the archive tells of them all the same"
    archive.close()


def test_notes_are_found_again_and_no_model_sees_them(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_note("mood", {"of": ["良い"]})
        exchange(history, 1)
        here = history.checkpoint()
        history.add_note("mood", 2)
        history.add_note("other", 3)
        history.branch(here)
    with MessageHistory.open("x", archive=place) as history:
        assert [noted.value for noted in history.notes("mood")] == [{"of": ["良い"]}]
        assert [noted.value for noted in history.notes("mood", ever=True)] == [{"of": ["良い"]}, 2]
        assert "良い" not in str(history.render("openai"))
        (first,) = history.notes("mood")
        history.branch(first.at)
        assert history.messages == []


def test_taking_back(history: MessageHistory) -> None:
    assert history.pop_message() is None
    history.add_user_message("a")
    history.add_raw_message(says("b"))
    assert history.pop_message() == says("b")
    assert history.pop_message() == {"role": "user", "content": "a"}
    assert history.pop_message() is None and history.messages == []
    assert {hit.author for hit in history.search("a OR b")} == {"person", "agent"}


def test_within_a_transaction_it_is_the_latest_of_that(history: MessageHistory) -> None:
    history.add_user_message("0")
    with history.transaction():
        history.add_user_message("a")
        assert history.pop_message() == {"role": "user", "content": "a"}
        history.add_user_message("b")
    assert texts(history) == ["0", "b"]
    with history.transaction():
        taken = [history.pop_message() for _ in range(3)]
        history.add_user_message("c")
    assert [message and message["content"] for message in taken] == ["b", "0", None]
    assert texts(history) == ["c"]


def test_taking_back_one_item_of_an_answer(history: MessageHistory) -> None:
    history.add_user_message("go")
    history.add_raw_message(ANSWERS["responses"])
    popped = history.pop_message()
    assert popped is not None and popped["type"] == "function_call"
    assert [m.get("type") for m in history.messages] == [None, "message"]
    assert history.pending_calls() == []


def test_nothing_is_taken_back_over_a_repair(history: MessageHistory) -> None:
    history.add_user_message("go")
    history.add_raw_message(calls("a"))
    history.add_user_message("well?")
    history.repair()
    with pytest.raises(RirekiError, match="shortened or repaired"):
        history.pop_message()


def test_what_a_program_put_into_the_list_is_taken_back() -> None:
    history = MessageHistory()
    history.add_user_message("a")
    history.messages.append(says("b"))
    assert history.pop_message() == says("b")
    assert texts(history) == ["a"]


def test_what_a_program_put_into_the_list_is_taken_back_in_a_transaction() -> None:
    history = MessageHistory()
    history.messages.append({"role": "user", "content": "by hand"})
    with history.transaction():
        history.add_user_message("a")
        taken = [history.pop_message(), history.pop_message()]
    assert [message and message["content"] for message in taken] == ["a", "by hand"]
    assert history.messages == []


def test_with_an_event_loop_a_transaction_runs_in_the_histories_thread(place: Path) -> None:
    import asyncio

    def both(history: MessageHistory) -> int:
        with history.transaction():
            history.add_user_message("a")
            history.add_raw_message(says("b"))
        return len(history)

    async def main() -> None:
        async with await AsyncMessageHistory.open("x", archive=place) as history:
            adding = asyncio.create_task(history.add_user_message("first"))
            await asyncio.sleep(0)
            assert await history.run(both) == 3
            await adding
            await history.add_note("n", 1)
            assert [noted.value for noted in await history.notes("n")] == [1]
            assert await history.pop_message() == says("b")

    asyncio.run(main())


def test_a_call_of_the_same_id_later_does_not_wait(history: MessageHistory) -> None:
    call = {"type": "tool_use", "id": "approve:0", "name": "approve", "input": {}}
    history.add_raw_message({"role": "assistant", "content": [call]})
    history.waiting("approve:0")
    history.add_note("asked", "by mail")
    history.add_user_message("Well?")
    assert [call.waiting for call in history.pending_calls()] == [True]
    assert history.repair() == []
    history.add_tool_result("approve:0", "yes", "approve")
    history.add_user_message("Again.")
    history.add_raw_message({"role": "assistant", "content": [call]})
    assert [call.waiting for call in history.pending_calls()] == [False]
    assert [call.id for call in history.repair()] == ["approve:0"]
