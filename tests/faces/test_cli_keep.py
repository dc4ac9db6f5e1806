"""`resume`, `restore`, `verify`, `rebuild`, `forget`: going on, and taking care."""

from __future__ import annotations

from pathlib import Path

from tests.faces.conftest import OTHER, TALK, Rireki


def test_resume_prints_the_command_and_nothing_else(imported: Rireki) -> None:
    assert imported("resume", "aaaa").out == f"cd /w/api && toy --resume {TALK}\n"
    assert imported("resume", "aaaa", "--json").json[0]["upstream"] == "present"


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
