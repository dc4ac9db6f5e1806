"""A backup is a copy of one moment, whoever writes meanwhile; and the way back from it."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from rireki.archive.base import Filter
from rireki.archive.open import open_archive
from rireki.errors import RirekiError
from rireki.history import MessageHistory
from rireki.intake.backup import backup
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.support.damaged import run
from tests.support.homes import lay_out

_running: list[apsw.Connection] = []


@pytest.fixture
def data(tmp_path: Path, home: Path) -> Iterator[Path]:
    """A data directory with an archive, a history, a journal of a driven agent, and a token."""
    lay_out("claude-code-1.0.51", home)
    data = tmp_path / "data"
    with MessageHistory.open("weather", archive=data / "archive.sqlite3") as history:
        history.add_user_message("Will it rain?")
    (data / "bridge").mkdir()
    (data / "bridge" / "drive-1.jsonl").write_bytes(b'{"whole": 1}\n{"torn": ')
    _store(data / "chatkit" / "app.sqlite3")
    (data / "archive.token").write_text("a secret")
    (data / "config.toml").write_text("[drive]\non = true\n")
    _take_in(data, home)
    yield data
    while _running:
        _running.pop().close()


def _store(path: Path) -> None:
    """A database whose rows stand in its log alone, as in an app that runs."""
    path.parent.mkdir()
    (path.parent / "app.files").mkdir()
    (path.parent / "app.files" / "picture").write_bytes(b"no line's end")
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
    writer.execute("CREATE TABLE thread (id TEXT); INSERT INTO thread VALUES ('one')")
    _running.append(writer)


def _take_in(data: Path, home: Path) -> None:
    archive = open_archive(data / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home).beside(archive.home.archive))
    archive.close()


def _ids(folder: Path) -> set[str]:
    archive = open_archive(folder / "archive.sqlite3")
    ids = {c.id for c in archive.conversations(Filter(subagents=True))}
    assert verify(archive) == []
    archive.close()
    return ids


def test_everything_but_tokens_and_settings_is_copied(data: Path, tmp_path: Path) -> None:
    done = run("backup", str(tmp_path / "copy"), "--archive", str(data))
    assert done.code == 0 and "checked" in done.out, done.err
    copied = {str(p.relative_to(tmp_path / "copy")) for p in (tmp_path / "copy").rglob("*.*")}
    assert copied == {
        *("archive.sqlite3", "histories/weather.jsonl", "bridge/drive-1.jsonl"),
        *("chatkit/app.sqlite3", "chatkit/app.files"),
    }
    store = apsw.Connection(str(tmp_path / "copy" / "chatkit" / "app.sqlite3"))
    assert store.execute("SELECT id FROM thread").get == "one"
    store.close()
    assert (
        tmp_path / "copy" / "chatkit" / "app.files" / "picture"
    ).read_bytes() == b"no line's end"
    assert (tmp_path / "copy" / "bridge" / "drive-1.jsonl").read_bytes() == b'{"whole": 1}\n'
    assert _ids(tmp_path / "copy") == _ids(data)
    if sys.platform != "win32":
        modes = {p.stat().st_mode & 0o077 for p in (tmp_path / "copy").rglob("*")}
        assert modes == {0}


def test_a_folder_with_something_in_it_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").write_text("x")
    with pytest.raises(RirekiError, match="not empty"):
        backup(data / "archive.sqlite3", tmp_path / "copy")
    assert run("backup", str(tmp_path / "new"), "--archive", str(tmp_path / "no.sqlite3")).code == 1


def test_it_waits_for_somebody_who_has_the_archive_alone_for_a_moment(
    data: Path, home: Path, tmp_path: Path
) -> None:
    _take_in(data, home)
    alone = apsw.Connection(str(data / "archive.sqlite3"))
    alone.pragma("locking_mode", "EXCLUSIVE")
    alone.execute("BEGIN IMMEDIATE; CREATE TABLE other (one)")
    timer = threading.Timer(0.3, alone.close)
    timer.start()
    try:
        assert backup(data / "archive.sqlite3", tmp_path / "copy").troubles == []
    finally:
        timer.join()


def test_while_others_write_each_backup_is_of_one_moment(
    data: Path, home: Path, tmp_path: Path
) -> None:
    """What the copy of the archive knows of a journal is in the copy of the journal."""
    ended, written = threading.Event(), threading.Semaphore(0)

    def write() -> None:
        with MessageHistory.open("busy", archive=data / "archive.sqlite3") as history:
            while not ended.is_set():
                history.add_user_message("one more " * 50)
                history.add_raw_message({"role": "assistant", "content": "an answer " * 50})
                _take_in(data, home)
                written.release()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(6):
            assert written.acquire(timeout=30), "there is something new in each"
            backup(data / "archive.sqlite3", tmp_path / f"copy-{number}")
    finally:
        ended.set()
        writer.join()
    seen = set()
    for number in range(6):
        copy = tmp_path / f"copy-{number}"
        assert "claude-code" in "".join(_ids(copy))
        journal = (copy / "histories" / "busy.jsonl").read_bytes()
        assert journal.endswith(b"\n")
        archive = open_archive(copy / "archive.sqlite3")
        for strand in archive.strands("rireki", "busy"):
            assert journal.startswith(strand.document())
            seen.add(len(strand.document()))
        archive.close()
    assert len(seen) > 1


def test_the_way_back_after_a_loss(data: Path, home: Path, tmp_path: Path) -> None:
    known = _ids(data)
    backup(data / "archive.sqlite3", tmp_path / "copy")
    shutil.rmtree(data)
    shutil.copytree(tmp_path / "copy", data)
    assert _ids(data) == known
    with MessageHistory.open("weather", archive=data / "archive.sqlite3") as history:
        assert history.get_messages()[0]["content"] == "Will it rain?"
        history.add_raw_message({"role": "assistant", "content": "No."})
    _take_in(data, home)
    assert _ids(data) == known
    archive = open_archive(data / "archive.sqlite3")
    assert archive.find("rireki/weather").conversation.messages == 2
    archive.close()


def test_moving_to_another_machine_doubles_and_loses_nothing(
    data: Path, home: Path, tmp_path: Path
) -> None:
    """There the home has another name, and its files other inodes and times."""
    known = _ids(data)
    backup(data / "archive.sqlite3", tmp_path / "copy")
    there = tmp_path / "there"
    shutil.copytree(home, there, copy_function=shutil.copyfile)
    shutil.rmtree(home)
    new = there / ".local" / "share" / "rireki"
    shutil.copytree(tmp_path / "copy", new)
    _take_in(new, there)
    assert _ids(new) == known
    archive = open_archive(new / "archive.sqlite3")
    assert {c.upstream for c in archive.conversations(Filter(source="claude-code"))} == {"present"}
    archive.close()


def test_a_backup_of_a_damaged_archive_says_so(data: Path, tmp_path: Path) -> None:
    other = apsw.Connection(str(data / "archive.sqlite3"))
    other.execute("UPDATE origin SET stamp = 'x'")
    other.close()
    done = run("backup", str(tmp_path / "copy"), "--archive", str(data))
    assert done.code == 1 and "not what was written" in done.out
