"""`resume`, `restore`, `verify`, `rebuild`, `forget`: going on, and taking care."""

from __future__ import annotations

import shlex
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.intake.interpret import interpret
from tests.cli.conftest import CHILD, OTHER, TALK, Rireki, said, write
from tests.support.engine import ENGINE


def test_resume_prints_the_command_and_nothing_else(
    imported: Rireki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.cli.commands.resume.is_directory", lambda path: True)
    assert imported("resume", "aaaa").out == f"cd /w/api && toy --resume {TALK}\n"
    assert imported("resume", "aaaa", "--json").json[0]["upstream"] == "present"


def test_resume_says_what_to_do_when_the_directory_moved(
    imported: Rireki, home: Path, tmp_path: Path
) -> None:
    ran = imported("resume", "aaaa")
    assert ran.code == 1 and ran.out == ""
    assert "the directory /w/api is not there any more" in ran.err
    assert "ln -s NEW /w/api" in ran.err and f"rireki show toy/{TALK} --format markdown" in ran.err
    assert imported("resume", "aaaa", "--json").json[0]["directory_exists"] is False
    project = tmp_path / "here it is"
    project.mkdir()
    write(home, "dddd4444", [{"about": {"project": str(project)}}, said("x", "person", "hi", 1)])
    imported("import", "--home", str(home))
    assert (
        imported("resume", "dddd").out
        == f"cd {shlex.quote(str(project))} && toy --resume dddd4444\n"
    )


def test_resume_offers_to_restore_what_the_source_lost(imported: Rireki, home: Path) -> None:
    (home / ".toy" / f"{TALK}.jsonl").unlink()
    imported("import", "--home", str(home))
    ran = imported("resume", "aaaa")
    assert ran.code == 1 and ran.out == ""
    assert "no longer has" in ran.err and f"rireki restore toy/{TALK} --to DIR" in ran.err


def test_restore_gives_the_files_back_those_of_sub_agents_too(
    imported: Rireki, home: Path, tmp_path: Path
) -> None:
    file = home / ".toy" / f"{TALK}.jsonl"
    written = file.read_bytes()
    file.unlink()
    restored, agent = imported("restore", "aaaa", "--to", str(tmp_path / "back")).lines
    assert Path(restored).read_bytes() == written
    assert Path(agent).read_bytes() == (home / ".toy" / Path(agent).name).read_bytes()
    assert imported("restore", "aaaa", "--to", str(tmp_path / "back"), "--json").json == [
        {"id": f"toy/{TALK}", "files": [restored, agent]}
    ]


def test_restore_overwrites_nothing(imported: Rireki, tmp_path: Path) -> None:
    restored, _ = imported("restore", "aaaa", "--to", str(tmp_path / "back")).lines
    Path(restored).write_text("mine")
    assert imported("restore", "aaaa", "--to", str(tmp_path / "back")).code == 1
    assert Path(restored).read_text() == "mine"


def test_a_sound_archive_is_called_sound(imported: Rireki) -> None:
    assert imported("verify").out == "The archive is sound.\n"
    assert imported("verify", "--json").json[0]["sound"] is True


def test_rebuilding_changes_nothing(imported: Rireki) -> None:
    before = imported("list", "--json", "--subagents").out
    assert imported("rebuild").out == "3 conversations interpreted anew.\n"
    assert imported("list", "--json", "--subagents").out == before


def test_what_an_interrupted_rebuild_left_is_told_until_an_import_finishes_it(
    imported: Rireki, home: Path, tmp_path: Path
) -> None:
    before = imported("list", "--json")
    with closing(open_archive(tmp_path / "archive.sqlite3")) as archive:
        archive.mark_stale()
    told = "3 conversations wait to be read again: another process is at it, or was interrupted."
    for ran in (imported("list"), imported("list", "--json")):
        assert ran.out == "" and ran.err == f"{told} 'rireki import' finishes it.\n"
    shown = imported("show", TALK)
    assert shown.code == 1 and "It may be among 3 that wait to be read again." in shown.err
    verified = imported("verify")
    assert verified.code == 0 and verified.lines[0].startswith(told)
    assert verified.lines[-1] == "The archive is sound."
    assert sorted(imported("verify", "--json").json[0]["waiting"]) == sorted(
        f"toy/{name}" for name in (TALK, OTHER, CHILD)
    )
    imported("import", "--home", str(home))
    assert imported("list", "--json") == before
    assert imported("verify", "--json").json[0]["waiting"] == []


def test_a_list_that_lacks_something_says_so(imported: Rireki, tmp_path: Path) -> None:
    with closing(open_archive(tmp_path / "archive.sqlite3")) as archive:
        archive.mark_stale()
        group = next(group for group in archive.pending() if group.conversation == TALK)
        with archive.writing() as batch:
            batch.project(group, interpret(TALK, archive.strands(*group[:2])))
    ran = imported("list")
    assert len(ran.lines) == 1 and ran.err.startswith("2 conversations wait to be read again:")
    assert "Nothing in the archive fits" in imported("list", "--title", "nowhere").err


def test_a_list_is_of_one_moment(
    imported: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = imported("list")
    look = ENGINE.lacking

    def mark_stale_and_look(rows: ENGINE) -> int:
        with closing(open_archive(tmp_path / "archive.sqlite3")) as other:
            other.mark_stale()
        return look(rows)

    monkeypatch.setattr(ENGINE, "lacking", mark_stale_and_look)
    assert imported("list") == before


def test_nobody_there_to_ask_means_no(imported: Rireki) -> None:
    ran = imported("forget", "bbbb")
    assert ran.code == 1 and "--yes" in ran.err
    assert imported("show", "bbbb").code == 0


def test_forgotten_is_forgotten_until_taken_back(imported: Rireki, home: Path) -> None:
    assert "of records removed" in imported("forget", "bbbb", "--yes").out
    assert imported("show", "bbbb").code == 1
    imported("import", "--home", str(home))
    assert imported("show", "bbbb").code == 1
    assert imported("forget", "nobody", "--undo").code == 1
    assert imported("forget", f"toy/{OTHER}", "--undo").code == 0
    imported("import", "--home", str(home))
    assert imported("show", "bbbb").code == 0


def test_forgetting_tells_what_went_and_what_could_not_go(imported: Rireki, tmp_path: Path) -> None:
    imported("rebuild")
    shutil.rmtree(tmp_path / "archive.search")
    (tmp_path / "archive.search").write_text("not a folder")
    ran = imported("forget", "bbbb", "--yes")
    assert ran.code == 1
    assert ran.lines[0].startswith(f"Forgot toy/{OTHER}: ")
    assert "words may still stand in the search index" in ran.err
    assert f"Delete {tmp_path / 'archive.search'}" in ran.err
    assert imported("show", "bbbb").code == 1
