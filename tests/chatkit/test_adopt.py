"""The database of a sample store is taken over: all of it, once, and the old file stays as it was."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rireki.archive.open import open_archive
from rireki.chatkit import Adopted, RirekiStore
from rireki.cli.main import cli
from rireki.errors import RirekiError

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures" / "chatkit").glob("*.sqlite3"))
TABLES = ("threads", "items", "attachments")


def adopt(place: Path, old: Path, **more: Any) -> Adopted:
    async def run() -> Adopted:
        async with RirekiStore(user_key=str, archive=place, sync="os") as store:
            return await store.adopt(old, **more)

    return asyncio.run(run())


def rows_of(database: Path, table: str) -> dict[tuple[str, str], Any]:
    """What is in a table, by user and id."""
    with closing(sqlite3.connect(database)) as sql:
        statement = f"SELECT user_id, id, data FROM {table} ORDER BY rowid"
        return {(user, id): _plain(json.loads(data)) for user, id, data in sql.execute(statement)}


def _plain(value: Any) -> Any:
    """Samples wrap what they keep: `{"item": …}`."""
    return value if "id" in value else next(iter(value.values()))


def store_of(place: Path) -> Path:
    return place.parent / "chatkit" / "chatkit.sqlite3"


def made(folder: Path, threads: int = 3, items: int = 4) -> Path:
    """A database as the sample store makes it; two of a thread's items have the same moment."""
    folder.mkdir(parents=True, exist_ok=True)
    old = folder / "old.db"
    with closing(sqlite3.connect(old)) as sql, sql:
        sql.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, user_id, created_at, data)")
        sql.execute(
            "CREATE TABLE items (id TEXT PRIMARY KEY, thread_id, user_id, created_at, data)"
        )
        sql.execute("CREATE TABLE attachments (id TEXT PRIMARY KEY, user_id, data)")
        for number in range(threads):
            thread, user = f"thr_{number:08x}", f"user{number % 2}"
            value = {"id": thread, "created_at": f"2026-02-03T0{number % 9}:00:00", "metadata": {}}
            row = (thread, user, value["created_at"], json.dumps({"thread": value}))
            sql.execute("INSERT INTO threads VALUES (?, ?, ?, ?)", row)
            for index in range(items):
                item = _item(thread, index)
                at = item["created_at"]
                row = (item["id"], thread, user, at, json.dumps(item))  # type: ignore[assignment]
                sql.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?)", row)
        file = {"id": "atc_1", "name": "a.txt", "mime_type": "text/plain", "type": "file"}
        sql.execute("INSERT INTO attachments VALUES ('atc_1', 'user0', ?)", (json.dumps(file),))
    return old


def _item(thread: str, index: int) -> dict[str, Any]:
    at = f"2026-02-03T10:00:0{index // 2}"
    common = {"id": f"msg_{thread}_{index}", "thread_id": thread, "created_at": at}
    if index % 2:
        content: Any = [{"type": "output_text", "text": f"answer {index}", "annotations": []}]
        return {**common, "type": "assistant_message", "content": content}
    content = [{"type": "input_text", "text": f"question {index}"}]
    attached = [{"id": "atc_1", "name": "a.txt", "mime_type": "text/plain", "type": "file"}]
    first = thread == "thr_00000000" and index == 0
    return {
        **common,
        "type": "user_message",
        "content": content,
        "attachments": attached if first else [],
        "inference_options": {},
    }


@pytest.mark.parametrize("old", FIXTURES, ids=lambda path: path.stem)
def test_everything_of_a_sample_store_is_taken_over(old: Path, place: Path) -> None:
    before = sha256(old.read_bytes()).digest(), sorted(old.parent.iterdir())
    adopted = adopt(place, old)
    assert (sha256(old.read_bytes()).digest(), sorted(old.parent.iterdir())) == before
    for table in TABLES:
        theirs, ours = rows_of(old, table), rows_of(store_of(place), table)
        assert getattr(adopted, table) == len(theirs)
        plain = {id for _, id in theirs if id != "__fake_id__"}
        kept = {key: value for key, value in ours.items() if key[1] in plain}
        assert kept == {key: value for key, value in theirs.items() if key[1] in plain}
        assert len(ours) == len(theirs)


def test_items_stand_in_their_order_and_are_read_by_the_app(place: Path, tmp_path: Path) -> None:
    adopt(place, made(tmp_path / "old"))

    async def read() -> list[str]:
        async with RirekiStore(user_key=str, archive=place) as store:
            page = await store.load_thread_items("thr_00000001", None, 20, "asc", "user1")
            threads = await store.load_threads(20, None, "asc", "user0")
            assert [one.id for one in threads.data] == ["thr_00000000", "thr_00000002"]
            return [item.id for item in page.data]

    assert asyncio.run(read()) == [f"msg_thr_00000001_{index}" for index in range(4)]
    with closing(open_archive(place)) as archive:
        assert {one.native_id for one in archive.conversations()} >= {"thr_00000000"}


def test_repeating_it_adds_nothing_and_brings_nothing_back(place: Path, tmp_path: Path) -> None:
    old = made(tmp_path / "old")
    first = adopt(place, old)
    assert first.new == first.threads + first.items + first.attachments

    async def go_on() -> None:
        async with RirekiStore(user_key=str, archive=place) as store:
            await store.delete_thread("thr_00000000", "user0")
            thread = await store.load_thread("thr_00000001", "user1")
            thread.title = "The app went on"
            await store.save_thread(thread, "user1")

    asyncio.run(go_on())
    assert adopt(place, old).new == 0

    async def look() -> None:
        async with RirekiStore(user_key=str, archive=place) as store:
            assert (await store.load_thread("thr_00000001", "user1")).title == "The app went on"
            assert len((await store.load_threads(20, None, "asc", "user0")).data) == 1

    asyncio.run(look())


KILLED = """
import asyncio, os, signal, sys
from rireki.chatkit import RirekiStore
from rireki.chatkit import adopt

count = 0
put = adopt._insert
def insert(sql, value):
    global count
    put(sql, value)
    count += 1
    if count == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
adopt._insert = insert

async def main():
    async with RirekiStore(user_key=str, archive=sys.argv[1]) as store:
        await store.adopt(sys.argv[2])
asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no kill -9")
@pytest.mark.parametrize("after", [1, 8, 16])
def test_killed_in_the_middle_and_repeated_it_is_whole(
    place: Path, tmp_path: Path, after: int
) -> None:
    old = made(tmp_path / "old")
    command = [sys.executable, "-c", KILLED, str(place), str(old), str(after)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == -signal.SIGKILL
    adopted = adopt(place, old)
    assert (adopted.threads, adopted.items, adopted.attachments) == (3, 12, 1)
    for table in TABLES:
        assert list(rows_of(store_of(place), table)) == list(rows_of(old, table))


def test_files_of_the_old_app_come_along(place: Path, tmp_path: Path) -> None:
    old = made(tmp_path / "old")
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    (uploads / "atc_1").write_bytes(b"what was uploaded")
    assert adopt(place, old).without_bytes == ["atc_1"]
    assert adopt(place, old, files=uploads).files == 1
    digest = sha256(b"what was uploaded").hexdigest()
    (kept,) = [file for file in place.parent.rglob(digest) if file.is_file()]
    assert kept.read_bytes() == b"what was uploaded"
    with closing(open_archive(place)) as archive:
        strands = archive.strands("chatkit", "thr_00000000")
        assert b"what was uploaded" in [strand.document() for strand in strands]


def test_replies_under_a_placeholder_are_known_again(place: Path, tmp_path: Path) -> None:
    old = made(tmp_path / "old", threads=1)
    with closing(sqlite3.connect(old)) as sql, sql:
        sql.execute(
            """UPDATE items SET id = '__fake_id__',
                      data = json_set(data, '$.id', '__fake_id__') WHERE id LIKE '%_3'"""
        )
    assert adopt(place, old).new and adopt(place, old).new == 0
    assert len(rows_of(store_of(place), "items")) == 4


def test_a_row_that_is_no_json_is_named_and_costs_itself_alone(place: Path, tmp_path: Path) -> None:
    old = made(tmp_path / "old")
    with closing(sqlite3.connect(old)) as sql, sql:
        sql.execute("UPDATE items SET data = '{' WHERE id = 'msg_thr_00000001_1'")
    adopted = adopt(place, old)
    assert adopted.unreadable == ["items msg_thr_00000001_1"] and adopted.items == 11


def test_a_database_of_something_else_is_refused(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as sql, sql:
        sql.execute("CREATE TABLE notes (id)")
    with pytest.raises(RirekiError, match="no tables 'threads' and 'items'"):
        adopt(place, other)


def test_the_command_says_what_it_took_over(place: Path, tmp_path: Path) -> None:
    old = made(tmp_path / "old")
    command = ["--archive", str(place), "chatkit", "adopt", str(old), "--name", "support"]
    said = CliRunner().invoke(cli, command)
    assert said.exit_code == 0, said.output
    assert "3 threads, 12 items and 1 attachments are in the store 'support', 16 of them new" in (
        said.output
    )
    assert (place.parent / "chatkit" / "support.sqlite3").is_file()
