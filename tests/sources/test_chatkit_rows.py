"""Rows of a ChatKit database through its life: saved again, deleted, out of order, broken, locked."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from rireki.errors import SourceTrouble
from rireki.model.parts import Text, Unknown
from rireki.sources.chatkit import READER
from rireki.sources.kit import tables
from rireki.sources.kit.sqlite import Database
from rireki.sources.reader import Known, Origin, Roll, Update
from tests.sources.test_chatkit import AT, SCHEMA, THREAD, App, parts, words
from tests.support.memory import Memory

NAIVE = "2026-10-25T{}"


@pytest.fixture
def app(tmp_path: Path) -> App:
    app = App(tmp_path / "app" / "chat.db")
    app.thread()
    return app


def updates(origin: Origin, cursors: dict[str, Any]) -> list[Update]:
    found = [u for u in READER.read(origin, Known(dict(cursors))) if not isinstance(u, Roll)]
    cursors |= {update.key: update.cursor for update in found}
    return found


# ── versions ──


def test_importing_twice_adds_nothing(app: App) -> None:
    app.say("u1", "one")
    app.answer("a1", "two")
    cursors: dict[str, Any] = {}
    assert len(updates(app.origin, cursors)) == 1
    assert updates(app.origin, cursors) == []


def test_a_changed_row_is_one_new_record_and_the_old_one_stays(app: App) -> None:
    app.say("u1", "one")
    app.answer("a1", "first words")
    app.say("u2", "more")
    app.look()
    before = app.stored
    content = [{"type": "output_text", "text": "other words"}]
    app.save("a1", "assistant_message", content=content)
    reading = app.read()
    assert app.stored == before + 1
    assert words(reading)[1:] == ["one", "first words", "other words", "more"]
    old, new = (m for m in reading.messages() if m.id.startswith("a1"))
    assert (old.id, old.upstream, old.replaced_by) == ("a1~1", "gone", "a1")
    assert (new.id, new.upstream, new.replaced_by) == ("a1", "present", None)
    assert reading.conversation.upstream == "changed"
    assert reading.conversation.entries == 3


def test_a_row_of_the_same_length_is_noticed_too(app: App) -> None:
    app.answer("a1", "abc")
    app.look()
    app.run("UPDATE items SET data = replace(data, 'abc', 'abd')")
    assert "abd" in words(app.read())


def test_a_row_written_in_another_spelling_is_no_new_version(app: App) -> None:
    app.answer("a1", "same")
    app.look()
    before = app.stored
    (data,) = sqlite3.connect(app.path).execute("SELECT data FROM items").fetchone()
    value = json.loads(data)["item"]
    other = json.dumps({"item": dict(sorted(value.items(), reverse=True))}, indent=2)
    assert other != data
    app.run("UPDATE items SET data = ?", other)
    app.look()
    assert app.stored == before
    assert [m.id for m in app.read().messages()][1:] == ["a1"]


def test_a_retry_deletes_and_answers_anew(app: App) -> None:
    app.say("u1", "hello?")
    app.answer("a1", "bad")
    app.look()
    app.run("DELETE FROM items WHERE id = 'a1'")
    app.look()
    app.answer("a2", "good")
    reading = app.read()
    assert [(m.id, m.upstream) for m in reading.messages()][1:] == [
        ("u1", "present"),
        ("a1", "gone"),
        ("a2", "present"),
    ]


def test_a_deleted_thread_is_gone_and_complete(app: App) -> None:
    app.say("u1", "remember me")
    app.look()
    app.run("DELETE FROM items")
    app.run("DELETE FROM threads")
    reading = app.read()
    assert reading.conversation.upstream == "gone" and reading.conversation.held_by == []
    assert "remember me" in words(reading)
    app.thread()
    app.say("u1", "remember me", at=AT.format(1))
    assert app.read().conversation.upstream == "present"


def test_a_long_title_ends_with_a_whole_letter(app: App) -> None:
    app.say("u1", "x" * 149 + "か\u3099 and more")
    assert app.read().conversation.title == "x" * 149
    app.thread(title="y" * 149 + "か\u3099 and more")
    assert app.read().conversation.title == "y" * 149


def test_a_title_that_comes_later_is_the_title(app: App) -> None:
    app.say("u1", "how do I …")
    assert app.read().conversation.title == "how do I …"
    app.thread(title="Advice\non whisky", metadata={"k": "v"})
    reading = app.read()
    assert reading.conversation.title == "Advice on whisky"
    assert 'metadata: {"k":"v"}' in words(reading)[0]


def test_answers_that_share_a_placeholder_are_both_told(app: App) -> None:
    app.say("u1", "one?")
    app.answer("__fake_id__", "first answer")
    app.look()
    app.say("u2", "two?")
    content = [{"type": "output_text", "text": "second answer"}]
    value = {"id": "__fake_id__", "type": "assistant_message", "content": content}
    app.run(
        "UPDATE items SET data = ?, created_at = ? WHERE id = '__fake_id__'",
        json.dumps({"item": value}),
        AT.format(30),
    )
    reading = app.read()
    assert words(reading)[1:] == ["one?", "first answer", "two?", "second answer"]
    assert not any(m.replaced_by for m in reading.messages())


def test_vacuum_and_new_rowids_change_nothing(app: App) -> None:
    for number in range(4):
        app.answer(f"a{number}", f"{number}")
    app.run("DELETE FROM items WHERE id = 'a0'")
    app.look()
    before = app.stored, [s.states for s in app.memory.strands.values()]
    with closing(sqlite3.connect(app.path, isolation_level=None)) as database:
        database.execute("VACUUM")
        database.execute("INSERT OR REPLACE INTO items SELECT * FROM items WHERE id = 'a1'")
    app.look()
    assert app.stored == before[0]
    assert [m.upstream for m in app.read().messages()] == ["present"] * 4


def test_messages_have_names_of_their_own(app: App) -> None:
    call: dict[str, Any] = {"call_id": "c", "name": "n", "arguments": {}}
    app.item("a", "client_tool_call", status="completed", output=1, **call)
    for id in ("a-r", "a~1", f"{THREAD}-thread"):
        app.answer(id, "x")
    app.look()
    app.save("a", "client_tool_call", status="pending", output=None, **call)
    messages = app.read().messages()
    names = [m.id for m in messages]
    assert len(set(names)) == len(names) == 7
    assert all(m.replaced_by in (None, *names) for m in messages)
    assert sum(m.replaced_by is not None for m in messages) == 2


# ── files ──


def test_the_row_of_a_file_is_kept_with_the_thread_that_mentions_it(app: App) -> None:
    save = "INSERT OR REPLACE INTO attachments VALUES (?, 'u', ?)"
    app.run(save, "f1", '{"attachment":{"id":"f1","name":"n.txt"}}')
    app.run(save, "f2", '{"id":"f2","name":"never sent"}')
    app.say("u1", "look", attachments=[{"id": "f1", "name": "n.txt", "mime_type": "text/plain"}])
    app.look()
    strands = {strand.key: strand for strand in app.memory.strands.values()}
    kept = json.loads(strands[json.dumps([THREAD, "u"])].document())["attachments"]
    assert [row["id"] for row in kept] == ["f1"]
    alone = strands[json.dumps(["attachment", "f2", "u"])]
    assert alone.conversation is None and json.loads(alone.document())["id"] == "f2"
    before = app.stored
    app.run(save, "f1", '{"attachment":{"id":"f1","name":"n.txt","thread_id":"x"}}')
    app.look()
    assert app.stored == before + 1
    cursors = dict(app.memory.cursors[str(app.path)])
    assert updates(app.origin, cursors) == []


# ── order and times ──


def test_equal_times_keep_the_order_of_arrival(app: App) -> None:
    for number in range(6):
        app.answer(f"z{9 - number}", f"{number}", at=AT.format(7))
    assert words(app.read())[1:] == list("012345")


def test_offsets_are_compared_as_moments_and_not_as_text(app: App) -> None:
    app.answer("late", "late", at="2026-11-15T10:00:00+00:00")
    app.answer("early", "early", at="2026-11-15T18:30:00+09:00")
    app.answer("last", "last", at="2026-11-15T05:30:00-05:00")
    assert words(app.read())[1:] == ["early", "late", "last"]
    assert [m.at for m in app.read().messages()][1:] == [
        "2026-11-15T09:30:00.000Z",
        "2026-11-15T10:00:00.000Z",
        "2026-11-15T10:30:00.000Z",
    ]


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_time_without_offset_is_local_and_stays_what_it_was(app: App, in_tokyo: None) -> None:
    app.answer("a1", "one", at="2026-11-15T18:00:00.5")
    assert app.read().messages()[1].at == "2026-11-15T09:00:00.500Z"
    before = app.stored
    app.answer("a2", "two", at="2026-11-15T09:00:01Z")
    reading = app.read()
    assert words(reading)[1:] == ["one", "two"]
    assert app.stored == before + 1


def test_the_hour_that_comes_twice_in_autumn_is_told_in_order(app: App, in_berlin: None) -> None:
    times = ["02:50:00", "02:55:00", "02:10:00", "02:40:00", "03:05:00"]
    for number, at in enumerate(times):
        app.answer(f"a{number}", f"{number}", at=NAIVE.format(at))
    assert words(app.read())[1:] == list("01234")
    assert [m.at for m in app.read().messages()][1:] == [
        "2026-10-25T00:50:00.000Z",
        "2026-10-25T00:55:00.000Z",
        "2026-10-25T01:10:00.000Z",
        "2026-10-25T01:40:00.000Z",
        "2026-10-25T02:05:00.000Z",
    ]


def test_what_has_no_time_follows_its_elder(app: App) -> None:
    app.answer("a1", "first", at=AT.format(20))
    app.answer("a2", "whenever", at="soon")
    app.answer("a3", "before both", at=AT.format(10))
    reading = app.read()
    assert words(reading)[1:] == ["before both", "first", "whenever"]
    assert reading.messages()[-1].at is None


def test_numbers_are_times_as_well(tmp_path: Path) -> None:
    schema = SCHEMA.replace("created_at TEXT", "created_at REAL")
    app = App(tmp_path / "chat.db", schema)
    app.thread(at="2026")
    for id, at in (("b", 1_794_700_000_000), ("a", 1_794_600_000.5)):
        value = json.dumps({"item": {"id": id, "type": "end_of_turn"}})
        app.run("INSERT INTO items VALUES (?, ?, 'u', ?, ?)", id, THREAD, at, value)
    assert [(m.id, m.at) for m in app.read().messages()][1:] == [
        ("a", "2026-11-13T20:00:00.500Z"),
        ("b", "2026-11-14T23:46:40.000Z"),
    ]


# ── names ──


def test_users_do_not_share_a_thread(tmp_path: Path) -> None:
    schema = SCHEMA.replace("id TEXT PRIMARY KEY", "id TEXT")
    app = App(tmp_path / "chat.db", schema)
    for name in ("main", THREAD):
        for user in ("alice", "bob"):
            app.run("INSERT INTO threads VALUES (?, ?, ?, '{}')", name, user, AT.format(0))
            app.say(f"{name}-{user}", f"I am {user}", thread=name, user=user)
    found = app.look()
    said = {id: words(reading)[-1] for id, reading in found.items()}
    assert sorted(said.values()) == ["I am alice"] * 2 + ["I am bob"] * 2
    assert said[f"chatkit/{THREAD}"] == "I am alice"
    named = sorted(id for id in said if id.startswith("chatkit/main@"))
    assert len(named) == 2 and "chatkit/main" not in said
    assert app.look().keys() == found.keys()


def test_the_same_id_in_two_databases_is_two_conversations(tmp_path: Path) -> None:
    memory = Memory(READER)
    for number in (1, 2):
        app = App(tmp_path / f"{number}.db")
        app.thread(at=AT.format(number))
        app.say("u1", f"database {number}")
        memory.take(app.origin)
    said = {id: words(reading)[-1] for id, reading in memory.readings().items()}
    assert said.pop(f"chatkit/{THREAD}") == "database 1"
    ((id, text),) = said.items()
    assert id.startswith(f"chatkit/{THREAD}@") and text == "database 2"


def test_a_copy_of_a_database_adds_only_what_it_has_beyond(app: App, tmp_path: Path) -> None:
    app.say("u1", "in both")
    app.answer("a1", "in both, then changed")
    app.look()
    copy = App.__new__(App)
    copy.path, copy.memory, copy.count = tmp_path / "copy.db", app.memory, app.count
    shutil.copyfile(app.path, copy.path)
    copy.say("u2", "only in the copy")
    content = [{"type": "output_text", "text": "changed"}]
    copy.save("a1", "assistant_message", content=content)
    copy.look()
    ((id, reading),) = app.memory.readings().items()
    assert id == f"chatkit/{THREAD}"
    assert words(reading)[1:] == ["in both", "in both, then changed", "changed", "only in the copy"]
    assert [m.id for m in reading.messages()][1:] == ["u1", "a1~1", "a1", "u2"]
    assert reading.conversation.project == str(tmp_path)


@pytest.mark.parametrize(
    "name", ["", "@shared", "a/b", "../x", "a b", "\n", "x" * 500, "日本", "-rf", "x" * 20_000]
)
def test_a_strange_name_becomes_one_that_is_safe(tmp_path: Path, name: str) -> None:
    app = App(tmp_path / "chat.db")
    app.thread(id=name)
    app.say("u1", "hello", thread=name)
    ((id, reading),) = app.look().items()
    assert id.startswith("chatkit/thread@") and len(id) < 40 and id.isascii()
    assert "hello" in words(reading)


# ── what is not as it should be ──


def test_broken_rows_cost_one_trouble_each_and_not_their_neighbours(app: App) -> None:
    app.answer("a1", "before")
    broken: list[Any] = ["{", "", b"\xff\xfe", "[]", "7", '"x"', "null", 17, 1.5]
    for number, data in enumerate(broken):
        values = (f"b{number}", THREAD, "u", AT.format(10 + number), data)
        app.run("INSERT INTO items VALUES (?, ?, ?, ?, ?)", *values)
    app.answer("a2", "after", at=AT.format(40))
    reading = app.read()
    assert words(reading)[1:] == ["before", "after"]
    troubles = reading.conversation.troubles
    assert [t.place for t in troubles] == [
        f"{app.path}: items row b{number}" for number in range(len(broken))
    ]
    assert all(t.message and t.hint for t in troubles)
    unknown = [part for part in parts(reading.messages()) if isinstance(part, Unknown)]
    assert len(unknown) == len(broken)
    kept = json.loads(next(iter(app.memory.strands.values())).document())["items"]
    assert [row.get("data:text", row.get("data")) for row in kept[1:-1]] == [
        "{", "", None, [], 7, "x", None, 17, 1.5
    ]  # fmt: skip
    assert kept[3]["data:base64"] == "//4="


def test_what_a_row_said_before_it_broke_is_still_told(app: App) -> None:
    app.answer("a1", "sound")
    app.look()
    app.run("UPDATE items SET data = '{'")
    reading = app.read()
    assert "sound" in words(reading) and len(reading.conversation.troubles) == 1
    assert not any(m.replaced_by for m in reading.messages())


@pytest.mark.parametrize(
    "text", ['{"item":{"id":"a","type":"x","n":NaN}}', '{"id":"a","type":"x","n":"\\ud800"}']
)
def test_json_that_is_not_quite_json_is_read_all_the_same(app: App, text: str) -> None:
    app.run("INSERT INTO items VALUES ('a', ?, 'u', ?, ?)", THREAD, AT.format(1), text)
    reading = app.read()
    assert not reading.conversation.troubles
    assert reading.messages()[-1].label == "x"
    (row,) = json.loads(next(iter(app.memory.strands.values())).document())["items"]
    assert row["data:text"] == text


def test_values_without_a_wrapper_and_items_without_a_thread(app: App) -> None:
    value = {
        "id": "a",
        "type": "assistant_message",
        "content": [{"type": "output_text", "text": "x"}],
    }
    app.run("INSERT INTO items VALUES ('a', 'thr_00000000', 'u', '', ?)", json.dumps(value))
    reading = app.read("thr_00000000")
    assert words(reading) == ["user: u", "x"] and not reading.conversation.troubles


def test_json_nested_without_end(app: App) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    data = f'{{"item":{{"id":"a","type":"hidden_context_item","content":{deep}}}}}'
    app.run("INSERT INTO items VALUES ('a', ?, 'u', ?, ?)", THREAD, AT.format(1), data)
    app.answer("a2", "after")
    assert "after" in words(app.read())


def test_a_long_value_comes_whole_and_a_change_at_its_end_is_seen(app: App) -> None:
    text = "0123456789" * 1_000_000
    app.answer("a1", text)
    assert words(app.read())[1] == text
    app.run("UPDATE items SET data = replace(data, '9\"}]}}', '8\"}]}}')")
    assert words(app.read())[-1] == text[:-1] + "8"


def test_columns_of_its_own_are_kept(tmp_path: Path) -> None:
    schema = SCHEMA.replace("data TEXT NOT NULL", "data TEXT NOT NULL, 'my \"score' BLOB")
    app = App(tmp_path / "chat.db", schema)
    app.run("INSERT INTO threads VALUES (?, 'u', '', '{}', ?)", THREAD, b"\x00\xff")
    app.run("INSERT INTO items VALUES ('a', ?, 'u', '', '{}', 1e999)", THREAD)
    app.look()
    (strand,) = app.memory.strands.values()
    document = json.loads(strand.document())
    assert document["threads"][0]['my "score:base64'] == "AP8="
    assert document["items"][0]['my "score:text'] == "inf"
    app.run("UPDATE items SET 'my \"score' = 2")
    app.look()
    assert json.loads(strand.document())["items"][0]['my "score'] == 2


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE other (id)",
        "CREATE TABLE threads (id, data)",
        "CREATE TABLE threads (id, data); CREATE TABLE items (id, data)",
        "CREATE TABLE threads (id, data); CREATE VIEW items AS SELECT 1 id, 2 thread_id, 3 data",
        "CREATE TABLE threads (id, data);"
        "CREATE TABLE items (id PRIMARY KEY, thread_id, data) WITHOUT ROWID",
    ],
)
def test_other_tables_are_left_alone(tmp_path: Path, schema: str) -> None:
    app = App(tmp_path / "chat.db", schema)
    assert READER.recognise(app.path) == []
    origin = Origin(
        source="chatkit", place=str(app.path), root=str(tmp_path), form="database", role="database"
    )
    with pytest.raises(SourceTrouble, match=r"chat\.db: has no tables") as caught:
        list(READER.read(origin, Known()))
    assert "thread_id" in caught.value.hint


def test_the_barest_tables_will_do(tmp_path: Path) -> None:
    schema = "CREATE TABLE threads (id, data); CREATE TABLE items (id, thread_id, data)"
    app = App(tmp_path / "chat.db", schema)
    for id, at in (("b", AT.format(9)), ("a", AT.format(3))):
        value = {"id": id, "type": "hidden_context_item", "content": id, "created_at": at}
        app.run("INSERT INTO items VALUES (?, ?, ?)", id, THREAD, json.dumps({"item": value}))
    reading = app.read()
    assert words(reading) == ["a", "b"]
    assert [m.at for m in reading.messages()] == [
        "2026-11-15T18:00:03.000Z",
        "2026-11-15T18:00:09.000Z",
    ]


def test_a_database_in_sixteen_bits(tmp_path: Path) -> None:
    app = App(tmp_path / "chat.db", "PRAGMA encoding = 'UTF-16le';" + SCHEMA)
    app.thread(title="余市")
    app.say("u1", "どれがいい？")
    reading = app.read()
    assert reading.conversation.title == "余市" and "どれがいい？" in words(reading)


def test_rows_in_a_write_ahead_log_are_seen(app: App) -> None:
    with closing(sqlite3.connect(app.path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        value = json.dumps({"item": {"id": "a", "type": "hidden_context_item", "content": "new"}})
        stamp = app.origin.stamp
        writer.execute("INSERT INTO items VALUES ('a', ?, 'u', '', ?)", (THREAD, value))
        assert app.origin.stamp != stamp
        assert "new" in words(app.read())


def test_a_locked_database_is_a_trouble_that_says_so(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.sources.kit.sqlite.PATIENCE", 1)
    origin = app.origin
    with closing(apsw.Connection(str(app.path))) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SourceTrouble, match=r"chat\.db: is locked") as caught:
            list(READER.read(origin, Known()))
        assert "import again" in caught.value.hint


def test_the_app_can_save_at_any_moment_of_a_reading(app: App) -> None:
    """No lock is held while updates are handed out."""
    for number in range(3):
        app.thread(id=f"thr_0000000{number}")
        app.say(f"u{number}", "x" * 40_000, thread=f"thr_0000000{number}")
    # Through the same library as ours: two of them in one process do not see each other's locks.
    with closing(apsw.Connection(str(app.path))) as writer:
        count = 0
        for _ in READER.read(app.origin, Known()):
            count += 1
            value = (f"n{count}", THREAD, "u", "", "{}")
            writer.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?)", value)
    assert count == 5


# ── the price of one row among many ──


def test_a_changed_row_is_found_without_the_values_of_other_threads(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(app.path)) as database:
        for number in range(300):
            thread = f"thr_{number % 30:08x}"
            value = json.dumps({"item": {"id": f"i{number}", "content": "x" * 20_000}})
            row = (f"i{number}", thread, "u", AT.format(1), value)
            database.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?)", row)
        database.commit()
    cursors: dict[str, Any] = {}
    assert len(updates(app.origin, cursors)) == 31
    app.run("UPDATE items SET data = replace(data, 'x\"}}', 'y\"}}') WHERE id = 'i7'")
    fetched: list[int] = []
    statements: list[str] = []
    fetch, rows = tables.fetch, Database.rows

    def counted_fetch(database: Database, table: Any, rowids: Any, largest: int) -> Any:
        fetched.extend(rowids)
        return fetch(database, table, rowids, largest)

    def counted_rows(self: Database, statement: str, values: Any = ()) -> Any:
        statements.append(statement)
        return rows(self, statement, values)

    monkeypatch.setattr("rireki.sources.chatkit.rows.fetch", counted_fetch)
    monkeypatch.setattr(Database, "rows", counted_rows)
    (update,) = updates(app.origin, cursors)
    assert update.conversation == "thr_00000007"
    assert fetched == list(range(8, 301, 30)), "only the rows of its thread"
    assert len(statements) < 25, "however many rows there are"
    assert updates(app.origin, cursors) == []


def test_a_row_that_goes_while_it_is_read_is_simply_not_there(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.answer("a1", "x" * 300_000)
    app.answer("a2", "stays")
    slice = Database.slice

    def late(self: Database, table: str, column: str, rowid: int, start: int, size: int) -> Any:
        if size == tables.SLICE:
            app.run("DELETE FROM items WHERE id = 'a1'")
        return slice(self, table, column, rowid, start, size)

    monkeypatch.setattr(Database, "slice", late)
    assert words(app.read())[1:] == ["stays"]


def test_the_text_of_a_message_stands_in_its_record(app: App) -> None:
    app.answer("a1", "word " * 60)
    reading = app.read()
    (ref,) = reading.records()["a1"]
    strand = next(iter(app.memory.strands.values()))
    (record,) = strand.fetch(ref.lane, [ref.record])
    assert (ref.strand, ref.lane) == (strand.id, "items")
    assert b"word " * 60 in record
    assert isinstance(reading.messages()[1].parts[0], Text)
