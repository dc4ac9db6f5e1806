"""An archive that is damaged, foreign, newer or out of room says so, and says what to do."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.errors import ArchiveTrouble, NotFound, RirekiError
from rireki.home import archive_path
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.support.damaged import EMPTY_INDEX, EMPTY_TABLE, PAGE, pages_of, run, spoil, wipe
from tests.support.engine import ENGINE, sql_of
from tests.support.homes import lay_out


def test_where_there_is_no_archive_the_hint_tells_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no archive at") as caught:
        open_archive(tmp_path / "archive.sqlite3")
    assert "rireki import" in caught.value.hint


def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 100)
    with pytest.raises(ArchiveTrouble, match=r"notes\.txt is not a rireki archive"):
        open_archive(file, create=True)
    assert file.read_text() == "not a database\n" * 100


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite3"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(ArchiveTrouble, match="another program's database"):
        open_archive(file, create=True)


def test_an_archive_from_the_future_is_left_alone(archive: Archive) -> None:
    sql_of(archive).pragma("user_version", 99)
    with pytest.raises(ArchiveTrouble, match="newer rireki") as caught:
        open_archive(Path(archive.address))
    assert "Update" in caught.value.hint


def test_a_flipped_bit_in_a_record_is_found_and_costs_no_other(
    archive: Archive, home: Path
) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    number, data = sql_of(archive).execute(
        "SELECT id, data FROM chunk ORDER BY size DESC"
    ).fetchone() or (0, b"")
    damaged = bytearray(data)
    damaged[len(damaged) // 2] ^= 0x10
    sql_of(archive).execute("UPDATE chunk SET data = ? WHERE id = ?", (bytes(damaged), number))
    (trouble,) = verify(archive)
    assert "damaged" in trouble.message and "backup" in trouble.hint and ".jsonl" in trouble.place


def test_a_missing_chunk_is_found(archive: Archive, home: Path) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    sql_of(archive).execute("DELETE FROM chunk WHERE id = 1")
    (trouble,) = verify(archive)
    assert "missing" in trouble.message


def test_a_full_disk_is_said_and_what_was_stored_stays(home: Path, tmp_path: Path) -> None:
    lay_out("claude-code-1.0.51", home)
    lay_out("amazon-q-1.12", home)
    target = tmp_path / "archive.sqlite3"
    # No file may grow beyond 300 kB: what a full disk does to a growing archive.
    script = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000));"
        "from rireki.cli.start import main; main()"
    )
    command = [
        sys.executable,
        "-c",
        script,
        "import",
        "--home",
        str(home),
        "--archive",
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert str(target) in done.stderr and "hint:" in done.stderr and "Traceback" not in done.stderr
    archive = open_archive(target)
    assert archive.check() == []
    import_history(archive, places=Places.at(home))
    assert verify(archive) == []
    assert len(list(archive.conversations())) > 25


def test_what_cannot_be_moved_out_of_the_log_now_stays_there(archive: Archive, home: Path) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    archive.settle()
    sql_of(archive).execute("CREATE TABLE large AS SELECT randomblob(1000000) AS data")
    room = Path(archive.address).stat().st_size
    resource = pytest.importorskip("resource", reason="Windows limits no files")
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        archive.settle()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    assert Path(archive.address).stat().st_size == room
    assert archive.check() == [] and sql_of(archive).execute("SELECT length(data) FROM large").get
    archive.settle()
    assert Path(archive.address).stat().st_size > room + 1_000_000


def test_the_archive_is_where_it_was_told_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIREKI_ARCHIVE", str(tmp_path / "env.sqlite3"))
    assert archive_path() == tmp_path / "env.sqlite3"
    assert archive_path(str(tmp_path / "given.db")) == tmp_path / "given.db"
    assert archive_path(str(tmp_path)) == tmp_path / "archive.sqlite3"
    assert archive_path(str(tmp_path / "folder")) == tmp_path / "folder" / "archive.sqlite3"
    monkeypatch.delenv("RIREKI_ARCHIVE")
    assert archive_path().name == "archive.sqlite3"


# ── values that rireki never writes ──


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        *(("conversation", column, "x'0102'") for column in ("data", "id", "title", "source")),
        # Such a text is no error of SQLite's, but of whoever reads it.
        ("conversation", "title", "CAST(x'41b6' AS TEXT)"),
        ("answers", "data", "'text'"),
        ("answers", "data", "CAST('no frame' AS BLOB)"),
        ("strand", "cursor", "x'01'"),
        ("strand", "conversation", "x'01'"),
        ("strand", "first_seen", "7"),
        ("strand", "last_seen", "NULL"),
        ("origin", "place", "7"),
        ("state", "at", "7"),
        ("state", "runs", "x'01'"),
        ("state", "runs", "'[1]'"),
        ("state", "runs", """'[["lines","0-x"]]'"""),
        ("chunk", "data", "'text'"),
        ("chunk", "lengths", "x'01'"),
        ("chunk", "size", "'many'"),
        ("chunk", "first", "x'01'"),
        ("chunk", "first", "-5"),
        ("meta", "value", "'many'"),
    ],
)
def test_a_value_of_another_type_is_damage_and_no_mistake(
    archive: Archive, home: Path, table: str, column: str, value: str
) -> None:
    lay_out("claude-code-1.0.51", home)
    lay_out("amazon-q-1.12", home)
    import_history(archive, places=Places.at(home))
    archive.close()
    for file in home.rglob("*.jsonl"):
        with file.open("ab") as out:
            out.write(b'{"type": "summary", "summary": "S"}\n')
    spoil(Path(archive.address), table, column, value)
    for ask in (
        lambda opened: [each.id + each.title for each in opened.conversations()],
        lambda opened: [opened.find(id) for id in {each.id for each in opened.headings()}],
        lambda opened: [each.title.split() for each in opened.headings()],
        lambda opened: list(opened.answers()),
        lambda opened: opened.sightings("/", below=True),
        lambda opened: [opened.strands(g.family, g.conversation) for g in opened.groups()],
        lambda opened: [Path(each.place) for each in opened.origins()],
        lambda opened: [each.reached + 1 for each in opened.changes(0, opened.number() + 1)],
        lambda opened: import_history(opened, places=Places.at(home)),
        lambda opened: verify(opened),
    ):
        opened = open_archive(Path(archive.address))
        # In words, where nothing else can be read.
        with suppress(RirekiError):
            ask(opened)
        opened.close()


def change_page(path: Path, table: str, statement: str, folder: Path) -> None:
    """What a statement makes of a table's first page, while its indexes stay as they are."""
    changed = folder / "changed"
    shutil.copyfile(path, changed)
    with closing(sqlite3.connect(changed)) as other, other:
        select = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        ((root,),) = other.execute(select, (table,)).fetchall()
        other.execute(statement)
    page = slice((root - 1) * PAGE, root * PAGE)
    data = bytearray(path.read_bytes())
    data[page] = changed.read_bytes()[page]
    path.write_bytes(data)


@pytest.mark.parametrize("table", ["origin", "strand"])
def test_a_row_whose_number_is_damaged_costs_no_conversation(
    archive: Archive, home: Path, tmp_path: Path, table: str
) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    ids = {each.id for each in archive.headings()}
    sql_of(archive).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    archive.close()
    path = Path(archive.address)
    change_page(path, table, f"UPDATE {table} SET id = id + 1000 WHERE id = 1", tmp_path)
    saved = tmp_path / "saved.sqlite3"
    done = run("verify", "--salvage", str(saved), "--archive", str(path))
    assert done.code is not None, done.err
    assert {each.id for each in open_archive(saved).headings()} == ids
    assert verify(open_archive(saved)) == []


def test_other_indexes_do_not_tell_where_a_file_was(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    """One lists a time and a conversation's id, which looks like a path, beside a number."""
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    sql_of(archive).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    archive.close()
    path = Path(archive.address)
    wipe(path, pages_of(path, "origin_of_place"), EMPTY_INDEX)
    # Every row damaged; and without the list of tables, pages are told apart by what they hold.
    data = bytearray(path.read_bytes().replace(b"linesmain", b"Linesmain"))
    data[100:PAGE] = bytes(PAGE - 100)
    path.write_bytes(data)
    saved = tmp_path / "saved.sqlite3"
    done = run("verify", "--salvage", str(saved), "--archive", str(path))
    assert done.code is not None, done.err
    with closing(sqlite3.connect(saved)) as rows:
        sources = {source for (source,) in rows.execute("SELECT source FROM origin")}
    assert sources == {"claude-code"}


def test_a_file_whose_records_are_gone_without_a_trace_is_read_from_its_beginning(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    whole = {each.id: archive.find(each.id).conversation for each in archive.headings()}
    sql_of(archive).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    archive.close()
    path = Path(archive.address)
    for table in ("state", "chunk"):
        wipe(path, pages_of(path, table), EMPTY_TABLE)
    saved = tmp_path / "saved.sqlite3"
    done = run("verify", "--salvage", str(saved), "--archive", str(path))
    assert done.code is not None and "its records are lost" in done.out, done
    back = open_archive(saved)
    import_history(back, places=Places.at(home))
    told = {each.id: back.find(each.id).conversation for each in back.headings()}
    assert {id: one.messages for id, one in told.items()} == {
        id: one.messages for id, one in whole.items()
    }
    assert len(whole) > 5 and verify(back) == []


def test_a_conversation_that_only_an_index_names_is_damage_and_no_mistake(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    ids = {each.id for each in archive.headings()}
    sql_of(archive).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    archive.close()
    path = Path(archive.address)
    change_page(path, "conversation", "DELETE FROM conversation", tmp_path)
    for id in ids:
        opened = open_archive(path)
        # Found in what can be rescued, or lost, as it is said.
        with suppress(NotFound):
            assert opened.find(id).conversation.id == id
        assert opened.damage
        opened.close()


def test_rows_of_a_database_are_saved_although_nothing_is_known_of_them_any_more(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out("amazon-q-1.12", home)
    import_history(archive, places=Places.at(home))
    ids = {each.id for each in archive.headings()}
    sql_of(archive).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    archive.close()
    wipe(Path(archive.address), pages_of(Path(archive.address), "strand"))
    saved = tmp_path / "saved.sqlite3"
    done = run("verify", "--salvage", str(saved), "--archive", archive.address)
    assert done.code is not None, done.err
    assert len(ids) > 5 and {each.id for each in open_archive(saved).headings()} == ids


def test_a_mistake_of_ours_is_not_told_as_damage(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    # By a stranger, who knows nothing of checksums.
    with closing(sqlite3.connect(Path(archive.address))) as other, other:
        other.execute("UPDATE state SET at = '2000-01-01T00:00:00.000Z'")
    (id, *_) = {each.id for each in archive.headings()}

    def mistake(*_: object, **named: object) -> None:
        raise TypeError("of ours")

    monkeypatch.setattr(ENGINE, "get", mistake)
    with pytest.raises(TypeError, match="of ours"):
        archive.find(id)
    assert archive.damage == [] and not archive.read_only
