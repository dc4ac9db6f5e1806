"""What our store promises beyond what every store must."""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from chatkit.store import NotFoundError
from chatkit.types import ClientToolCallItem

from rireki.archive.open import open_archive
from rireki.chatkit import RirekiStore, rows
from rireki.chatkit.conformance.samples import FutureItem, moment, reply, thread, typed
from rireki.chatkit.conformance.speed import file_bytes
from rireki.chatkit.database import connect
from rireki.chatkit.sql import StoreSql
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.sources.chatkit.names import STORE_ID
from tests.chatkit.stores import Context, ours, user_of
from tests.support.at_once import assert_many_can

ALICE, BOB = {"user_id": "alice"}, {"user_id": "bob"}
THREAD = "thr_0000000a"
FAKE = "__fake_id__"


async def _begun(store: RirekiStore[Context], *items: Any) -> RirekiStore[Context]:
    await store.save_thread(thread(), ALICE)
    for item in items:
        await store.add_thread_item(THREAD, item, ALICE)
    return store


async def _texts(store: RirekiStore[Context]) -> list[str]:
    page = await store.load_thread_items(THREAD, None, 100, "asc", ALICE)
    return [item.content[0].text for item in page.data if item.type == "assistant_message"]


def _fake(text: str, at: int = 0) -> Any:
    return reply(0, moment(at), id=FAKE, content=[{"type": "output_text", "text": text}])


def _rows(store: RirekiStore[Context], query: str) -> list[tuple[Any, ...]]:
    # Through the same library as the store: two copies of SQLite in a process undo each other's locks.
    database = apsw.Connection(str(store.path))
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


# ── users ──


def test_a_store_without_a_way_to_tell_users_is_not_made(place: Path) -> None:
    with pytest.raises(TypeError, match="user_key"):
        RirekiStore(archive=place)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="user_key"):
        RirekiStore(user_key="alice", archive=place)  # type: ignore[arg-type]


async def _refused(place: Path, nobody: Any) -> None:
    store: RirekiStore[Context] = RirekiStore(user_key=lambda context: nobody, archive=place)
    async with store:
        with pytest.raises(RirekiError, match="user_key gave"):
            await store.load_threads(1, None, "asc", {})


@pytest.mark.parametrize("nobody", ["", None, 7])
def test_a_context_that_stands_for_nobody_is_refused(place: Path, nobody: Any) -> None:
    asyncio.run(_refused(place, nobody))


# ── placeholders ──


def test_two_replies_of_one_turn_under_a_placeholder_are_both_kept(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with ours(tmp_path) as store:
            await _begun(store, typed(1), _fake("one"), _fake("two", 1))
            return await _texts(store)

    assert asyncio.run(talk()) == ["one", "two"]


def test_saving_under_a_placeholder_means_the_reply_of_this_turn(tmp_path: Path) -> None:
    async def talk() -> None:
        async with ours(tmp_path) as store:
            await _begun(store, typed(1), _fake("one"), typed(2))
            await store.save_item(THREAD, _fake("two", 1), ALICE)
            await store.save_item(THREAD, _fake("two, better", 2), ALICE)
            assert await _texts(store) == ["one", "two, better"]
            found: Any = await store.load_item(THREAD, FAKE, ALICE)
            assert found.content[0].text == "two, better" and found.id != FAKE
            await store.add_thread_item(THREAD, typed(3), ALICE)
            await store.delete_thread_item(THREAD, FAKE, ALICE)
            assert await _texts(store) == ["one", "two, better"], "that turn is over"

    asyncio.run(talk())


def test_a_reply_that_is_added_twice_unchanged_is_one(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with ours(tmp_path) as store:
            await _begun(store, typed(1), _fake("one"), _fake("one"))
            return await _texts(store)

    assert asyncio.run(talk()) == ["one"]


def test_a_call_and_a_reply_under_one_placeholder_are_two(tmp_path: Path) -> None:
    """Agents on Chat Completions give their calls of tools no other id than their replies."""
    value = {"id": FAKE, "thread_id": THREAD, "created_at": moment(0)}
    call = ClientToolCallItem.model_validate(
        value | {"call_id": "c", "name": "where", "arguments": {}}
    )

    async def talk() -> list[str]:
        async with ours(tmp_path) as store:
            await _begun(store, typed(1), call)
            await store.save_item(THREAD, _fake("here", 1), ALICE)
            await store.save_item(THREAD, _fake("here it is", 2), ALICE)
            page = await store.load_thread_items(THREAD, None, 9, "asc", ALICE)
            assert await _texts(store) == ["here it is"]
            assert FAKE not in {item.id for item in page.data}
            return [item.type for item in page.data]

    assert asyncio.run(talk()) == ["user_message", "client_tool_call", "assistant_message"]


# ── what this ChatKit does not know ──


def test_fields_of_a_later_chatkit_survive_a_save(tmp_path: Path) -> None:
    async def talk() -> dict[str, Any]:
        async with ours(tmp_path) as store:
            await _begun(store, reply(1))
            (data,) = _rows(store, "SELECT data FROM items")[0]
            value = json.loads(data)
            value["mood"] = "good"
            value["content"][0]["tone"] = {"deep": [1]}
            database = apsw.Connection(str(store.path))
            database.execute("UPDATE items SET data = ?", (json.dumps(value),))
            database.close()
            loaded: Any = await store.load_item(THREAD, reply(1).id, ALICE)
            loaded.content[0].text = "new"
            await store.save_item(THREAD, loaded, ALICE)
            saved: dict[str, Any] = json.loads(_rows(store, "SELECT data FROM items")[0][0])
            return saved

    saved = asyncio.run(talk())
    assert saved["mood"] == "good"
    assert saved["content"][0] == {
        "type": "output_text",
        "text": "new",
        "annotations": [],
        "tone": {"deep": [1]},
    }


@pytest.mark.parametrize("unknown", ["skip", "hidden"])
def test_an_unknown_item_is_passed_over_or_hidden_and_never_lost(
    tmp_path: Path, unknown: Any
) -> None:
    future: Any = FutureItem(id="hol_1", thread_id=THREAD, created_at=moment(1), beam={"a": 1})

    async def talk() -> None:
        archive = tmp_path / "archive.sqlite3"
        async with RirekiStore(user_key=user_of, archive=archive, unknown=unknown) as store:
            await _begun(store, reply(0), future)
            page = await store.load_thread_items(THREAD, None, 9, "asc", ALICE)
            types = [item.type for item in page.data]
            hidden = ["hidden_context_item"] if unknown == "hidden" else []
            assert types == ["assistant_message", *hidden]
            stand_in = await store.load_item(THREAD, "hol_1", ALICE)
            await store.save_item(THREAD, stand_in, ALICE)
            raw = json.loads(_rows(store, "SELECT data FROM items WHERE id = 'hol_1'")[0][0])
            assert raw["type"] == "hologram" and raw["beam"] == {"a": 1}

    asyncio.run(talk())


# ── deleting ──


def test_what_is_deleted_is_gone_for_the_app_and_kept_for_the_archive(tmp_path: Path) -> None:
    async def talk() -> None:
        async with ours(tmp_path) as store:
            await _begun(store, reply(1), reply(2))
            await store.delete_thread_item(THREAD, reply(2).id, ALICE)
            await store.delete_thread(THREAD, ALICE)
            assert _rows(store, "SELECT count(*) FROM items WHERE deleted_at IS NULL") == [(0,)]
            assert _rows(store, "SELECT count(*) FROM items") == [(2,)]
            # The same names again are another thread and another item.
            await _begun(store, reply(1))
            assert await _texts(store) == ["answer 1"]
            await store.purge(timedelta(0))
            assert _rows(store, "SELECT count(*) FROM items") == [(1,)]
            assert await _texts(store) == ["answer 1"]

    asyncio.run(talk())


def test_erasing_leaves_no_byte_in_the_file(tmp_path: Path) -> None:
    secret = "a phrase that nobody else says"

    async def talk() -> Path:
        archive = tmp_path / "archive.sqlite3"
        async with RirekiStore(user_key=user_of, archive=archive, erase=True) as store:
            said = [{"type": "output_text", "text": secret}]
            await _begun(store, reply(1, content=said), reply(2, content=said))
            await store.delete_thread_item(THREAD, reply(2).id, ALICE)
            await store.delete_thread(THREAD, ALICE)
            assert _rows(store, "SELECT count(*) FROM items") == [(0,)]
            log = Path(f"{store.path}-wal")
            assert log.exists() and not log.stat().st_size, "what went is still in the log"
        return store.path

    path = asyncio.run(talk())
    for file in path.parent.iterdir():
        assert secret.encode() not in file.read_bytes(), file.name


# ── many at once ──


def test_32_tasks_add_to_8_threads_and_the_loop_goes_on(tmp_path: Path) -> None:
    """What the clock says of it is a figure of bench/chatkit.py: here, what no other load can change."""

    async def talk() -> tuple[float, int]:
        async with ours(tmp_path) as store:
            threads = [f"thr_{number:08x}" for number in range(8)]
            for id in threads:
                await store.save_thread(thread(id), ALICE)
            await _storm(store, threads, 1)
            before = file_bytes() or 0
            # A machine that is taken away for a moment counts as work: once, not three times.
            longest = min([await _storm(store, threads, each) for each in (10, 11, 12)])
            moved = (file_bytes() or 0) - before
            for id in threads:
                page = await store.load_thread_items(id, None, 1000, "asc", ALICE)
                back = await store.load_thread_items(id, None, 1000, "desc", ALICE)
                ids = [item.id for item in page.data]
                assert len(set(ids)) == len(ids) == 4 * (1 + 10 + 11 + 12)
                assert ids == [item.id for item in back.data][::-1]
            return longest, moved

    longest, moved = asyncio.run(talk())
    assert longest < 0.02, "the loop worked that long for the store before others had a turn"
    assert moved < 3000, "the loop's thread read or wrote files itself"


async def _storm(store: RirekiStore[Context], threads: list[str], each: int) -> float:
    """The longest that the loop's thread worked between two turns of another task."""
    longest, done = 0.0, False

    async def tick() -> None:
        nonlocal longest
        last = time.thread_time()
        while not done:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, last = max(longest, now - last), now

    async def add(task: int) -> None:
        for number in range(each):
            item = reply(each * 1000 + task * 20 + number)
            await store.add_thread_item(threads[task % 8], item, ALICE)

    # To collect what other tests left behind is not the store's work.
    gc.disable()
    try:
        ticking = asyncio.create_task(tick())
        await asyncio.gather(*(add(task) for task in range(32)))
        done = True
        await ticking
    finally:
        gc.enable()
    return longest


def test_the_loop_goes_on_while_another_process_holds_the_file(tmp_path: Path) -> None:
    async def talk() -> None:
        async with ours(tmp_path) as store:
            await _begun(store, reply(1))
            other = apsw.Connection(str(store.path))
            other.execute("BEGIN IMMEDIATE")
            adding = asyncio.create_task(store.add_thread_item(THREAD, reply(2), ALICE))
            for _ in range(200):
                # Each of them a turn of the loop, and a read that nobody holds up.
                assert await _texts(store) == ["answer 1"]
            assert not adding.done()
            other.execute("COMMIT")
            other.close()
            await adding
            assert await _texts(store) == ["answer 1", "answer 2"]

    asyncio.run(talk())


def test_a_change_that_fails_takes_back_itself_alone(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with ours(tmp_path) as store:
            await _begun(store)
            adding = [store.add_thread_item(THREAD, reply(n), ALICE) for n in range(5)]
            adding.insert(2, store.add_thread_item("thr_never", reply(9), ALICE))
            adding.insert(4, store.add_thread_items(THREAD, [reply(7), reply(8)], ALICE))
            results = await asyncio.gather(*adding, return_exceptions=True)
            wrong = [result for result in results if result is not None]
            assert len(wrong) == 1 and isinstance(wrong[0], NotFoundError)
            return await _texts(store)

    assert asyncio.run(talk()) == [f"answer {n}" for n in (0, 1, 2, 7, 8, 3, 4)]


def test_what_was_begun_is_finished_although_its_caller_is_cancelled(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with ours(tmp_path) as store:
            await _begun(store)
            adding = asyncio.create_task(store.add_thread_item(THREAD, reply(1), ALICE))
            await asyncio.sleep(0)
            adding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding
            await store.add_thread_item(THREAD, reply(2), ALICE)
            return await _texts(store)

    assert asyncio.run(talk()) == ["answer 1", "answer 2"]


def test_two_stores_on_one_file_see_each_other(tmp_path: Path) -> None:
    async def talk() -> None:
        async with ours(tmp_path) as one, ours(tmp_path) as two:
            await _begun(one, reply(1))
            await asyncio.gather(
                *(one.add_thread_item(THREAD, reply(n), ALICE) for n in range(2, 20)),
                *(two.add_thread_item(THREAD, reply(n), ALICE) for n in range(20, 40)),
            )
            assert sorted(await _texts(one)) == sorted(await _texts(two))
            assert len(await _texts(one)) == 39

    asyncio.run(talk())


# ── the file ──


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_are_read_along_an_index(tmp_path: Path, order: str) -> None:
    async def talk() -> list[str]:
        async with ours(tmp_path) as store:
            await _begun(store, *(reply(n) for n in range(5)))
            asked: list[tuple[str, Any]] = []

            def note(_: Any, statement: str, values: Any) -> bool:
                asked.append((statement, values))
                return True

            def look(sql: StoreSql) -> None:
                assert isinstance(sql, apsw.Connection)
                sql.exec_trace = note
                rows.list_items(sql, "alice", THREAD, reply(2).id, 1, order)
                sql.exec_trace = None

            await store.work.read(look)
            statement, values = asked[-1]
            return await store.work.read(
                lambda sql: [
                    str(row[3]) for row in sql.execute(f"EXPLAIN QUERY PLAN {statement}", values)
                ]
            )

    (plan,) = asyncio.run(talk())
    assert plan.startswith(
        "SEARCH items USING INDEX items_in_order (user_id=? AND thread_id=? AND ro"
    )


def test_a_store_of_the_first_format_is_brought_up(tmp_path: Path) -> None:
    """And whoever reads along learns of everything that was there before."""
    archive = tmp_path / "archive.sqlite3"
    path = Home(archive).store("chatkit")
    path.parent.mkdir()
    database = apsw.Connection(str(path))
    schema = Path(rows.__file__).with_name("schema") / "001.sql"
    database.execute(schema.read_text(encoding="utf-8"))
    database.execute(f"PRAGMA application_id = {STORE_ID}; PRAGMA user_version = 1")
    for table, values in (("threads (id", (THREAD,)), ("items (thread_id, id", (THREAD, "msg_1"))):
        data = (thread() if len(values) == 1 else reply(1, id="msg_1")).model_dump_json()
        marks = ", ".join("?" * (len(values) + 3))
        database.execute(
            f"INSERT INTO {table}, user_id, created_at, data) VALUES ({marks})",
            (*values, "alice", "2026-03-02T09:30:00Z", data),
        )
    database.close()

    async def talk() -> None:
        async with ours(tmp_path) as store:
            assert await _texts(store) == ["answer 1"]
            assert _rows(store, "SELECT user_id, thread_id FROM touched") == [("alice", THREAD)]
            await store.add_thread_item(THREAD, reply(2), ALICE)
        with closing(open_archive(archive)) as kept:
            (found,) = kept.conversations()
            assert found.entries == 2

    asyncio.run(talk())


def test_another_programs_database_and_a_newer_format_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE theirs (a)")
    database.close()
    with pytest.raises(RirekiError, match="another program's database"):
        RirekiStore(user_key=user_of, archive=tmp_path, path=other)
    newer = tmp_path / "newer.db"
    database = sqlite3.connect(newer)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(RirekiError, match="newer rireki"):
        RirekiStore(user_key=user_of, archive=tmp_path, path=newer)
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to be taken for one" * 40)
    with pytest.raises(RirekiError, match=r"text\.db: is not an SQLite database"):
        RirekiStore(user_key=user_of, archive=tmp_path, path=text)
    with pytest.raises(RirekiError, match="cannot be the name"):
        RirekiStore(user_key=user_of, archive=tmp_path, name="../up")


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async def talk() -> None:
        store = ours(tmp_path)
        await store.close()
        await store.close()
        with pytest.raises(RirekiError, match="is closed"):
            await store.save_thread(thread(), ALICE)
        with pytest.raises(RirekiError, match="is closed"):
            await store.load_thread(THREAD, BOB)

    asyncio.run(talk())


def test_a_limit_below_one_is_refused(tmp_path: Path) -> None:
    async def talk() -> None:
        async with ours(tmp_path) as store:
            with pytest.raises(ValueError, match="limit"):
                await store.load_threads(0, None, "asc", ALICE)

    asyncio.run(talk())


def test_a_disk_that_is_full_fails_the_call_and_nothing_else(tmp_path: Path) -> None:
    async def talk() -> None:
        async with ours(tmp_path) as store:
            await _begun(store, reply(1))
            await store.work.change(lambda sql: sql.execute("PRAGMA max_page_count = 1"))
            words = [{"type": "output_text", "text": "x" * 500_000}]
            adding = [
                store.add_thread_item(THREAD, reply(n, content=words), ALICE) for n in range(2, 5)
            ]
            results = await asyncio.gather(*adding, return_exceptions=True)
            assert all(
                isinstance(one, RirekiError) and "disk is full" in str(one) for one in results
            )
            await store.work.change(lambda sql: sql.execute(f"PRAGMA max_page_count = {1 << 30}"))
            await store.add_thread_item(THREAD, reply(5), ALICE)
            assert await _texts(store) == ["answer 1", "answer 5"]

    asyncio.run(talk())


def test_many_can_make_the_store_at_once(tmp_path: Path) -> None:
    """As the workers of an app do when it starts for the first time."""
    assert_many_can(tmp_path, lambda path: connect(path).close())
