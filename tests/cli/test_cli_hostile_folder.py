"""A folder of somebody else's: links in it lead us nowhere, and what we make is for its owner alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from rireki.archive.open import open_archive
from rireki.drive.journal import Counter, DriveJournal
from rireki.errors import RirekiError
from rireki.home import archive_path
from rireki.journals.lock import KeeperLock
from rireki.search.index.index import index_folder, make, sweep
from rireki.web.running import Address, Served
from tests.cli.conftest import TALK, Rireki

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and links as POSIX has them")


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user's, to which links lead."""
    file = tmp_path / "precious"
    file.write_text("mine")
    return file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ── modes ──


def test_the_data_directory_is_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RIREKI_ARCHIVE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    before = os.umask(0o022)
    try:
        open_archive(archive_path(), create=True).close()
    finally:
        os.umask(before)
    folder = archive_path().parent
    assert mode(folder) == 0o700 and mode(archive_path()) == 0o600
    # One that an earlier rireki made.
    folder.chmod(0o755)
    archive_path()
    assert mode(folder) == 0o700


def test_a_folder_that_was_there_stays_as_open_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    open_archive(archive_path(str(folder)), create=True).close()
    assert mode(folder) == 0o755
    open_archive(archive_path(str(tmp_path / "new")), create=True).close()
    assert mode(tmp_path / "new") == 0o700


def test_what_is_restored_is_for_its_owner_alone(imported: Rireki, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        assert imported("restore", "aaaa", "--to", str(tmp_path / "back")).code == 0
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "back").rglob("*") if path.is_file()]
    assert files and all(mode(path) == 0o600 for path in files)
    assert mode(tmp_path / "back") == 0o700
    # A second time it is all there, and left alone.
    times = [path.stat().st_mtime_ns for path in files]
    assert imported("restore", "aaaa", "--to", str(tmp_path / "back")).code == 0
    assert [path.stat().st_mtime_ns for path in files] == times


# ── links ──


def test_a_restored_file_goes_through_no_link(
    imported: Rireki, tmp_path: Path, precious: Path
) -> None:
    back = tmp_path / "back"
    back.mkdir()
    (back / f"{TALK}.jsonl").symlink_to(tmp_path / "elsewhere")
    told = imported("restore", "aaaa", "--to", str(back))
    assert told.code == 1 and "is a link" in told.err
    assert not (tmp_path / "elsewhere").exists()


def test_locks_and_notes_go_through_no_link(tmp_path: Path, precious: Path) -> None:
    archive = tmp_path / "kept" / "archive.sqlite3"
    archive.parent.mkdir()
    for ending in ("keeper", "serve", "served"):
        archive.with_name(f"archive.sqlite3.{ending}").symlink_to(precious)
    with pytest.raises(OSError):
        KeeperLock(archive).take()
    served = Served(archive)
    assert served.other() is None
    served.tell(Address("127.0.0.1", 1, 2))
    assert precious.read_text() == "mine"
    assert mode(served.note) == 0o600


def test_a_journal_that_is_a_link_is_not_written(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "bridge").mkdir()
    journal = DriveJournal(tmp_path / "bridge" / "aaaa.jsonl", Counter())
    journal.path.symlink_to(precious)
    with pytest.raises(RirekiError):
        journal.open()
    assert precious.read_text() == "mine"


def test_an_index_that_is_a_link_to_something_else_is_not_cleared(tmp_path: Path) -> None:
    (other := tmp_path / "other" / "current").mkdir(parents=True)
    (other / "precious").write_text("mine")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    index_folder(archive).symlink_to(tmp_path / "other")
    for work in (make, sweep):
        with pytest.raises(RirekiError, match="is a link"):
            work(archive)
    assert (other / "precious").read_text() == "mine"
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["current"]
    # One that leads to nothing yet was made to have it on another disk.
    (empty := tmp_path / "disk").mkdir()
    index_folder(archive).unlink()
    index_folder(archive).symlink_to(empty)
    for _ in range(2):
        make(archive).close()
    archive.close()


# ── the demo ──


def demo(folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "rireki", "demo", "--dir", str(folder)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_the_demo_removes_nothing_that_it_did_not_make(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "unfinished").mkdir(parents=True)
    (folder / "unfinished" / "novel.txt").write_text("mine")
    assert demo(folder).returncode == 0
    assert (folder / "unfinished" / "novel.txt").read_text() == "mine"
    assert demo(folder).returncode == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {"unfinished", "home", "archive", "changed"}


def test_the_demo_lets_no_time_pass_in_a_home_that_is_not_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "home" / "somebody").mkdir(parents=True)
    told = demo(folder)
    assert told.returncode == 1 and "is not the demo's" in told.stderr
    assert [path.name for path in (folder / "home").iterdir()] == ["somebody"]


# ── databases of strangers ──


def test_an_archive_that_brings_triggers_and_views_runs_none(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite3"
    open_archive(path, create=True).close()
    evil = apsw.Connection(str(path))
    evil.execute(
        """CREATE TABLE ran (x);
           CREATE TRIGGER t AFTER INSERT ON meta BEGIN INSERT INTO ran VALUES (1); END;
           CREATE TRIGGER u AFTER UPDATE ON meta BEGIN INSERT INTO ran VALUES (1); END;"""
    )
    evil.close()
    archive = open_archive(path, write=True)
    archive.set_note("x", "y")
    archive.close()
    assert apsw.Connection(str(path)).execute("SELECT count(*) FROM ran").get == 0
    view = apsw.Connection(str(path))
    view.execute(
        """ALTER TABLE conversation RENAME TO hidden;
           CREATE VIEW conversation AS WITH RECURSIVE n(x) AS
             (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT hidden.* FROM n, hidden;"""
    )
    view.close()
    archive = open_archive(path)
    with pytest.raises((RirekiError, apsw.Error)):
        archive.count()
    archive.close()
