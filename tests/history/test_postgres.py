"""Histories that several processes write at once; and what is said when their database fails."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rireki import AsyncMessageHistory, HistoryConflict, MessageHistory
from rireki.agent import Agent, Scripted, later
from rireki.chatkit import RirekiStore
from rireki.errors import NotFound, RirekiError
from rireki.journals.postgres import pool as pools
from rireki.journals.postgres.journal import SCHEMA
from tests.agent.conftest import question
from tests.history.conftest import calls, says
from tests.support.postgres import PostgresServer

ADDING = """
import sys
from rireki import MessageHistory
store, name, who, count = sys.argv[1:5]
print("ready", flush=True)
sys.stdin.readline()
with MessageHistory.open(name, store=store) as history:
    for number in range(int(count)):
        if number % 5 == 4:
            with history.transaction():
                history.add_user_message(f"{who} {number} a")
                history.add_user_message(f"{who} {number} b")
        else:
            history.add_user_message(f"{who} {number}")
"""
HOLDING = """
import sys, time
from rireki import MessageHistory
with MessageHistory.open(sys.argv[2], store=sys.argv[1]) as history, history.transaction():
    print("held", flush=True)
    sys.stdin.readline()
    history.add_user_message("theirs")
"""
ANSWERING = """
import sys
from rireki import MessageHistory
from rireki.agent import Agent, Scripted, later
with MessageHistory.open("agent", store=sys.argv[1]) as history:
    agent = Agent(Scripted([]), history=history, ask=later)
    import asyncio
    (question,) = asyncio.run(agent.questions())
    asyncio.run(agent.answer(question.id, "March"))
"""


def said(history: MessageHistory) -> list[Any]:
    return [message["content"] for message in history.get_messages()]


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Those that a test started, ended with it."""
    with ExitStack() as stack:
        found: list[subprocess.Popen[str]] = []
        yield found
        for process in found:
            stack.enter_context(process)
            process.kill()


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdout.readline()
    return process


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def test_processes_and_threads_at_once_lose_nothing(
    database: str, processes: list[subprocess.Popen[str]]
) -> None:
    """They also make the tables at once, and the first entry."""
    processes += [started(ADDING, database, "busy", f"p{n}", "10") for n in range(3)]
    for process in processes:
        go_on(process)

    def handle(number: int) -> None:
        with MessageHistory.open("busy", store=database) as history:
            history.add_user_message(f"t {number}")

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(handle, range(10)))
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with MessageHistory.open("busy", store=database) as history:
        found = said(history)
        assert len(set(found)) == len(found) == 3 * 12 + 10
        for who in ("p0", "p1", "p2"):
            own = [text for text in found if text.startswith(who)]
            assert own == sorted(own), "each one's own are in the order it added them in"
            pair = found.index(f"{who} 4 a")
            assert found[pair + 1] == f"{who} 4 b", "nobody came between those of a transaction"
        starts = [e for e in history._log.entries.values() if e.kind == "start"]
        assert len(starts) == 1
        entries = list(history._log.entries.values())
        assert [entry.seq for entry in entries] == list(range(len(entries)))
        assert all(after.parent == before.id for before, after in pairwise(entries))


def test_a_transaction_waits_its_turn(database: str) -> None:
    with MessageHistory.open("turns", store=database) as history:
        history.add_user_message("first")
        with started(HOLDING, database, "turns") as process:
            waiting = threading.Thread(target=history.add_user_message, args=["mine"])
            waiting.start()
            waiting.join(0.3)
            assert waiting.is_alive(), "it waits for the transaction of the other"
            go_on(process)
            waiting.join(20)
        assert said(history) == ["first", "theirs", "mine"]


def test_a_transaction_sees_what_came_before_it(database: str) -> None:
    with (
        started(HOLDING, database, "seen") as process,
        MessageHistory.open("seen", store=database) as history,
    ):
        threading.Timer(0.2, go_on, [process]).start()
        with history.transaction():
            assert said(history) == ["theirs"]
            assert history.pop_message() == {"role": "user", "content": "theirs"}
        assert said(history) == []


def test_who_waits_too_long_for_a_turn_is_told(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(pools.SETTINGS, "lock_timeout", "200ms")
    monkeypatch.setattr(pools, "_pools", {})
    with (
        started(HOLDING, database, "long") as process,
        MessageHistory.open("long", store=database) as history,
    ):
        with pytest.raises(HistoryConflict, match="another worker has held the history long"):
            history.clear()
        go_on(process)
        process.wait(20)
        history.clear()
        assert said(history) == []


def test_an_error_in_a_transaction_leaves_nothing_of_it(database: str) -> None:
    with MessageHistory.open("taken-back", store=database) as history:
        with pytest.raises(ValueError, match="taken back"), history.transaction():
            history.add_user_message("never")
            raise ValueError("taken back")
        assert said(history) == []
    with psycopg.connect(database) as connection:
        query = f"SELECT 1 FROM {SCHEMA}.history WHERE conversation = 'taken-back'"
        assert connection.execute(query).fetchall() == [], "nothing said leaves nothing behind"


def test_two_handles_of_one_thread_keep_their_transactions_apart(database: str) -> None:
    one, two = (MessageHistory.open("apart", store=database) for _ in range(2))
    with pytest.raises(ValueError, match="taken back"), one.transaction():
        one.add_user_message("never")
        two.add_user_message("kept")
        raise ValueError("taken back")
    assert said(one) == ["kept"]
    with one.transaction():
        one.add_user_message("later")
        two.add_user_message("sooner")
    assert said(one) == said(two) == ["kept", "sooner", "later"]
    one.close()
    two.close()
    with pytest.raises(RirekiError, match="is closed"):
        one.add_user_message("too late")
    assert said(one)[:1] == ["kept"], "what it held can still be read"


def test_who_only_reads_follows_what_is_written(database: str) -> None:
    with pytest.raises(NotFound, match="there is no history never"):
        MessageHistory.open("never", store=database, read_only=True)
    with MessageHistory.open("followed", store=database, title="Followed") as history:
        history.add_user_message("one")
        with MessageHistory.open("rireki/followed", store=database, read_only=True) as reader:
            history.add_user_message("two")
            assert said(reader) == ["one", "two"] and reader.title == "Followed"
            with pytest.raises(RirekiError, match="read only"):
                reader.add_user_message("no")


def test_a_fork_holds_everything_and_goes_its_own_way(database: str) -> None:
    with MessageHistory.open("forked", store=database) as history:
        history.add_user_message("both")
        with history.fork("its-fork") as fork:
            fork.add_user_message("its own")
            assert said(fork) == ["both", "its own"] and said(history) == ["both"]
            for name in ("its-fork", "forked"):
                with pytest.raises(RirekiError, match="already"):
                    history.fork(name)
    with MessageHistory.open("its-fork", store=database) as fork:
        assert said(fork) == ["both", "its own"]
        with pytest.raises(RirekiError, match="already"):
            fork.fork("forked")


def test_an_archived_conversation_goes_on_there(database: str, place: Path) -> None:
    with MessageHistory.open("local", archive=place, title="Local") as local:
        local.add_user_message("begun on a laptop")
    with MessageHistory.from_conversation(
        "rireki/local", "from-local", place, store=database
    ) as history:
        assert said(history) == ["begun on a laptop"] and history.title == "Local"


def test_it_is_searched_with_what_is_hidden(database: str) -> None:
    with MessageHistory.open("searched", store=database) as history:
        history.add_user_message("a needle in it")
        history.clear()
        history.add_user_message("nothing here")
        assert [hit.snippet.text for hit in history.search("needle")] == ["a needle in it"]


def test_any_text_comes_back(database: str) -> None:
    odd = 'NUL \0, half a pair \ud83d, 履歴, "quoted" \\ and 𝕏'
    with MessageHistory.open("odd", store=database) as history:
        history.add_user_message(odd)
        history.add_raw_message({"role": "assistant", "content": [{"type": "text", "n": 2**70}]})
        written = history.get_messages()
    with MessageHistory.open("odd", store=database) as history:
        assert history.get_messages() == written and written[0]["content"] == odd


def test_rows_that_are_no_entries_cost_themselves_alone(database: str) -> None:
    with MessageHistory.open("damaged", store=database) as history:
        for text in "abc":
            history.add_user_message(text)
    with psycopg.connect(database) as connection:
        statement = f"UPDATE {SCHEMA}.entry SET line = %s WHERE conversation = %s AND place = 2"
        connection.execute(statement.encode(), (b"{", "damaged"))
    with MessageHistory.open("damaged", store=database) as history:
        assert said(history) == ["a", "c"]
        assert "entry 2 cannot be read" in history.troubles[0]
        history.add_user_message("d")
    with MessageHistory.open("damaged", store=database) as history:
        assert said(history) == ["a", "c", "d"]


def test_rows_that_somebody_removed_are_told(database: str) -> None:
    with MessageHistory.open("removed", store=database) as history:
        history.add_user_message("a")
        with psycopg.connect(database) as connection:
            for table in ("entry", "history"):
                connection.execute(
                    f"DELETE FROM {SCHEMA}.{table} WHERE conversation = 'removed'".encode()
                )
        with pytest.raises(RirekiError, match="has fewer entries than were read"):
            history.add_user_message("b")


# ── with an event loop ──


def test_the_loop_goes_on_while_another_worker_holds_the_history(database: str) -> None:
    async def main(process: subprocess.Popen[str]) -> None:
        async with await AsyncMessageHistory.open("loop", store=database) as history:
            adding = asyncio.create_task(history.add_user_message("mine"))
            reading = asyncio.create_task(history.get_messages())
            ticks = 0
            while ticks < 20:
                before = time.monotonic()
                await asyncio.sleep(0.01)
                assert time.monotonic() - before < 1
                ticks += 1
            assert not adding.done()
            go_on(process)
            await adding
            assert [m["content"] for m in await reading] == ["theirs", "mine"]

    with started(HOLDING, database, "loop") as process:
        asyncio.run(main(process))


# ── an agent whose question another worker answers ──


def test_a_call_that_waits_is_answered_by_another_worker(database: str) -> None:
    with MessageHistory.open("asked", store=database) as history:
        history.add_user_message("Deploy it.")
        history.add_raw_message(calls("q1", name="ask_user"))
        program = """
import sys
from rireki import MessageHistory
with MessageHistory.open("asked", store=sys.argv[1]) as history:
    (call,) = history.pending_calls()
    assert call.waiting
    history.add_tool_result(call.id, "yes", call.name)
"""
        subprocess.run([sys.executable, "-c", program, database], check=True, timeout=60)
        assert history.pending_calls() == []
        assert "yes" in str(history.render("anthropic").messages[-1])
        history.add_raw_message(says("Done."))


def test_an_agent_goes_on_when_another_worker_has_answered(database: str) -> None:
    async def main() -> None:
        async with await AsyncMessageHistory.open("agent", store=database) as history:
            llm = Scripted([question("q1", "Which month?"), "March it is."])
            agent = Agent(llm, history=history, ask=later)
            assert (await agent.run("Send the invoices.")).reason == "waiting"
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", ANSWERING, database
            )
            assert await process.wait() == 0
            assert await agent.questions() == []
            assert (await agent.run()).text == "March it is."
            assert "March" in str(llm.requests[-1].messages)

    asyncio.run(main())


def test_of_two_workers_that_answer_at_once_one_is_told(database: str) -> None:
    with MessageHistory.open("twice", store=database) as history:
        history.add_user_message("Deploy it.")
        history.add_raw_message(calls("q1", name="ask_user"))
        start = threading.Barrier(4)

        def answer(number: int) -> str:
            store = f"{database}&application_name=worker-{number}"
            with MessageHistory.open("twice", store=store) as own:
                start.wait(20)
                try:
                    asyncio.run(Agent(Scripted([]), history=own, ask=later).answer("q1", "yes"))
                except RirekiError as error:
                    return error.code
            return "kept"

        with ThreadPoolExecutor(4) as threads:
            codes = sorted(threads.map(answer, range(4)))
        assert codes == ["kept", *["no-open-question"] * 3]
        assert history.pending_calls() == [] and len(said(history)) == 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_examples_of_the_page_run(database: str, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "workers.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    names: dict[str, object] = {"database": database, "uploads": tmp_path / "support"}
    for number, example in enumerate(examples):
        exec(compile(example, f"workers.md, example {number + 1}", "exec"), names)
    store = names["store"]
    assert isinstance(store, RirekiStore)
    asyncio.run(store.close())


# ── what is said ──


def code_of(error: pytest.ExceptionInfo[RirekiError]) -> str:
    message, hint = error.value.lines("ja")
    assert message and hint and message != error.value.message
    assert "secret" not in message + hint + str(error.value)
    return error.value.code


@pytest.mark.parametrize(
    "address", ["postgresql://u:secret x@h/x", "postgresql://u:secret@h/x?nothing=1", "invoices"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(RirekiError) as caught:
        MessageHistory.open(store=address)
    assert code_of(caught) == "postgres-misnamed"


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RirekiError) as caught:
        MessageHistory.open(store="postgresql://me:secret@127.0.0.1:9/x")
    assert code_of(caught) == "postgres-gone"


def test_a_database_that_is_not_there(postgres: PostgresServer) -> None:
    with pytest.raises(RirekiError) as caught:
        MessageHistory.open(store=postgres.address("never"))
    assert code_of(caught) == "postgres-no-database"


def test_a_password_that_is_wrong_or_missing(postgres: PostgresServer) -> None:
    postgres.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all guarded scram-sha-256\n{before}")
    postgres.execute("SELECT pg_reload_conf()")
    try:
        for user in ("guarded:secret", "guarded", "nobody-at-all"):
            with pytest.raises(RirekiError) as caught:
                MessageHistory.open(store=postgres.address("postgres", user))
            assert code_of(caught) == "postgres-refused"
    finally:
        rules.write_text(before)
        postgres.execute("SELECT pg_reload_conf()")


def test_a_user_without_rights(postgres: PostgresServer) -> None:
    postgres.execute("CREATE ROLE reader LOGIN")
    database = postgres.database()
    name = database.partition("@/")[2].partition("?")[0]
    for prepared in (False, True):
        if prepared:
            MessageHistory.open("x", store=database).close()
        with pytest.raises(RirekiError) as caught:
            MessageHistory.open("x", store=postgres.address(name, "reader"))
        assert code_of(caught) == "postgres-no-rights"
    for statement in (
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO reader",
        f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {SCHEMA} TO reader",
    ):
        postgres.execute(statement, name)
    with MessageHistory.open("x", store=postgres.address(name, "reader")) as history:
        history.add_user_message("granted")


def test_tables_of_a_newer_version(postgres: PostgresServer) -> None:
    database = postgres.database()
    MessageHistory.open(store=database).close()
    with psycopg.connect(database) as connection:
        connection.execute(f"INSERT INTO {SCHEMA}.version VALUES (99)".encode())
    with pytest.raises(RirekiError) as caught:
        # As another process would: this one knows its tables already.
        MessageHistory.open(store=f"{database}&application_name=another")
    assert code_of(caught) == "postgres-newer"


def test_who_only_reads_makes_no_tables(postgres: PostgresServer) -> None:
    database = postgres.database()
    with pytest.raises(NotFound):
        MessageHistory.open("x", store=database, read_only=True)
    with psycopg.connect(database) as connection:
        query = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
        assert connection.execute(query, (SCHEMA,)).fetchall() == []


def test_processes_that_open_an_empty_database_at_once(
    postgres: PostgresServer, processes: list[subprocess.Popen[str]]
) -> None:
    database = postgres.database()
    processes += [started(ADDING, database, f"h{n}", "p", "1") for n in range(4)]
    for process in processes:
        go_on(process)
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]


def test_without_psycopg_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ModuleNotFoundError(name='psycopg')")
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from rireki import MessageHistory
try:
    MessageHistory.open(store="postgresql:///x")
except Exception as error:
    print(type(error).__name__, error.code, error.hint)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert told.startswith("RirekiError postgres-not-installed") and "rireki[team]" in told
