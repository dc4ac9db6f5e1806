"""A store in PostgreSQL has every property of one in a file, and several processes work on it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from inspect import signature
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rireki.chatkit import RirekiAttachmentStore, RirekiStore
from rireki.chatkit.conformance import speed
from rireki.chatkit.conformance.samples import attachment, reply, thread
from rireki.chatkit.postgres.work import schema_of
from rireki.chatkit.testing import StoreConformance
from rireki.errors import RirekiError
from tests.chatkit import test_contract
from tests.chatkit.stores import Context, in_postgres, sample, user_of
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ALICE: Context = {"user_id": "alice"}
THREAD = "thr_0000000a"
Ask = Callable[[RirekiStore[Context]], Awaitable[None]]
ADDING = """
import asyncio, sys
from pathlib import Path
from rireki.chatkit.conformance import speed
from rireki.chatkit.conformance.samples import reply
from tests.chatkit.stores import in_postgres
folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
async def main():
    async with in_postgres(folder) as store:
        for number in range(first, first + count):
            await store.add_thread_item("thr_0000000a", reply(number), {"user_id": "alice"})
            print(number, flush=True)
asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def _named(database: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setenv("RIREKI_TEST_STORE", database)
    if not request.config.getoption("--campaign"):
        # A long thread is ten times as long as a short one here, not fifty times.
        monkeypatch.setattr(speed, "MANY", 600)


class TestPostgres(StoreConformance):
    make_store = staticmethod(in_postgres)


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[Ask], None]:
    def ask(question: Ask) -> None:
        async def run() -> None:
            async with in_postgres(tmp_path) as store:
                await question(store)

        asyncio.run(run())

    return ask


#: Whatever asks a new store asks this one.
SAME = {
    name: test
    for name, test in vars(test_contract).items()
    if name.startswith("test_") and "asked" in signature(test).parameters
}
globals().update(SAME)


def test_there_are_tests_to_repeat() -> None:
    assert len(SAME) > 5


@pytest.fixture
def workers() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    with ExitStack() as stack:

        def begun(*arguments: object) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-c", ADDING, *map(str, arguments)],
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stdout and process.stdout.readline()
            return process

        yield begun


async def listed(store: RirekiStore[Context]) -> list[str]:
    there = (await store.load_thread_items(THREAD, None, 10**6, "asc", ALICE)).data
    back = (await store.load_thread_items(THREAD, None, 10**6, "desc", ALICE)).data
    assert there == back[::-1]
    return [item.id for item in there]


async def begun(folder: Path) -> None:
    async with in_postgres(folder) as store:
        await store.save_thread(thread(), ALICE)


def test_workers_that_add_while_the_server_restarts_lose_nothing(
    durable: PostgresServer,
    workers: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RIREKI_TEST_STORE", durable.database())
    asyncio.run(begun(tmp_path))
    worker, killed = workers(tmp_path, 0, 50), workers(tmp_path, 2000, 100_000)
    told: list[str] = []
    for process in (worker, killed):
        assert process.stdout
        told.append(process.stdout.readline().strip())
    durable.stop("immediate")
    durable.start()
    killed.kill()
    assert worker.stdout and killed.stdout
    told += worker.stdout.read().split()
    assert worker.wait(60) == 0, "it saw no error"
    told += killed.stdout.read().split("\n")[:-1]

    async def look() -> None:
        async with in_postgres(tmp_path) as store:
            found = await listed(store)
            assert len(set(found)) == len(found), "nothing is doubled"
            wanted = {reply(int(number)).id for number in told}
            assert wanted <= set(found) and len(found) <= len(wanted) + 1
            own = [reply(number).id for number in range(50)]
            assert [id for id in found if id in own] == own, "in the order they were added"

    asyncio.run(look())


def test_a_commit_whose_answer_is_lost_is_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a second time would make another row: a reply under a placeholder."""
    real = psycopg.Connection.execute
    broken: list[str] = []

    def unheard(self: Any, query: Any, *arguments: Any, **more: Any) -> Any:
        if query == "COMMIT" and broken == ["next"]:
            broken.clear()
            real(self, query)
            self.close()
        return real(self, query, *arguments, **more)

    async def main() -> None:
        async with in_postgres(tmp_path) as store:
            await store.save_thread(thread(), ALICE)
            monkeypatch.setattr(psycopg.Connection, "execute", unheard)
            for number in range(3):
                broken.append("next")
                said = [{"type": "output_text", "text": f"answer {number}"}]
                item = reply(number, id="__fake_id__", content=said)
                await store.add_thread_item(THREAD, item, ALICE)
                assert broken == []
            monkeypatch.undo()
            assert len(set(await listed(store))) == len(await listed(store)) == 3

    asyncio.run(main())


def test_stores_of_different_names_know_nothing_of_each_other(
    database: str, tmp_path: Path
) -> None:
    async def main() -> None:
        one: RirekiStore[Context] = RirekiStore(
            user_key=user_of, dsn=database, archive=tmp_path / "a.sqlite3"
        )
        long = "x" * 80
        other: RirekiStore[Context] = RirekiStore(
            user_key=user_of, dsn=database, name=long, archive=tmp_path / "a.sqlite3"
        )
        async with one, other:
            await one.save_thread(thread(), ALICE)
            assert (await other.load_threads(9, None, "asc", ALICE)).data == []
            assert len(schema_of(long)) <= 63

    asyncio.run(main())


def test_what_was_deleted_is_erased_in_time(tmp_path: Path, database: str) -> None:
    async def main() -> None:
        async with in_postgres(tmp_path) as store:
            await store.save_thread(thread(), ALICE)
            await store.add_thread_item(THREAD, reply(1), ALICE)
            await store.delete_thread(THREAD, ALICE)
            name = schema_of(tmp_path_name(tmp_path))
            count = (
                f"SELECT (SELECT count(*) FROM {name}.items), (SELECT count(*) FROM {name}.touched)"
            )
            with psycopg.connect(database, autocommit=True) as connection:
                assert connection.execute(count.encode()).fetchone() == (1, 1)
                await store.purge(timedelta(0))
                assert connection.execute(count.encode()).fetchone() == (0, 0)

    asyncio.run(main())


def tmp_path_name(folder: Path) -> str:
    return str(in_postgres(folder).work.pool.schema.partition("chatkit_")[2])  # type: ignore[attr-defined]


def test_uploads_and_another_store_are_taken_over(tmp_path: Path) -> None:
    async def main() -> None:
        old = sample(tmp_path)
        await old.save_thread(thread(), ALICE)
        await old.add_thread_item(THREAD, reply(1), ALICE)
        await old.save_attachment(attachment(), ALICE)
        (tmp_path / "files").mkdir()
        (tmp_path / "files" / attachment().id).write_bytes(b"bytes")
        async with in_postgres(tmp_path) as store:
            for new in (3, 0):
                adopted = await store.adopt(tmp_path / "sample.db", files=tmp_path / "files")
                assert (adopted.threads, adopted.items, adopted.new) == (1, 1, new)
            assert await listed(store) == [reply(1).id]
            uploads = RirekiAttachmentStore(store, base_url="http://127.0.0.1/files")
            content = await uploads.content(attachment().id, ALICE)
            assert content.path.read_bytes() == b"bytes"

    asyncio.run(main())


def test_a_store_that_is_closed_or_cannot_be_reached_says_so(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    async def main() -> None:
        store = in_postgres(tmp_path)
        await store.close()
        with pytest.raises(RirekiError, match="is closed"):
            await store.load_threads(1, None, "asc", ALICE)

    asyncio.run(main())
    with pytest.raises(RirekiError) as caught:
        RirekiStore(user_key=user_of, dsn=postgres.address("never"))
    assert caught.value.code == "postgres-no-database"
