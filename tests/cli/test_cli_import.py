"""`import` and `sources`: what comes in, and what is said about it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import OTHER, TALK, Rireki, said, write


def test_an_import_ends_with_what_was_new(rireki: Rireki, home: Path) -> None:
    ran = rireki("import", "--home", str(home))
    assert ran.code == 0
    assert ran.lines[0].startswith("toy  2 new conversations, 1 sub-agent, ")
    assert "added" in ran.lines[0]


def test_a_second_import_has_nothing_to_tell(imported: Rireki, home: Path) -> None:
    assert "nothing new in 3 files" in imported("import", "--home", str(home)).lines[0]


def test_programs_read_the_same(rireki: Rireki, home: Path) -> None:
    (report,) = rireki("import", "--home", str(home), "--json").json
    assert report["sources"][0]["new_conversations"] == 2
    assert report["sources"][0]["new_subagents"] == 1
    assert report["looked"][0]["found"] is True


def test_what_grew_and_what_vanished_is_told(imported: Rireki, home: Path) -> None:
    file = home / ".toy" / f"{OTHER}.jsonl"
    file.unlink()
    write(home, "dddd4444", [{"about": {"title": "third"}}, said("d1", "person", "x", 20)])
    told = imported("import", "--home", str(home)).lines[0]
    assert "1 new conversation" in told and "1 gone from the source, kept here" in told


def test_an_index_that_cannot_be_written_is_told_after_what_was_new(
    rireki: Rireki, home: Path, tmp_path: Path
) -> None:
    for number in range(10):
        write(home, f"dddd{number}", [{"about": {"title": "x"}}, said("d1", "person", "x", 20)])
    (tmp_path / "archive.search").write_text("not a folder")
    ran = rireki("import", "--home", str(home))
    assert ran.code == 0
    assert ran.lines[0].startswith("toy  12 new conversations, ")
    assert "the search index" in ran.out and "cannot be written" in ran.out
    write(home, "eeee", [{"about": {"title": "x"}}, said("e1", "person", "x", 20)])
    (report,) = rireki("import", "--home", str(home), "--json").json
    assert report["sources"][0]["new_conversations"] == 1
    assert "cannot be written" in report["index"]["message"]


def test_nothing_found_says_where_it_looked(rireki: Rireki, tmp_path: Path) -> None:
    ran = rireki("import", "--home", str(tmp_path))
    assert ran.code == 0
    assert ran.lines[0] == "No history found. rireki looked here:"
    assert str(tmp_path / ".toy") in ran.out and "rireki demo" in ran.out


def test_a_path_that_is_not_there_is_an_error(rireki: Rireki, tmp_path: Path) -> None:
    ran = rireki("import", str(tmp_path / "nowhere"))
    assert ran.code == 1
    assert ran.err.startswith("error: ") and "does not exist" in ran.err and "\nhint: " in ran.err


def test_a_path_nobody_recognises_is_an_error(rireki: Rireki, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert rireki("import", str(tmp_path / "notes.txt")).code == 1


def test_a_single_file_can_be_named(rireki: Rireki, home: Path) -> None:
    rireki("import", str(home / ".toy" / f"{TALK}.jsonl"))
    assert [c["native_id"] for c in rireki("list", "--json").json] == [TALK]


def test_an_unknown_source_is_an_error_that_names_the_known(rireki: Rireki) -> None:
    ran = rireki("import", "--source", "nobody")
    assert ran.code == 1 and "toy" in ran.err


def test_sources_looks_without_taking_in(rireki: Rireki, home: Path) -> None:
    told = rireki("sources", "--home", str(home)).out
    assert f"looked at {home / '.toy'}: there" in told
    assert "found     3 files" in told and "nothing yet: run 'rireki import'" in told
    assert rireki("list").code == 1


def test_sources_tells_what_is_archived(imported: Rireki, home: Path) -> None:
    (source,) = imported("sources", "--home", str(home), "--json").json
    assert (source["found"], source["read"]) == (3, 3)
    assert (source["conversations"], source["subagents"]) == (2, 1)
    told = imported("sources", "--home", str(home)).out
    assert "2 conversations and 1 sub-agent from 3 files" in told


def test_sources_says_why_nothing_was_found(rireki: Rireki, tmp_path: Path) -> None:
    told = rireki("sources", "--home", str(tmp_path)).out
    assert "Nothing found of: toy" in told and "looked at" not in told
    told = rireki("sources", "--home", str(tmp_path), "--all").out
    assert "not there" in told and "found     nothing" in told
