"""What reading costs the archive and the agent, and what no row can do to us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rireki.errors import SourceTrouble
from rireki.sources.amazon_q import tables
from rireki.sources.amazon_q.reader import READER
from rireki.sources.kit import sqlite
from rireki.sources.kit.places import Places
from rireki.sources.reader import Known, Origin, Update
from tests.support.q_rows import Client, called, returned, said, talk, texts, words


@pytest.fixture
def q(tmp_path: Path) -> Client:
    return Client(tmp_path)


def read(q: Client) -> list[Update]:
    (origin,) = READER.discover(Places.at(q.home)).origins
    return [item for item in READER.read(origin, Known()) if isinstance(item, Update)]


def test_five_hundred_saves_cost_about_five_hundred_entries(q: Client) -> None:
    tools = {"native___": [{"ToolSpecification": {"name": "t", "description": "d" * 5000}}]}
    history = [said(f"m{n}", f"question {n} " * 5, f"answer {n} " * 20) for n in range(500)]
    for count in range(1, 501):
        q.save(talk("one", *history[:count], tools=tools))
        q.memory.import_home(q.home)
    last = len(json.dumps(talk("one", *history, tools=tools), separators=(",", ":")))
    assert q.stored < 1.5 * last
    assert (
        len(q.memory.lanes[str(q.database), q.memory.strands.copy().popitem()[0][1], "history"])
        == 500
    )
    reading = q.look()["one"]
    assert reading.conversation.turns == 500
    assert reading.conversation.upstream == "present"


def test_checkpoint_snapshots_cost_their_entries_once(q: Client) -> None:
    history = [said(f"m{n}", f"question {n}", "answer " * 200) for n in range(40)]
    for count in range(1, 41):
        points = [{"tag": str(n), "history_snapshot": history[:n]} for n in range(count)]
        q.save(talk("one", *history[:count], checkpoint_manager={"checkpoints": points}))
        q.memory.import_home(q.home)
    assert q.stored < 3 * len(json.dumps(talk("one", *history)))
    (strand,) = q.memory.strands.values()
    assert json.loads(strand.document())["checkpoint_manager"]["checkpoints"] == points


def test_a_row_of_fifty_megabytes(q: Client) -> None:
    log = "行 log line\n" * 3_000_000
    entry = called("m1", "cat the log", "", "t1", "execute_bash", command="cat log")
    q.save(talk("one", entry, returned("m2", "t1", log, "It is long.")))
    started = time.monotonic()
    reading = q.look()["one"]
    assert time.monotonic() - started < 20
    assert reading.conversation.tool_results == 1
    assert texts(reading.messages()[2]) == [log]


def test_a_long_value_is_read_in_slices(q: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    value = talk("one", said("m1", "a", "long " * 1000))
    q.save(value)
    monkeypatch.setattr(tables, "SLICE", 100)
    asked: list[int] = []
    read_slice = sqlite.Database.slice

    def listen(self: sqlite.Database, *place: Any) -> bytes | None:
        asked.append(place[-1])
        return read_slice(self, *place)

    monkeypatch.setattr(sqlite.Database, "slice", listen)
    q.look()
    (strand,) = q.memory.strands.values()
    assert json.loads(strand.document()) == value
    assert asked.count(100) > 50


@pytest.mark.parametrize("word", ["short", "longer"])
def test_a_row_saved_between_two_slices_is_read_again(
    q: Client, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    q.save(talk("one", said("m1", "a", "short " * 1000)))
    monkeypatch.setattr(tables, "SLICE", 1000)
    later = talk("one", said("m1", "b", f"{word} " * 1000))
    asked: list[str] = []
    read_slice = sqlite.Database.slice

    def save_meanwhile(self: sqlite.Database, *place: Any) -> bytes | None:
        if place[-2] == 2000 and word not in asked:
            asked.append(word)
            q.save(later)
        return read_slice(self, *place)

    monkeypatch.setattr(sqlite.Database, "slice", save_meanwhile)
    assert words(q.look()["one"]) == ["b", f"{word} " * 1000]
    assert asked == [word]


def test_a_value_nested_too_deeply_is_kept_and_the_rest_of_it_is_shown(q: Client) -> None:
    nested = "[" * 100_000 + "]" * 100_000
    value = json.dumps(talk("deep", said("m1", "a", "b"), called("m2", "go", "", "t", x="HERE")))
    deep = value.replace('"HERE"', nested)
    q.save(deep, "/deep")
    q.save(talk("fine", said("m1", "a", "b")), "/fine")
    updates = read(q)
    assert [update.conversation for update in updates] == ["deep", "fine"]
    assert [trouble.message for trouble in updates[0].troubles] == [
        "nested too deeply; its innermost is not shown"
    ]
    assert updates[0].contents[0].pieces[0].data == deep.encode()
    reading = q.look()["deep"]
    assert words(reading) == ["a", "b", "go"]
    assert reading.conversation.tool_calls == 1
    assert [trouble.message for trouble in reading.conversation.troubles] == [
        "nested too deeply; its innermost is not shown"
    ]


def test_a_value_nested_too_deeply_without_an_id_is_kept_and_reported(q: Client) -> None:
    q.save("[" * 100_000 + "]" * 100_000, "/deep")
    (update,) = read(q)
    assert [trouble.message for trouble in update.troubles] == ["a list, not a conversation"]


def test_an_argument_nested_deeply_costs_only_its_own_side(q: Client) -> None:
    nested = "[" * 700 + "]" * 700
    value = json.dumps(
        talk("one", called("m1", "go", "Going.", "t", x="HERE"), said("m2", "a", "b"))
    )
    q.save(value.replace('"HERE"', nested))
    assert words(q.look()["one"])[-2:] == ["a", "b"]


def test_half_a_surrogate_is_kept_and_shown_as_a_replacement(q: Client) -> None:
    value = talk("one", said("m1", "broken \ud800 half", "fine"), said("m2", "a", "b"))
    q.save(value)
    reading = q.look()["one"]
    assert words(reading)[:2] == ["broken � half", "fine"]
    assert words(reading)[-2:] == ["a", "b"]
    (strand,) = q.memory.strands.values()
    assert json.loads(strand.document()) == value


def test_bytes_that_are_no_utf8_cost_nothing_else(q: Client) -> None:
    text = json.dumps(talk("one", said("m1", "X", "fine"))).encode().replace(b"X", b"\xff\xfe")
    q.run("INSERT INTO conversations VALUES (?, CAST(? AS TEXT))", "/home/u/app", text)
    q.run("INSERT INTO conversations VALUES (CAST(? AS TEXT), '{}')", b"/\xff")
    reading = q.look()["one"]
    assert "fine" in words(reading)
    strands = {strand.conversation: strand for strand in q.memory.strands.values()}
    assert strands["one"].document() == text
    assert strands[None].project == "/\\xff"


def test_numbers_json_does_not_know_are_read_all_the_same(q: Client) -> None:
    q.save(json.dumps(talk("one", said("m1", "a", "b"))).replace('"tools"', '"odd": NaN, "tools"'))
    reading = q.look()["one"]
    assert words(reading) == ["a", "b"]
    assert reading.conversation.finished


# The real client waits five seconds; a tenth of that leaves room for a busy machine only.
WRITER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=0.5, isolation_level=None)
failed = 0
for number in range(60):
    try:
        value = '{"conversation_id":"w","history":[%s]}' % ",".join(["1"] * number)
        db.execute("INSERT OR REPLACE INTO conversations VALUES ('/w', ?)", (value,))
    except sqlite3.OperationalError:
        failed += 1
    time.sleep(0.05)
print(failed)
"""


def test_a_writer_without_patience_never_fails_while_we_read(q: Client) -> None:
    for number in range(300):
        q.save(talk(f"c{number}", said("m1", "a", "b" * 5000)), f"/home/u/{number}")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(q.database)], stdout=subprocess.PIPE, text=True
    )
    reads = 0
    while writer.poll() is None:
        reads += len(read(q)) > 0
    output, _ = writer.communicate()
    assert int(output) == 0
    assert reads > 2


def test_no_lock_is_held_between_two_updates(q: Client) -> None:
    for number in range(3):
        q.save(talk(f"c{number}", said("m1", "a", "b")), f"/home/u/{number}")
    (origin,) = READER.discover(Places.at(q.home)).origins
    items = READER.read(origin, Known())
    next(items)
    q.run("PRAGMA busy_timeout = 0")
    q.save(talk("meanwhile", said("m1", "a", "b")), "/home/u/other")
    assert len(list(items)) == 3


def test_a_row_replaced_while_we_read_is_read_as_it_is_now(q: Client) -> None:
    for name in ("a", "b"):
        q.save(talk(name, said("m1", "a", "b")), f"/home/u/{name}")
    (origin,) = READER.discover(Places.at(q.home)).origins
    items = READER.read(origin, Known())
    next(items)
    q.save(talk("new", said("m1", "a", "b")), "/home/u/b")
    q.run("DELETE FROM conversations WHERE key = '/home/u/a'")
    found = [item.conversation for item in items if isinstance(item, Update)]
    assert found == ["new"]


def test_only_the_conversation_tables_are_read(q: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    q.run("CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT)")
    q.run("INSERT INTO auth_kv VALUES ('token', 'secret')")
    q.save(talk("one", said("m1", "a", "b")))
    asked: list[str] = []
    rows = sqlite.Database.rows

    def listen(self: sqlite.Database, statement: str, values: Sequence[Any] = ()) -> Any:
        asked.append(statement)
        return rows(self, statement, values)

    monkeypatch.setattr(sqlite.Database, "rows", listen)
    q.look()
    assert asked and not any("auth_kv" in statement for statement in asked)
    # Of the schema only what a table of conversations is called and has.
    assert all("s.name = ?" in statement for statement in asked if "sqlite_" in statement)
    assert b"secret" not in b"".join(piece for lane in q.memory.lanes.values() for piece in lane)


def test_reading_leaves_no_files_behind(q: Client) -> None:
    q.save(talk("one", said("m1", "a", "b")))
    q.run("PRAGMA journal_mode = WAL")
    assert len(read(q)) == 1
    assert list(q.database.parent.iterdir()) == [q.database]


@contextmanager
def held_open(q: Client, script: str) -> Iterator[None]:
    """Another process has run the script and keeps the database as it left it."""
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(q.database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    try:
        yield
    finally:
        writer.communicate("\n")


def test_rows_that_are_only_in_the_write_ahead_log_are_seen(q: Client) -> None:
    script = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('PRAGMA journal_mode = WAL');"
        'db.execute("INSERT INTO conversations VALUES (\'/w\', \'{\\"conversation_id\\":\\"w\\"}\')");'
        "print('ready', flush=True); input()"
    )
    with held_open(q, script):
        assert [update.conversation for update in read(q)] == ["w"]


def origin_at(path: Path) -> Origin:
    return Origin(
        source="amazon-q", place=str(path), root=str(path.parent), form="database", role="database"
    )


def trouble_of(path: Path) -> SourceTrouble:
    with pytest.raises(SourceTrouble) as caught:
        list(READER.read(origin_at(path), Known()))
    assert str(path) in caught.value.message
    assert caught.value.hint
    return caught.value


def test_a_locked_database_is_a_trouble_with_a_hint(
    q: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 10)
    script = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('BEGIN EXCLUSIVE'); print('ready', flush=True); input()"
    )
    with held_open(q, script):
        assert "locked" in trouble_of(q.database).message


def test_a_change_that_was_never_finished_is_a_trouble_with_a_hint(q: Client) -> None:
    q.save(talk("one", said("m1", "a", "b")))
    script = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('PRAGMA cache_size = 1'); db.execute('PRAGMA cache_spill = 1'); db.execute('BEGIN');"
        "[db.execute('INSERT INTO conversations VALUES (?, ?)', (str(n), 'x' * 5000)) for n in range(200)];"
        "os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", script, str(q.database)], check=False)
    assert Path(f"{q.database}-journal").stat().st_size > 0
    assert "Start the agent" in trouble_of(q.database).hint


def test_what_is_no_database_is_a_trouble_with_a_hint(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite3"
    text.write_text("hello " * 1000)
    assert "not an SQLite database" in trouble_of(text).message
    empty = tmp_path / "empty.sqlite3"
    empty.write_bytes(b"")
    trouble_of(empty)
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(b"SQLite format 3\x00\x10\x00\x01\x01" + b"\xff" * 5000)
    trouble_of(damaged)
    trouble_of(tmp_path / "missing.sqlite3")
    trouble_of(tmp_path)


def test_a_named_pipe_does_not_hang_us(tmp_path: Path) -> None:
    pipe = tmp_path / "data.sqlite3"
    os.mkfifo(pipe)
    assert "not a plain file" in trouble_of(pipe).message
    assert READER.recognise(pipe) == []


def test_a_path_with_odd_characters(tmp_path: Path) -> None:
    q = Client(tmp_path / "a b?c#d%20é")
    q.save(talk("one", said("m1", "a", "b")))
    assert len(read(q)) == 1
