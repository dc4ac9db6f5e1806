"""A value of somebody's database that is too large to be one record: kept in pieces, named, given back.

The databases are written by another process, as agents do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import Report, import_history
from rireki.intake.verify import verify
from rireki.model.strand import Strand
from rireki.sources.kit import jsonl, rows, sqlite
from rireki.sources.kit.places import Places

MB = 1 << 20
LARGEST = 1 * MB
PIECE = 64 << 10

_WRITER = """
import json, sqlite3, sys
path, statement, *values = json.load(sys.stdin)
sql = sqlite3.connect(path)
sql.executescript(statement) if not values else sql.execute(statement, values)
sql.commit()
"""
_Q = "CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);"
_Q_V2 = """CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL,
    value TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    PRIMARY KEY (key, conversation_id));"""
_CHATKIT = """CREATE TABLE threads (id TEXT PRIMARY KEY, user_id TEXT, created_at TEXT, data TEXT);
    CREATE TABLE items (id TEXT PRIMARY KEY, thread_id TEXT, user_id TEXT, created_at TEXT, data TEXT);
    CREATE TABLE attachments (id TEXT PRIMARY KEY, user_id TEXT, data TEXT);"""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with a hundredth of the bytes: a value of 1 MB is the largest, pieces have 64 KB."""
    monkeypatch.setattr("rireki.intake.take.largest", lambda: LARGEST)
    monkeypatch.setattr(jsonl, "PIECE", PIECE)
    monkeypatch.setattr(rows, "PIECE", PIECE)


def run(database: Path, statement: str, *values: object) -> None:
    said = json.dumps([str(database), statement, *values])
    subprocess.run([sys.executable, "-c", _WRITER], input=said, text=True, check=True)


def take_in(archive: Archive, home: Path) -> Report:
    return import_history(archive, places=Places.at(home))


def saved(conversation: str, words: str) -> str:
    """A conversation as Amazon Q saves it."""
    from tests.support.q_rows import said, talk

    return json.dumps(talk(conversation, said("m1", words, "Noted.")), separators=(",", ":"))


@pytest.fixture
def q(home: Path) -> Path:
    database = home / ".local/share/amazon-q/data.sqlite3"
    database.parent.mkdir(parents=True)
    run(database, _Q)
    return database


def save(database: Path, directory: str, value: str) -> None:
    run(database, "INSERT OR REPLACE INTO conversations VALUES (?, ?)", directory, value)


def given_back(archive: Archive, name: str, to: Path) -> bytes:
    (back,) = restore(archive, archive.find(name), to)
    return back.read_bytes()


def strands_of(archive: Archive, name: str) -> list[Strand]:
    found = archive.find(name)
    return archive.strands(found.family, found.grouping)


def test_a_row_that_is_too_large_is_kept_in_pieces_and_named(
    archive: Archive, home: Path, q: Path, tmp_path: Path
) -> None:
    long = saved("long", "tide " * (3 * MB // 5))
    save(q, "/home/u/one", saved("one", "What does the pier log say?"))
    save(q, "/home/u/long", long)
    save(q, "/home/u/two", saved("two", "And the tide table?"))
    report = take_in(archive, home)
    (trouble,) = [t for source in report.sources for t in source.troubles]
    assert f"{len(long):,} bytes" in trouble.message and "/home/u/long" in trouble.place
    assert given_back(archive, "long", tmp_path / "back") == long.encode()
    assert "too large" in archive.find("long").conversation.troubles[0].message
    assert archive.find("one").conversation.title == "What does the pier log say?"
    assert archive.find("two").conversation.title == "And the tide table?"
    assert verify(archive) == []
    # Nothing new: it is not read again.
    read = sum(source.new_bytes for source in take_in(archive, home).sources)
    assert read == 0 and len(strands_of(archive, "long")[0].states) == 1


def test_a_row_that_outgrows_the_limit_keeps_what_was_said_before(
    archive: Archive, home: Path, q: Path, tmp_path: Path
) -> None:
    short = saved("talk", "What does the pier log say?")
    save(q, "/home/u/app", short)
    take_in(archive, home)
    at = archive.clock()
    long = saved("talk", "What does the pier log say? " + "tide " * (3 * MB // 5))
    save(q, "/home/u/app", long)
    take_in(archive, home)
    assert given_back(archive, "talk", tmp_path / "now") == long.encode()
    (then,) = restore(archive, archive.find("talk"), tmp_path / "then", at)
    assert then.read_bytes() == short.encode()
    said = read_conversation(archive, archive.find("talk")).messages()
    assert "pier log" in str(said)
    # It shrinks again: it is what it was.
    save(q, "/home/u/app", short)
    take_in(archive, home)
    assert given_back(archive, "talk", tmp_path / "again") == short.encode()
    assert archive.find("talk").conversation.troubles == []


def test_a_row_with_a_name_of_its_own_is_called_by_it(
    archive: Archive, home: Path, q: Path, tmp_path: Path
) -> None:
    run(q, _Q_V2)
    long = '{"history": [], "padding": "' + "x" * 2 * MB + '"}'
    insert = "INSERT INTO conversations_v2 VALUES (?, ?, ?, ?, ?)"
    run(q, insert, "/home/u/app", "c1f0", long, 1, 2)
    take_in(archive, home)
    assert given_back(archive, "c1f0", tmp_path / "back") == long.encode()


def test_a_large_row_saved_while_it_is_read_is_begun_again(
    archive: Archive, home: Path, q: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(q, "/home/u/app", saved("talk", "first " * (MB // 2)))
    last = saved("talk", "second " * (MB // 3))
    plain = sqlite.Database.slice
    count = 0

    def interrupted(database: sqlite.Database, *place: object) -> bytes | None:
        nonlocal count
        count += 1
        if count == 5:
            save(q, "/home/u/app", last)
        return plain(database, *place)  # type: ignore[arg-type]

    monkeypatch.setattr(sqlite.Database, "slice", interrupted)
    take_in(archive, home)
    assert given_back(archive, "talk", tmp_path / "back") == last.encode()
    (strand,) = strands_of(archive, "talk")
    assert len(strand.states) == 1, "what was read of the first is no version"


def test_a_reading_that_was_interrupted_is_no_version(
    archive: Archive, home: Path, q: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = saved("talk", "first " * (MB // 2))
    save(q, "/home/u/app", value)
    plain = sqlite.Database.slice

    def killed(database: sqlite.Database, table: str, column: str, row: int, start: int, size: int):  # type: ignore[no-untyped-def]
        if start > MB:
            raise KeyboardInterrupt
        return plain(database, table, column, row, start, size)

    monkeypatch.setattr(sqlite.Database, "slice", killed)
    with pytest.raises(KeyboardInterrupt):
        take_in(archive, home)
    monkeypatch.setattr(sqlite.Database, "slice", plain)
    take_in(archive, home)
    assert given_back(archive, "talk", tmp_path / "back") == value.encode()
    (strand,) = strands_of(archive, "talk")
    assert len(strand.states) == 1


def test_with_a_higher_limit_it_is_read_after_all(
    archive: Archive, home: Path, q: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(q, "/home/u/app", saved("talk", "tide " * (MB // 2)))
    take_in(archive, home)
    assert archive.find("talk").conversation.turns == 0
    monkeypatch.setattr("rireki.intake.take.largest", lambda: 8 * MB)
    # Whatever touches the file makes it be looked at.
    save(q, "/home/u/other", saved("other", "hello"))
    take_in(archive, home)
    assert archive.find("talk").conversation.turns == 1


def test_a_large_row_takes_no_more_memory_than_some_pieces(
    archive: Archive, home: Path, q: Path
) -> None:
    save(q, "/home/u/app", saved("talk", "tide " * (24 * MB // 5)))
    tracemalloc.start()
    take_in(archive, home)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * MB, peak


def test_a_chatkit_value_that_is_too_large_is_kept_beside_its_thread(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    store = tmp_path / "chat.db"
    run(store, _CHATKIT)
    thread = '{"id": "thr_1", "title": "Tides", "created_at": "2026-01-01T00:00:00Z"}'
    run(store, "INSERT INTO threads VALUES ('thr_1', 'u', '2026-01-01T00:00:00Z', ?)", thread)

    def item(name: str, words: str) -> str:
        content = [{"type": "input_text", "text": words}]
        value = {"id": name, "type": "user_message", "thread_id": "thr_1", "content": content}
        return json.dumps({**value, "created_at": "2026-01-01T00:00:01Z", "attachments": []})

    def add(name: str, words: str) -> str:
        value = item(name, words)
        insert = "INSERT INTO items VALUES (?, 'thr_1', 'u', '2026-01-01T00:00:01Z', ?)"
        run(store, insert, name, value)
        return value

    def imported() -> Report:
        return import_history(archive, places=Places.at(home), paths=[store])

    add("msg_1", "What does the pier log say?")
    long = add("msg_2", "tide " * (2 * MB // 5))
    report = imported()
    troubles = [t.message for source in report.sources for t in source.troubles]
    assert any(f"{len(long):,} bytes" in message for message in troubles), troubles
    (found,) = [c for c in archive.conversations() if c.source == "chatkit"]
    assert any("too large" in t.message for t in found.troubles)
    paths = restore(archive, archive.find(found.id), tmp_path / "back")
    assert long.encode() in [path.read_bytes() for path in paths]
    assert verify(archive) == []
    # The thread goes on: its large value is not read again, and not missed.
    add("msg_3", "And the tide table?")
    report = imported()
    assert sum(source.new_bytes for source in report.sources) < 10_000
    said = str(read_conversation(archive, archive.find(found.id)).messages())
    assert "pier log" in said and "tide table" in said
    large = [s for s in strands_of(archive, found.id) if s.role == "value"]
    assert [strand.present for strand in large] == [True]
