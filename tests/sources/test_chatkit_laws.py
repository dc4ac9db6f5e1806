"""The laws every reader keeps, for ChatKit databases, through the real archive."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.forget import forget
from rireki.intake.interpret import read_conversation
from rireki.intake.rebuild import rebuild
from rireki.intake.restore import restore
from rireki.intake.sweep import Report, SourceReport, import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.conftest import Clock
from tests.sources.test_chatkit import FIXTURES, GENUINE, SCHEMA, THREAD, App, rows, words
from tests.support.dump import dump

every_database = pytest.mark.parametrize("name", GENUINE)
TakeIn = Callable[[], Report]
TABLES = ("threads", "items", "attachments")


def configure(home: Path, *databases: str) -> None:
    file = home / ".local" / "share" / "rireki" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[chatkit]\ndatabases = {json.dumps(databases)}\n", encoding="utf-8")


@pytest.fixture
def database(home: Path) -> Path:
    """Where the app of this home keeps its database, once it is there."""
    configure(home, "~/app/chat.db")
    (home / "app").mkdir()
    return home / "app" / "chat.db"


def take_in(archive: Archive, home: Path) -> SourceReport:
    report = import_history(archive, places=Places.at(home), sources=["chatkit"])
    return report.sources[0]


def said(archive: Archive) -> dict[str, set[str]]:
    return {
        id: {
            str(part)
            for m in read_conversation(archive, archive.find(id)).messages()
            for part in m.parts
        }
        for id in {each.id for each in archive.headings()}
    }


@every_database
def test_rows_that_come_one_by_one_give_the_same_archive(
    name: str, archive: Archive, home: Path, tmp_path: Path, database: Path
) -> None:
    chance = random.Random(name)
    source = sqlite3.connect(FIXTURES / f"{name}.sqlite3")
    with closing(source), closing(sqlite3.connect(database)) as app:
        app.executescript(SCHEMA)
        for table in TABLES:
            for row in source.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall():
                app.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
                if chance.random() < 0.3:
                    app.commit()
                    take_in(archive, home)
        app.commit()
    take_in(archive, home)
    with closing(open_archive(tmp_path / "calm.sqlite3", create=True, clock=Clock())) as calm:
        take_in(calm, home)
        assert dump(archive) == dump(calm)
    assert verify(archive) == []


@every_database
def test_what_was_taken_in_comes_back(
    name: str, archive: Archive, home: Path, tmp_path: Path, database: Path
) -> None:
    shutil.copyfile(FIXTURES / f"{name}.sqlite3", database)
    take_in(archive, home)
    for thread, items in rows(name).items():
        (path,) = restore(archive, archive.find(thread), tmp_path / thread)
        assert path.name == f"{thread}.json"
        document = json.loads(path.read_bytes())
        assert [row["data"]["item"] for row in document["items"]] == items
        assert [row["id"] for row in document["threads"]] == [thread]


@every_database
def test_reading_twice_adds_nothing_and_rebuilding_changes_nothing(
    name: str, archive: Archive, home: Path, database: Path
) -> None:
    shutil.copyfile(FIXTURES / f"{name}.sqlite3", database)
    assert take_in(archive, home).new_conversations == 4
    first, number = dump(archive), archive.number()
    again = take_in(archive, home)
    assert (again.read, again.unchanged) == (0, 1)
    assert archive.number() == number
    # Touched, but the same: read, and nothing new.
    database.touch()
    again = take_in(archive, home)
    assert (again.read, again.new_bytes, again.changed_conversations) == (1, 0, 0)
    assert dump(archive) == first
    rebuild(archive)
    assert dump(archive) == first
    assert verify(archive) == []


#: What may befall a database, and what is then said of its conversations.
FATES = {
    "emptied": {"gone"},
    "deleted": {"gone"},
    "moved": {"present"},
    "garbage": {"present"},
    "halved": {"changed", "gone"},
    "broken rows": {"changed", "present"},
}


@every_database
@pytest.mark.parametrize("fate", FATES)
def test_whatever_happens_to_the_database_nothing_is_lost(
    name: str, fate: str, archive: Archive, home: Path, database: Path
) -> None:
    shutil.copyfile(FIXTURES / f"{name}.sqlite3", database)
    take_in(archive, home)
    before = said(archive)
    if fate == "deleted":
        database.unlink()
    elif fate == "garbage":
        database.write_bytes(b"no database at all" * 100)
    elif fate == "moved":
        database.rename(home / "moved.db")
        configure(home, "~/moved.db", "~/app/chat.db")
    else:
        statement = {
            "emptied": "DELETE FROM {0}",
            "halved": "DELETE FROM {0} WHERE rowid % 2",
            "broken rows": "UPDATE {0} SET data = substr(data, 1, 20) WHERE rowid % 2",
        }[fate]
        with closing(sqlite3.connect(database)) as app:
            for table in TABLES:
                app.execute(statement.format(table))
            app.commit()
    report = take_in(archive, home)
    after = said(archive)
    for conversation, parts in before.items():
        assert parts <= after[conversation], conversation
    assert verify(archive) == []
    fates = {archive.find(id).conversation.upstream for id in before}
    assert fates <= FATES[fate]
    assert bool(report.troubles) == (fate in ("garbage", "broken rows"))
    assert after.keys() == before.keys()


def test_the_old_version_of_a_row_is_found_again(
    archive: Archive, home: Path, database: Path
) -> None:
    app = App(database)
    app.thread()
    app.answer("a1", "first words")
    take_in(archive, home)
    assert archive.find(THREAD).conversation.upstream == "present"
    content = [{"type": "output_text", "text": "other words"}]
    app.save("a1", "assistant_message", content=content)
    report = take_in(archive, home)
    assert (report.new_conversations, report.changed_conversations) == (0, 1)
    found = archive.find(THREAD)
    assert found.conversation.upstream == "changed"
    assert words(read_conversation(archive, found))[1:] == ["first words", "other words"]
    (strand,) = archive.strands("chatkit", THREAD)
    earlier = read_conversation(archive, found, as_of=strand.states[0].at)
    assert words(earlier)[1:] == ["first words"]
    assert verify(archive) == []


def test_what_was_forgotten_stays_forgotten(archive: Archive, home: Path, database: Path) -> None:
    shutil.copyfile(FIXTURES / f"{GENUINE[0]}.sqlite3", database)
    take_in(archive, home)
    forget(archive, archive.find("thr_13f2a348"))
    database.touch()
    assert take_in(archive, home).forgotten == 1
    assert archive.count() == 3 and verify(archive) == []


def test_a_database_named_by_hand_is_found_by_its_tables(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    for name in GENUINE:
        shutil.copyfile(FIXTURES / f"{name}.sqlite3", folder / f"{name}.db")
    (folder / "other.db").write_bytes(b"something else")
    places = Places.at(home)
    report = import_history(archive, places=places, paths=[folder])
    (found,) = [one for one in report.sources if one.found]
    assert (found.source, found.found, found.new_conversations) == ("chatkit", 2, 8)
    again = import_history(archive, places=places, paths=[folder / f"{GENUINE[0]}.db"])
    assert sum(one.read for one in again.sources) == 0
