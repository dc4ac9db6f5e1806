"""A whole reader of somebody's database, made of the kit: a strand per conversation, named columns only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.errors import SourceTrouble
from rireki.intake.interpret import read_conversation
from rireki.intake.rebuild import rebuild
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.model.conversation import Conversation, Reading
from rireki.model.message import Usage
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.model.strand import Strand
from rireki.sources import registry
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.records import records_of
from rireki.sources.kit.rows import RowKind, read_rows
from rireki.sources.kit.rules import rule_of, tagged, unwrapped
from rireki.sources.reader import Known, Origin, Roll, Update
from tests.support.dump import dump

SECRET = "sk-canary-of-a-token"
KINDS = (
    RowKind("chats", ("id", "title", "folder"), "id"),
    RowKind("lines", ("id", "chat", "data"), "chat", json=("data",)),
)
RULES = (tagged("reminder", "reminder", "reminder", display="hidden"),)


class Shelf(FileReader):
    """An agent that keeps all it heard in `~/.shelf/shelf.db`."""

    name = family = "shelf"

    def below(self, places: Places) -> list[FilesBelow]:
        kind = FileKind("shelf.db", "database", "database", no_conversation)
        return [FilesBelow(places.variable("SHELF_HOME") or places.home / ".shelf", [kind])]

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return read_rows(origin, known, KINDS)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        told = ConversationBuilder(self.name, conversation, strands)
        for strand in strands:
            for row in records_of(strand, told.troubles, "chats"):
                told.title = row.text("title") or None
                told.note_directory(row.text("folder"))
            for row in records_of(strand, told.troubles, "lines"):
                told.entries += 1
                data = row.value["data"]
                name, text = f"{row.value['id']}", data.get("text", "")
                if data["role"] == "user":
                    rule = rule_of(text, RULES)
                    told.ask(row, name, [Text(unwrapped(text, "user_query"))], rule=rule)
                elif data["role"] == "agent":
                    calls = [ToolCall(one, "ls") for one in data.get("calls", ())]
                    told.answer(row, name, [*([Text(text)] if text else []), *calls], model="m1")
                    told.note_usage(name, "m1", Usage(3, 5))
                elif data["role"] == "tool":
                    told.result(row, name, [ToolResult(data["call"], "ok", text)])
                else:
                    told.unknown(row, name, data["role"])
        return [told.reading()]

    def resume(self, conversation: Conversation) -> str | None:
        return in_project(conversation, "shelf --resume", with_id=True)


READER = Shelf()


@pytest.fixture
def database(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    monkeypatch.setattr(
        registry, "_addresses", lambda: {"shelf": "tests.sources.test_kit_rows:READER"}
    )
    (home / ".shelf").mkdir()
    connection = sqlite3.connect(home / ".shelf" / "shelf.db", isolation_level=None)
    connection.executescript(
        """PRAGMA journal_mode = WAL;
           CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT, folder TEXT, token TEXT);
           CREATE TABLE lines (id INTEGER PRIMARY KEY, chat TEXT, data TEXT);
           CREATE TABLE secrets (token TEXT);"""
    )
    connection.execute("INSERT INTO secrets VALUES (?)", (SECRET,))
    connection.execute("INSERT INTO chats VALUES ('c1', '', '/src/app', ?)", (SECRET,))
    for number, line in enumerate(LINES):
        connection.execute("INSERT INTO lines VALUES (?, 'c1', ?)", (number, json.dumps(line)))
    yield connection
    connection.close()


LINES = (
    {"role": "user", "text": "<reminder>be brief</reminder>"},
    {"role": "user", "text": "<user_query>\nWhat is here?\n</user_query>"},
    {"role": "agent", "calls": ["t1"]},
    {"role": "tool", "call": "t1", "text": "a b"},
    {"role": "agent", "text": "Two files."},
    {"role": "martian"},
)


def test_its_rows_become_a_conversation_with_all_that_is_counted(
    database: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    import_history(archive, places=Places.at(home))
    (found,) = archive.conversations(Filter())
    assert (found.id, found.title, found.project) == ("shelf/c1", "What is here?", "/src/app")
    assert (found.turns, found.messages, found.entries, found.finished) == (1, 5, 6, True)
    assert (found.tool_calls, found.tool_results, found.calls_without_result) == (1, 1, 0)
    assert found.models == ["m1"] and found.usage == Usage(6, 10)
    assert READER.resume(found) == "cd /src/app && shelf --resume c1"
    messages = read_conversation(archive, archive.find("shelf/c1")).messages()
    assert [(one.author, one.display) for one in messages] == [
        ("harness", "hidden"),
        ("person", "bubble"),
        ("agent", "bubble"),
        ("tool", "fold"),
        ("agent", "bubble"),
        ("harness", "fold"),
    ]
    assert [one.entry.rule for one in messages if one.entry][:2] == ["reminder", "typed prompt"]


def test_columns_that_were_not_named_are_nowhere_in_the_archive(
    database: sqlite3.Connection, archive: Archive, home: Path
) -> None:
    import_history(archive, places=Places.at(home))
    (strand,) = archive.strands("shelf", "c1")
    assert SECRET.encode() not in strand.document()
    rows = json.loads(strand.document())
    assert rows["lines"][1]["data"] == LINES[1] and rows["chats"][0]["folder"] == "/src/app"


def test_only_what_changed_is_read_and_what_went_stays(
    database: sqlite3.Connection, archive: Archive, home: Path, tmp_path: Path
) -> None:
    database.execute("INSERT INTO chats VALUES ('c2', 'other', '/src/app', '')")
    places = Places.at(home)
    import_history(archive, places=places)
    before = dump(archive)
    import_history(archive, places=places)
    assert dump(archive) == before
    (origin,) = READER.discover(places).origins
    known = Known(
        {one.key: one.cursor for c in ("c1", "c2") for one in archive.strands("shelf", c)}
    )
    assert [type(one) for one in READER.read(origin, known)] == [Roll]
    database.execute(
        """UPDATE lines SET data = '{"role": "agent", "text": "Three."}' WHERE id = 4"""
    )
    database.execute("DELETE FROM chats WHERE id = 'c2'")
    news = list(READER.read(origin, known))
    assert [one.key for one in news if isinstance(one, Update)] == ["c1"]
    import_history(archive, places=places)
    shown = read_conversation(archive, archive.find("shelf/c1")).messages()
    texts = [
        (part.text, one.upstream) for one in shown for part in one.parts if isinstance(part, Text)
    ]
    assert ("Two files.", "gone") in texts and ("Three.", "present") in texts
    assert archive.find("shelf/c2").conversation.upstream == "gone"
    rebuild(archive)
    assert verify(archive) == []
    (file,) = restore(archive, archive.find("shelf/c1"), tmp_path / "back")
    assert json.loads(file.read_bytes())["lines"][4]["data"]["text"] == "Three."


def test_a_value_too_large_to_read_is_kept_in_pieces(
    database: sqlite3.Connection, home: Path
) -> None:
    text = json.dumps({"role": "user", "text": "x" * 400_000})
    database.execute("INSERT INTO lines VALUES (9, 'c1', ?)", (text,))
    (origin,) = READER.discover(Places.at(home)).origins
    _, value, roll = READER.read(origin, Known(largest=300_000))
    assert isinstance(value, Update) and isinstance(roll, Roll)
    assert value.contents[0].pieces[0].data.decode() == text
    assert value.troubles[0].message.startswith(f"a value of {len(text):,} bytes")
    assert len(roll.keys) == 2


def test_a_database_with_none_of_the_tables_is_said(
    home: Path, database: sqlite3.Connection
) -> None:
    database.executescript("DROP TABLE chats; DROP TABLE lines;")
    (origin,) = READER.discover(Places.at(home)).origins
    with pytest.raises(SourceTrouble, match="has none of the tables chats, lines"):
        list(READER.read(origin, Known()))


def test_a_row_whose_time_of_change_is_another_is_read_again(
    home: Path, database: sqlite3.Connection
) -> None:
    kinds = (
        RowKind("lines", ("id", "chat", "data"), "chat", optional=("at", "no such")),
        RowKind("chats", ("id",), "id"),
    )
    brief = (kinds[0]._replace(bulky=("data",)), kinds[1])
    database.execute("ALTER TABLE lines ADD COLUMN at INTEGER")
    (origin,) = READER.discover(Places.at(home)).origins

    def read(known: Known) -> list[Update]:
        return [one for one in read_rows(origin, known, brief) if isinstance(one, Update)]

    (first,) = read(Known())
    known = Known({first.key: first.cursor})
    assert json.loads(first.contents[1].pieces[0].data)["at"] is None
    database.execute("UPDATE lines SET data = replace(data, 'brief', 'quiet')")
    assert read(known) == []
    assert len(read(Known(known.cursors, thorough=True))) == 1
    database.execute("UPDATE lines SET at = 7 WHERE id = 1")
    assert len(read(known)) == 1
