"""A session per request: handlers that overlap share a history, those of other processes wait."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rireki import AsyncMessageHistory, HistoryConflict, MessageHistory
from rireki.archive.open import open_archive
from rireki.errors import RirekiError

WRITER = """
import sys, time
from rireki import MessageHistory
with MessageHistory.open("x", archive=sys.argv[1]) as history:
    history.add_user_message("theirs")
    print("open", flush=True)
    time.sleep(float(sys.argv[2]))
    history.add_user_message("theirs too")
"""


def said(history: MessageHistory) -> list[Any]:
    return [message["content"] for message in history.messages]


def other_writer(place: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(place), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "open\n"
    return process


def test_a_handler_waits_for_the_writer_of_another_process(place: Path) -> None:
    with other_writer(place, 0.5), MessageHistory.open("x", archive=place, wait=30) as history:
        history.add_user_message("mine")
        assert said(history) == ["theirs", "theirs too", "mine"]


def test_a_handler_waits_no_longer_than_it_said(place: Path) -> None:
    with other_writer(place, 3) as process:
        started = time.monotonic()
        with pytest.raises(HistoryConflict, match=f"written by process {process.pid}"):
            MessageHistory.open("x", archive=place, wait=0.2)
        assert 0.2 <= time.monotonic() - started < 2
        process.kill()


def test_two_handlers_of_one_process_share_a_history(place: Path) -> None:
    one = MessageHistory.open("x", archive=place)
    one.add_user_message("first")
    two = MessageHistory.open("x", archive=place)
    two.add_user_message("second")
    assert said(one) == said(two) == ["first", "second"]
    assert one.render("anthropic") == two.render("anthropic")
    one.close()
    with pytest.raises(RirekiError, match="the history x is closed"):
        one.add_user_message("too late")
    two.add_user_message("third")
    two.close()
    with MessageHistory.open("x", archive=place, read_only=True) as again:
        assert said(again) == ["first", "second", "third"]
    archive = open_archive(place)
    assert archive.find("rireki/x").conversation.messages == 3
    archive.close()


def test_handlers_in_threads_lose_nothing(place: Path) -> None:
    """Each opens, adds a pair in a transaction and closes, as a request does."""

    def handle(number: int) -> None:
        with MessageHistory.open("x", archive=place, wait=10) as history, history.transaction():
            history.add_user_message(f"{number} asked")
            history.add_raw_message({"role": "assistant", "content": f"{number} answered"})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(handle, range(60)))
    with MessageHistory.open("x", archive=place) as history:
        kept = said(history)
        assert history.troubles == []
    assert sorted(kept[::2]) == sorted(f"{number} asked" for number in range(60))
    pairs = zip(kept[::2], kept[1::2], strict=True)
    assert all(a.split()[0] == b.split()[0] for a, b in pairs), "a transaction is not torn apart"


def test_handlers_in_an_event_loop_lose_nothing(place: Path) -> None:
    async def handle(number: int) -> None:
        async with await AsyncMessageHistory.open("x", archive=place, wait=10) as history:
            await history.add_user_message(str(number))
            await asyncio.sleep(0)
            await history.render("openai")

    async def main() -> None:
        await asyncio.gather(*(handle(number) for number in range(30)))

    asyncio.run(main())
    with MessageHistory.open("x", archive=place) as history:
        assert sorted(said(history), key=int) == [str(number) for number in range(30)]


def test_processes_and_threads_at_once_lose_nothing(place: Path) -> None:
    program = """
import sys
from rireki import MessageHistory
for number in range(15):
    with MessageHistory.open("x", archive=sys.argv[1], wait=60) as history:
        history.add_user_message(f"{sys.argv[2]} {number}")
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(place), f"p{n}"]) for n in range(2)
    ]

    def handle(number: int) -> None:
        with MessageHistory.open("x", archive=place, wait=60) as history:
            history.add_user_message(f"t {number}")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(handle, range(15)))
    assert [process.wait(120) for process in processes] == [0, 0]
    with MessageHistory.open("x", archive=place) as history:
        assert len(set(said(history))) == len(said(history)) == 45


def test_two_handlers_of_one_thread_keep_their_transactions_apart(place: Path) -> None:
    """As two tasks of an event loop may have them."""
    one, two = (MessageHistory.open("x", archive=place) for _ in range(2))
    with pytest.raises(ValueError, match="taken back"), one.transaction():
        one.add_user_message("never")
        two.add_user_message("kept")
        raise ValueError("taken back")
    assert said(one) == ["kept"]
    one.close()
    two.close()


def test_a_forgotten_handle_does_not_close_the_history_of_another(place: Path) -> None:
    one = MessageHistory.open("x", archive=place)
    two = MessageHistory.open("x", archive=place)
    del one
    gc.collect()
    two.add_user_message("still open")
    two.close()
    command = "from rireki import MessageHistory; import sys; MessageHistory.open('x', archive=sys.argv[1])"
    subprocess.run([sys.executable, "-c", command, str(place)], check=True)


def test_who_asks_for_the_disk_gets_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(file: int) -> None:
        synced.append(file)
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    with (
        MessageHistory.open("x", archive=place) as one,
        MessageHistory.open("x", archive=place, sync="full") as two,
    ):
        two.add_user_message("safe")
        one.add_user_message("safe as well")
        assert len(synced) >= 2


def test_nothing_stays_behind_of_histories_that_were_closed(place: Path) -> None:
    from rireki.history import sharing

    before = threading.active_count()
    for number in range(20):
        with MessageHistory.open(f"h{number}", archive=place) as history:
            history.add_user_message("hi")
    assert sharing._slots == {} and threading.active_count() == before
