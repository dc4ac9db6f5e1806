"""Rows of another program's database: found one by one, as that program saves them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.sources.amazon_q import tables
from rireki.sources.amazon_q.kiro import READER as KIRO
from rireki.sources.kit.places import Places
from rireki.sources.kit.sqlite import Database
from rireki.sources.reader import Known, Roll, Update
from tests.live.conftest import Kept, append, until
from tests.stress.test_amazon_q_writer import WRITER
from tests.support.q_rows import said, talk

#: Saves a row as Amazon Q does, from a process of its own.
SAVE = """
import sqlite3, sys
path, directory, value, mode = sys.argv[1:]
db = sqlite3.connect(path, timeout=5, isolation_level=None)
db.execute(f"PRAGMA journal_mode = {mode}")
db.execute("CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)")
db.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?)", (directory, value))
db.close()
"""
#: Writes, and keeps everybody out until it is told to go on.
HOLD = """
import sqlite3, sys
path, value = sys.argv[1:]
db = sqlite3.connect(path, timeout=5, isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
db.execute("INSERT INTO conversations VALUES ('/other', ?)", (value,))
sys.stdin.readline()
db.execute("COMMIT")
"""


@pytest.fixture
def database(home: Path) -> Path:
    path = home / ".local" / "share" / "amazon-q" / "data.sqlite3"
    path.parent.mkdir(parents=True)
    return path


def save(path: Path, value: dict[str, Any], directory: str = "/w", mode: str = "delete") -> None:
    arguments = [str(path), directory, json.dumps(value), mode]
    subprocess.run([sys.executable, "-c", SAVE, *arguments], check=True)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_row_is_kept_before_the_next_chat_destroys_it(
    kept: Kept, database: Path, without_sweeps: None, mode: str
) -> None:
    save(database, talk("c-1", said("m1", "one", "1")), mode=mode)
    kept.start()
    assert kept.turns("c-1") == 1
    save(database, talk("c-1", said("m1", "one", "1"), said("m2", "two", "2")), mode=mode)
    until(lambda: kept.turns("c-1") == 2, "the second turn")
    save(database, talk("c-2", said("n1", "other", "x")), mode=mode)
    until(lambda: kept.turns("c-2") == 1, "the chat that took its place")
    until(lambda: kept.find("c-1").upstream == "gone")  # type: ignore[union-attr]
    assert kept.turns("c-1") == 2


def test_a_database_that_was_put_aside_and_begun_anew(
    kept: Kept, database: Path, without_sweeps: None
) -> None:
    save(database, talk("c-1", said("m1", "one", "1")))
    kept.start()
    database.rename(database.with_name("data.old"))
    save(database, talk("c-2", said("n1", "two", "2")))
    until(lambda: kept.turns("c-2") == 1)
    until(lambda: kept.find("c-1").upstream == "gone")  # type: ignore[union-attr]
    assert kept.turns("c-1") == 1


def test_what_is_no_database_yet_is_told_and_tried_again(
    kept: Kept, database: Path, project: Path, without_sweeps: None
) -> None:
    keeper = kept.start()
    database.write_bytes(b"half a header")
    until(lambda: keeper.status.troubles, "the trouble")
    assert keeper.status.troubles[0].place == str(database)
    append(project / "00000000-0000-4000-8000-000000000001.jsonl", 1)
    until(lambda: kept.turns("00000000-0000-4000-8000-000000000001") == 1, "what is no trouble")
    database.unlink()
    save(database, talk("c-1", said("m1", "one", "1")))
    until(lambda: kept.turns("c-1") == 1)
    until(lambda: not keeper.status.troubles)


def test_a_trouble_ends_with_the_file_it_was_about(
    kept: Kept, database: Path, without_sweeps: None
) -> None:
    keeper = kept.start()
    database.write_bytes(b"half a header")
    until(lambda: keeper.status.troubles, "the trouble")
    database.unlink()
    until(lambda: not keeper.status.troubles, "its end")
    started = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - started < 0.3, "nothing is tried without end"


def test_a_locked_database_is_tried_again(
    kept: Kept, database: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.sources.kit.sqlite.PATIENCE", 10)
    save(database, talk("c-1", said("m1", "one", "1")))
    keeper = kept.start()
    value = json.dumps(talk("c-2", said("n1", "two", "2")))
    client = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(database), value], stdin=subprocess.PIPE, text=True
    )
    until(lambda: keeper.status.troubles, "the trouble")
    assert "is locked" in keeper.status.troubles[0].message
    client.communicate("go on\n")
    until(lambda: kept.turns("c-2") == 1)
    until(lambda: not keeper.status.troubles)


def test_no_save_fails_beside_a_keeper(kept: Kept, database: Path, without_sweeps: None) -> None:
    kept.start()
    writer = subprocess.run(
        [sys.executable, "-c", WRITER, str(database), "40", "0.05", "1000000"],
        capture_output=True,
        text=True,
        check=True,
    )
    saved, failed = map(int, writer.stdout.split())
    assert failed == 0
    until(lambda: kept.turns("c-1") == saved, "the last save")


# ── the price of one row among many ──

SCHEMA = """
CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL,
  value TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (key, conversation_id));
"""
INDEX = "CREATE INDEX by_time ON conversations_v2 (updated_at DESC)"
UPDATE = "UPDATE conversations_v2 SET value = ?, updated_at = ? WHERE conversation_id = ?"


@pytest.fixture
def many(home: Path) -> Path:
    path = home / ".local" / "share" / "kiro-cli" / "data.sqlite3"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as client:
        client.executescript(SCHEMA + INDEX)
        for number in range(300):
            value = json.dumps(talk(f"c-{number}", said(f"m{number}", "one", "1" * 20_000)))
            row = (f"/d/{number}", f"c-{number}", value, 1_767_225_600_000, 1_767_225_600_000)
            client.execute("INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)", row)
        client.commit()
    return path


def read(home: Path, cursors: dict[str, Any]) -> list[Update]:
    (origin,) = KIRO.discover(Places.at(home)).origins
    updates = [u for u in KIRO.read(origin, Known(dict(cursors))) if not isinstance(u, Roll)]
    cursors |= {update.key: update.cursor for update in updates}
    return updates


def test_one_changed_row_is_found_without_the_values_of_the_others(
    home: Path, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursors: dict[str, Any] = {}
    assert len(read(home, cursors)) == 300
    with closing(sqlite3.connect(many)) as client:
        value = json.dumps(talk("c-7", said("m7", "one", "2" * 20_000)))
        client.execute(UPDATE, (value, 1_767_225_601_000, "c-7"))
        client.commit()
    walked: list[int] = []
    statements: list[str] = []
    times, rows = tables._times_of, Database.rows

    def counted_times(database: Database, rowid: int) -> tuple[Any, Any]:
        walked.append(rowid)
        return times(database, rowid)

    def counted_rows(self: Database, statement: str, values: Any = ()) -> Any:
        statements.append(statement)
        return rows(self, statement, values)

    monkeypatch.setattr(tables, "_times_of", counted_times)
    monkeypatch.setattr(Database, "rows", counted_rows)
    (update,) = read(home, cursors)
    assert update.conversation == "c-7"
    assert set(walked) == {8}, "only the changed row is walked through"
    assert sum("CAST(value AS BLOB)" in statement for statement in statements) == 1
    assert len(statements) < 20, "however many rows there are"
    assert read(home, cursors) == []


def test_without_an_index_of_times_the_changed_row_is_found_as_well(home: Path, many: Path) -> None:
    cursors: dict[str, Any] = {}
    with closing(sqlite3.connect(many)) as client:
        client.execute("DROP INDEX by_time")
        client.commit()
        assert len(read(home, cursors)) == 300
        same = client.execute(
            "SELECT value FROM conversations_v2 WHERE conversation_id = 'c-9'"
        ).fetchone()[0]
        other = same.replace("1" * 100, "2" * 100)
        assert len(other) == len(same)
        client.execute(UPDATE, (other, 1_767_225_601_000, "c-9"))
        client.commit()
    assert [update.conversation for update in read(home, cursors)] == ["c-9"]


def test_rows_of_another_kind_and_rows_that_go_do_no_harm(home: Path, many: Path) -> None:
    with closing(sqlite3.connect(many)) as client:
        client.execute("DELETE FROM conversations_v2 WHERE rowid % 3 = 0")
        client.execute("UPDATE conversations_v2 SET value = 17 WHERE rowid % 5 = 0")
        client.commit()
    cursors: dict[str, Any] = {}
    found = read(home, cursors)
    assert len(found) == 200
    assert sum(update.conversation is None for update in found) == 40
    assert read(home, cursors) == []


def test_an_archive_that_is_full_of_rows_is_read_again_without_a_write(
    kept: Kept, home: Path, many: Path
) -> None:
    kept.start().stop()
    with closing(open_archive(kept.path)) as archive:
        number = archive.number()
        kept.start()
        assert archive.number() == number
