"""Archives of earlier formats, damaged ones, and what the faces make of what another machine read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.archive.sqlite import sums
from rireki.cli.main import run
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.archive.contract import add, project, reading, update
from tests.archive.formats import bring_down
from tests.archive.test_earlier_archives import NAMES, PLAIN, unpacked
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.homes import lay_out
from tests.support.pushing import push, told, understand


@pytest.fixture
def full(archive: Archive, home: Path) -> Path:
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    import_history(archive, places=Places.at(home))
    archive.close()
    return Path(archive.address)


@pytest.mark.parametrize("name", [name for name in NAMES if name != PLAIN])
def test_an_archive_of_an_earlier_format_is_told_whole(
    name: str, tmp_path: Path, clock: Callable[[], str]
) -> None:
    (tmp_path / "old").mkdir()
    with (
        closing(open_archive(unpacked(name, tmp_path / "old"), clock=clock)) as old,
        closing(open_archive(tmp_path / "new.sqlite3", create=True, clock=clock)) as new,
    ):
        old.mark_stale()
        understand(old)
        assert push(old, new) != []
        assert told(new, tmp_path / "there") == told(old, tmp_path / "here")
        assert verify(old) == [] and verify(new) == []


@pytest.mark.parametrize("version", [3, 4])
def test_what_can_only_be_read_need_not_be_brought_up(
    version: int, full: Path, tmp_path: Path
) -> None:
    with closing(open_archive(full)) as archive:
        known = told(archive, tmp_path / "before")
    bring_down(full, version)
    with closing(open_archive(full, read_only=True)) as archive:
        assert told(archive, tmp_path / "after") == known
        assert verify(archive) == [] and archive.damage == []
        assert list(archive.origins()) and archive.sightings("/", below=True)
        assert archive.delta(0, 1000, lambda strands: {}).parts != []


@pytest.mark.parametrize("table", ["origin", "strand", "state", "chunk"])
def test_what_was_damaged_before_is_found_after_a_migration(full: Path, table: str) -> None:
    bring_down(full, 4)
    column = {"origin": "role", "strand": "first_seen", "state": "at", "chunk": "digests"}[table]
    with closing(apsw.Connection(str(full))) as other:
        first = f"SELECT min({sums.SUMMED[table][0]}) FROM {table}"
        if table == "chunk":
            first = "SELECT id FROM chunk WHERE digests <> x'' LIMIT 1"
            value = "zeroblob(16)"
        else:
            value = "'x'"
        other.execute(
            f"UPDATE {table} SET {column} = {value} WHERE {sums.SUMMED[table][0]} = ({first})"
        )
    with closing(open_archive(full)) as archive:
        found = {trouble.message for trouble in archive.check()}
        assert found == {f"a row of {table} is not what was written"}


@pytest.mark.parametrize("version", [4, 5])
def test_a_damaged_archive_is_saved_with_all_that_each_format_says(
    version: int, full: Path, tmp_path: Path, clock: Callable[[], str]
) -> None:
    with (
        closing(open_archive(full, clock=clock)) as archive,
        closing(open_archive(tmp_path / "third.sqlite3", create=True, clock=clock)) as third,
    ):
        if version == 5:
            add(third, update(b"from elsewhere\n"))
            project(third, one=[reading("pad/one")])
            push(third, archive)
        known = told(archive, tmp_path / "before")
        streams = archive.rows.get("stream", "id, archive, epoch, machine, reached")
    if version == 4:
        bring_down(full, 4)
    saved = tmp_path / "saved.sqlite3"
    assert run(["verify", "--salvage", str(saved), "--archive", str(full)]) == 0
    with closing(open_archive(saved, clock=clock)) as archive:
        assert told(archive, tmp_path / "after") == known
        assert archive.rows.get("stream", "id, archive, epoch, machine, reached") == streams
        assert archive.check() == []


def test_a_machine_whose_name_is_lost_keeps_its_number(
    full: Path, tmp_path: Path, clock: Callable[[], str]
) -> None:
    with (
        closing(open_archive(full, clock=clock)) as archive,
        closing(open_archive(tmp_path / "third.sqlite3", create=True, clock=clock)) as third,
    ):
        add(third, update(b"from elsewhere\n"))
        push(third, archive)
    with closing(apsw.Connection(str(full))) as other:
        other.execute("DELETE FROM stream")
    saved = tmp_path / "saved.sqlite3"
    run(["verify", "--salvage", str(saved), "--archive", str(full)])
    with closing(open_archive(saved, clock=clock)) as archive:
        assert archive.stream("yet another", "desktop").id == 2


def test_what_only_another_machine_holds_is_not_resumed_here(
    archive: Archive, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = Transcript()
    talk.user("count the pelicans")
    lay(home, talk.bytes())
    import_history(archive, places=Places.at(home))
    elsewhere = tmp_path / "elsewhere.sqlite3"
    with closing(open_archive(elsewhere, create=True)) as other:
        push(archive, other)
        found = other.find(SESSION)
        assert found.conversation.upstream == "present"
        assert other.here(found).upstream == "gone"
        assert archive.here(archive.find(SESSION)).upstream == "present"
    assert run(["resume", SESSION, "--archive", str(elsewhere)]) != 0
    assert "restore" in capsys.readouterr().err
    assert run(["resume", SESSION, "--json", "--archive", str(elsewhere)]) == 0
    (said,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert said["command"] is None and "--to" in said["restore"]
    # Once this machine has it as well, it can.
    with closing(open_archive(elsewhere)) as other:
        import_history(other, places=Places.at(home))
        assert other.here(other.find(SESSION)).upstream == "present"
    shutil.rmtree(home)


def test_a_statement_that_is_damaged_and_still_one_misnames_nothing(
    full: Path, tmp_path: Path
) -> None:
    with closing(open_archive(full)) as archive:
        known = told(archive, tmp_path / "before")
    with closing(apsw.Connection(str(full))) as other:
        other.execute("DELETE FROM state; PRAGMA writable_schema = ON")
        other.execute(
            """UPDATE sqlite_schema SET sql = replace(sql, 'last_seen', 'lastXseen')
                WHERE name = 'strand'"""
        )
    saved = tmp_path / "saved.sqlite3"
    assert run(["verify", "--salvage", str(saved), "--archive", str(full)]) is not None
    with closing(open_archive(saved)) as archive:
        assert (
            told(archive, tmp_path / "after")["conversations"].keys()
            == known["conversations"].keys()
        )
