"""Workers that are killed, a server that is restarted, and many at once: 0 lost, 0 doubled.

`--campaign` does the same many more times.
"""

from __future__ import annotations

import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from rireki import MessageHistory
from rireki.errors import RirekiError
from rireki.journals.postgres import pool
from tests.history.test_postgres import HOLDING, said, started
from tests.support.postgres import PostgresServer

#: Adds numbered messages for ever, one in three within a transaction, and tells each that is kept.
WORKER = """
import sys
from rireki import MessageHistory
store, name, who, first, count = sys.argv[1:6]
with MessageHistory.open(name, store=store) as history:
    print("ready", flush=True)
    for number in range(int(first), int(first) + int(count)):
        if number % 3:
            history.add_user_message(f"{who} {number}")
        else:
            with history.transaction():
                history.add_user_message(f"{who} {number}")
        print(number, flush=True)
"""
MANY = """
import sys
from concurrent.futures import ThreadPoolExecutor
from rireki import MessageHistory
store, who = sys.argv[1:3]
print("ready", flush=True)
def work(number):
    with MessageHistory.open(f"{who}-{number}", store=store) as history:
        for count in range(10):
            history.add_user_message(f"message {count}")
with ThreadPoolExecutor(25) as threads:
    list(threads.map(work, range(25)))
"""


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    return 200 if request.config.getoption("--campaign") else 3


def told(process: subprocess.Popen[str]) -> list[int]:
    """What a worker said that it had kept; the last line may be cut off."""
    assert process.stdout
    return [int(line) for line in process.stdout.read().split("\n")[:-1]]


def test_a_kill_in_the_middle_of_an_add_loses_and_doubles_nothing(
    database: str, rounds: int
) -> None:
    dice = random.Random(20)
    acknowledged: list[int] = []
    first = 0
    for _ in range(rounds):
        with started(WORKER, database, "killed", "w", str(first), "100000") as process:
            assert process.stdout
            acknowledged.append(int(process.stdout.readline()))
            time.sleep(dice.random() * 0.05)
            process.kill()
            acknowledged += told(process)
        first = acknowledged[-1] + 2
    with MessageHistory.open("killed", store=database) as history:
        found = [int(text.split()[1]) for text in said(history)]
        assert len(set(found)) == len(found), "nothing is doubled"
        assert set(acknowledged) <= set(found), "nothing is lost"
        # Of each that was killed at most the one that it had not heard of.
        assert len(found) <= len(acknowledged) + rounds
        history.add_user_message("and it goes on")


def test_who_is_killed_in_a_transaction_holds_nobody_up(database: str) -> None:
    with started(HOLDING, database, "left") as process:
        process.kill()
        process.wait(20)
    with MessageHistory.open("left", store=database) as history, history.transaction():
        assert said(history) == []
        history.add_user_message("at once")


def test_a_restart_of_the_server_loses_and_doubles_nothing(
    durable: PostgresServer, rounds: int
) -> None:
    database = durable.database()
    count = 20 * rounds
    with ExitStack() as stack:
        processes = [
            stack.enter_context(started(WORKER, database, "restarted", f"w{n}", "0", str(count)))
            for n in range(2)
        ]
        for _ in range(max(rounds // 2, 1)):
            time.sleep(0.05)
            durable.stop("immediate")
            durable.start()
        for process in processes:
            assert told(process) == list(range(count)), "no worker saw an error"
            assert process.wait(60) == 0
    with MessageHistory.open("restarted", store=database) as history:
        found = said(history)
        for who in ("w0", "w1"):
            own = [text for text in found if text.startswith(who)]
            assert own == [f"{who} {number}" for number in range(count)]


def test_an_acknowledgement_that_is_lost_adds_nothing_twice(durable: PostgresServer) -> None:
    """The server commits, and its answer never arrives."""
    database = durable.database()
    with MessageHistory.open("unheard", store=database) as history:
        history.add_user_message("a")
        store = history._store
        journal = store._journal  # type: ignore[union-attr]
        real = type(journal)._append
        broken: list[bool] = []

        def unheard(connection, lines, known):  # type: ignore[no-untyped-def]
            added = real(journal, connection, lines, known)
            if not broken:
                broken.append(True)
                if connection.info.transaction_status.name == "INTRANS":
                    connection.execute("COMMIT")
                connection.close()
                connection.execute("SELECT 1")
            return added

        journal._append = unheard
        for text in ("b", "c"):
            broken.clear()
            history.add_user_message(text)
        broken.clear()
        with history.transaction():
            history.add_user_message("d")
        assert said(history) == ["a", "b", "c", "d"]
    with MessageHistory.open("unheard", store=database) as history:
        assert said(history) == ["a", "b", "c", "d"]


def test_fifty_workers_on_fifty_conversations(database: str) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(started(MANY, database, f"p{n}")) for n in range(2)]
        assert [process.wait(120) for process in processes] == [0, 0]

    def count(name: str) -> int:
        with MessageHistory.open(name, store=database, read_only=True) as history:
            return len(history)

    names = [f"p{n}-{number}" for n in range(2) for number in range(25)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(count, names)) == [10] * 50


def test_a_server_that_stops_for_good_is_told_in_words(
    durable: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "PATIENCE", 0.3)
    history = MessageHistory.open("stopped", store=durable.database())
    history.add_user_message("kept")
    durable.stop()
    try:
        with pytest.raises(RirekiError) as caught:
            history.add_user_message("nobody hears")
        assert caught.value.code == "postgres-gone"
        assert [message["content"] for message in history.messages] == ["kept"]
    finally:
        durable.start()
    history.add_user_message("back")
    assert said(history) == ["kept", "back"]
    history.close()
