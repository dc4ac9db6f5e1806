"""An archive that lies where nothing may be written can be read all the same, whole."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.database import open_frozen
from rireki.archive.open import open_archive
from rireki.errors import ArchiveTrouble
from rireki.search.index import update
from rireki.search.index.importing import take_in
from rireki.sources.kit.places import Places
from tests.cli.conftest import Rireki
from tests.support.engine import ENGINE, sql_of
from tests.support.homes import lay_out
from tests.support.searching import make_home
from tests.support.shut import contents, rireki, run, shut

#: More than a search would read without a word about it.
MANY = update.FEW + 4
WORD = "quokkaflux"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an archive with its index; `old.search` is the index before the last import."""
    folder = tmp_path_factory.mktemp("made")
    home = lay_out("claude-code-1.0.51", folder / "home")
    kept = folder / "kept"
    with closing(open_archive(kept / "archive.sqlite3", create=True)) as archive:
        take_in(archive, Places.at(home))
    shutil.copytree(kept / "archive.search", folder / "old.search")
    make_home(home, MANY)
    with closing(open_archive(kept / "archive.sqlite3")) as archive:
        take_in(archive, Places.at(home), index=False)
        update.catch_up(archive)
    return folder


@pytest.fixture
def kept(made: Path, tmp_path: Path) -> Path:
    """A copy of the archive's folder, with the times of its files."""
    return Path(shutil.copytree(made / "kept", tmp_path / "kept"))


@pytest.fixture
def closed(kept: Path) -> Iterator[Path]:
    """An archive that can only be read; whatever is done with it, nothing beside it changes."""
    before = contents(kept)
    with shut(kept):
        yield kept / "archive.sqlite3"
    assert contents(kept) == before


def listed(archive: Path) -> list[Any]:
    ran = run(rireki(archive, "list", "--json"))
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def said(ran: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    """What went wrong and what to do, in two lines."""
    assert ran.returncode == 1, ran
    error, hint = ran.stderr.splitlines()
    assert error.startswith("error: ") and hint.startswith("hint: ")
    return error, hint


# ── reading ──


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("show", "ID"),
        ("show", "ID", "--format", "html"),
        ("show", "ID", "--as-of", "2099-01-01"),
        ("search", WORD, "--limit", "3"),
        ("stats",),
        ("explain", "ID"),
        ("path", "/", "--below"),
        ("resume", "ID"),
        ("verify",),
        ("sources", "--json", "--home", "HOME"),
    ],
    ids=" ".join,
)
def test_commands_that_read_say_what_they_always_say(
    made: Path, closed: Path, command: tuple[str, ...]
) -> None:
    with closing(open_archive(made / "kept" / "archive.sqlite3")) as archive:
        names = {
            "ID": sorted(each.id for each in archive.headings())[0],
            "HOME": str(made / "home"),
        }
    arguments = [names.get(word, word) for word in command]
    usual = run(rireki(made / "kept" / "archive.sqlite3", *arguments))
    ran = run(rireki(closed, *arguments))
    assert (ran.stdout, ran.stderr, ran.returncode) == (
        usual.stdout.replace(str(made / "kept"), str(closed.parent)),
        usual.stderr,
        usual.returncode,
    )
    # The directory of the conversation is not on this machine: 'resume' says so.
    assert (command[0] == "resume") == (ran.returncode == 1)
    assert ran.stdout or command[0] == "resume"


def test_whether_it_is_kept_is_told(closed: Path) -> None:
    ran = run(rireki(closed, "service", "status", "--json"))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["running"] is False


def test_files_are_restored_from_it(closed: Path, tmp_path: Path) -> None:
    id = listed(closed)[0]["id"]
    ran = run(rireki(closed, "restore", id, "--to", str(tmp_path / "back")))
    assert ran.returncode == 0, ran.stderr
    assert [path for path in (tmp_path / "back").rglob("*") if path.is_file()]


def test_a_file_alone_that_may_not_be_written_is_enough(kept: Path) -> None:
    archive = kept / "archive.sqlite3"
    archive.chmod(0o444)
    assert listed(archive)
    error, _ = said(run(rireki(archive, "import", "--home", str(kept))))
    assert str(archive) in error


# ── the log beside it ──


def log_apart(kept: Path, *, with_map: bool = False) -> None:
    """Leave the last commit in a log, as a copy of a folder in use or a crash does."""
    aside = kept.parent / "aside"
    with closing(open_archive(kept / "archive.sqlite3")) as archive:
        sql_of(archive).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sql_of(archive).execute("UPDATE conversation SET title = 'late'")
        shutil.copytree(kept, aside)
    shutil.rmtree(kept)
    aside.rename(kept)
    assert (kept / "archive.sqlite3-wal").stat().st_size > 0
    if not with_map:
        (kept / "archive.sqlite3-shm").unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="there it is said that it cannot be read")
@pytest.mark.parametrize("with_map", [False, True])
def test_what_stands_in_the_log_alone_is_read(kept: Path, with_map: bool) -> None:
    log_apart(kept, with_map=with_map)
    before = contents(kept)
    with shut(kept):
        assert {each["title"] for each in listed(kept / "archive.sqlite3")} == {"late"}
    assert contents(kept) == before


@pytest.mark.skipif(sys.platform == "win32", reason="there it is said that it cannot be read")
def test_the_log_is_found_by_way_of_a_link(kept: Path, tmp_path: Path) -> None:
    log_apart(kept)
    link = tmp_path / "elsewhere.sqlite3"
    link.symlink_to(kept / "archive.sqlite3")
    with shut(kept):
        assert {each["title"] for each in listed(link)} == {"late"}


def test_a_change_that_was_interrupted_is_not_passed_over(kept: Path) -> None:
    (kept / "archive.sqlite3-journal").write_bytes(b"what stood there before" * 50)
    with shut(kept):
        error, hint = said(run(rireki(kept / "archive.sqlite3", "list")))
    assert "archive.sqlite3 cannot be written" in error and "copy it, with every file" in hint


def test_a_log_that_cannot_be_read_is_named(kept: Path) -> None:
    log_apart(kept)
    log = kept / "archive.sqlite3-wal"
    with shut(kept):
        log.chmod(0)
        for command in (["list"], ["search", WORD], ["serve", "--no-open"]):
            error, hint = said(run(rireki(kept / "archive.sqlite3", *command)))
            assert str(log) in error and "copy both files" in hint


def test_an_empty_log_says_nothing(kept: Path) -> None:
    (kept / "archive.sqlite3-wal").touch()
    with shut(kept):
        (kept / "archive.sqlite3-wal").chmod(0)
        assert len(listed(kept / "archive.sqlite3")) > MANY


# ── its search index ──


def searched(archive: Path) -> tuple[set[tuple[str, str]], dict[str, Any]]:
    """The messages that were found, and what was searched."""
    ran = run(rireki(archive, "search", WORD, "--json", "--limit", "999", "--hits", "999"))
    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout)
    found = {
        (talk["conversation"]["id"], hit["message"])
        for talk in results["talks"]
        for hit in talk["hits"]
    }
    assert found
    slower = results["scope"]["slower"]
    assert slower in ran.stderr and bool(slower) == bool(ran.stderr)
    return found, results["scope"]


def test_the_index_is_used(made: Path, closed: Path) -> None:
    found, scope = searched(closed)
    assert scope["slower"] == "" and scope["direct"] == 0
    assert found == searched(made / "kept" / "archive.sqlite3")[0]


def test_without_an_index_the_archive_is_searched(made: Path, kept: Path) -> None:
    shutil.rmtree(kept / "archive.search")
    with shut(kept):
        found, scope = searched(kept / "archive.sqlite3")
    assert "can only be read" in scope["slower"] and scope["direct"] == scope["conversations"]
    assert found == searched(made / "kept" / "archive.sqlite3")[0]
    assert not (kept / "archive.search").exists()


def test_what_an_old_index_lacks_is_searched_in_the_archive(made: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    home = lay_out("claude-code-1.0.51", tmp_path / "home")
    with closing(open_archive(kept / "archive.sqlite3", create=True)) as archive:
        take_in(archive, Places.at(home))
        make_home(home, MANY)
        take_in(archive, Places.at(home), index=False)
    with shut(kept):
        found, scope = searched(kept / "archive.sqlite3")
    assert "can only be read" in scope["slower"]
    assert MANY <= scope["direct"] < scope["conversations"]
    assert found == searched(made / "kept" / "archive.sqlite3")[0]


@pytest.mark.parametrize("file", ["current", "texts.sqlite3", "*.term", "meta.json"])
def test_with_a_damaged_index_the_archive_is_searched(made: Path, kept: Path, file: str) -> None:
    damaged = next((kept / "archive.search").rglob(file))
    damaged.write_bytes(b"something else" * 100)
    before = contents(kept)
    with shut(kept):
        found, scope = searched(kept / "archive.sqlite3")
        verified = run(rireki(kept / "archive.sqlite3", "verify"))
    assert "can only be read" in scope["slower"]
    assert found == searched(made / "kept" / "archive.sqlite3")[0]
    assert verified.returncode == 1 and "searches read the archive itself" in verified.stdout
    assert contents(kept) == before


def test_an_index_of_another_state_of_the_archive_is_not_believed(made: Path, kept: Path) -> None:
    shutil.rmtree(kept / "archive.search")
    shutil.copytree(made / "old.search", kept / "archive.search")
    with shut(kept):
        found, scope = searched(kept / "archive.sqlite3")
    assert "can only be read" in scope["slower"]
    assert found == searched(made / "kept" / "archive.sqlite3")[0]


def test_an_index_that_may_not_be_looked_at_is_done_without(made: Path, kept: Path) -> None:
    with shut(kept):
        (kept / "archive.search").chmod(0)
        found, scope = searched(kept / "archive.sqlite3")
    assert "can only be read" in scope["slower"]
    assert found == searched(made / "kept" / "archive.sqlite3")[0]


def test_an_index_that_alone_may_not_be_written_is_used_as_far_as_it_goes(
    made: Path, kept: Path
) -> None:
    archive = kept / "archive.sqlite3"
    make_home(kept.parent / "late", MANY, seed=2)
    with shut(kept / "archive.search"):
        assert searched(archive)[1]["slower"] == ""
        ran = run(rireki(archive, "import", "--home", str(kept.parent / "late")))
        assert ran.returncode == 0 and "new conversations" in ran.stdout
        assert "archive.search" in ran.stdout and "archive itself is in order" in ran.stdout
        found, scope = searched(archive)
    assert "cannot be written" in scope["slower"]
    assert MANY <= scope["direct"] < scope["conversations"]
    assert found > searched(made / "kept" / "archive.sqlite3")[0]


def test_where_no_folder_can_be_made_for_the_index_the_archive_is_searched(
    made: Path, kept: Path
) -> None:
    """The archive may be written all the same: the files SQLite wants lie beside it already."""
    shutil.rmtree(kept / "archive.search")
    with closing(open_archive(kept / "archive.sqlite3")):
        kept.chmod(0o555)
        try:
            found, scope = searched(kept / "archive.sqlite3")
        finally:
            kept.chmod(0o755)
    assert found == searched(made / "kept" / "archive.sqlite3")[0]
    assert "cannot be written" in scope["slower"] and not (kept / "archive.search").exists()


# ── writing ──


@pytest.mark.parametrize("command", ["import", "rebuild", "forget ID --yes", "forget ID", "watch"])
def test_commands_that_write_say_why_they_cannot(made: Path, closed: Path, command: str) -> None:
    id = listed(closed)[0]["id"]
    home = ["--home", str(made / "home")] if command in ("import", "watch") else []
    ran = run(rireki(closed, *command.replace("ID", id).split(), *home))
    error, hint = said(ran)
    assert f"{closed} cannot be written" in error
    assert "may write to the file and its folder" in hint and "--archive" in hint


def test_an_archive_that_cannot_be_made_is_told(made: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    archive = tmp_path / "empty" / "archive.sqlite3"
    with shut(tmp_path / "empty"):
        error, hint = said(run(rireki(archive, "import", "--home", str(made / "home"))))
        assert f"{archive} cannot be made" in error and "--archive" in hint
        error, _ = said(run(rireki(archive, "list")))
        assert "there is no archive" in error


def test_an_older_format_has_to_be_brought_up_first(kept: Path) -> None:
    with closing(open_archive(kept / "archive.sqlite3")) as archive:
        sql_of(archive).pragma("user_version", 1)
    with shut(kept):
        error, hint = said(run(rireki(kept / "archive.sqlite3", "list")))
    assert "format 1" in error and "copy it" in hint


def test_an_archive_that_may_not_be_read_is_told(kept: Path) -> None:
    with shut(kept):
        (kept / "archive.sqlite3").chmod(0)
        error, _ = said(run(rireki(kept / "archive.sqlite3", "list")))
    assert "archive.sqlite3 may not be read" in error


# ── a disk that can only be read ──

MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def on_a_disk(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """With the folder on a disk of its own, which can only be read, for as long as it takes."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    alone = ["unshare", "-rm", "sh", "-c", MOUNTED, str(folder)]
    if run([*alone, "true"]).returncode:
        pytest.skip("nothing can be mounted here")
    archive = ["--archive", str(folder / "archive.sqlite3")]
    return run([*alone, sys.executable, "-m", "rireki", *archive, *arguments])


def test_it_is_read_from_a_disk_that_can_only_be_read(kept: Path) -> None:
    log_apart(kept)
    before = contents(kept)
    told = on_a_disk(kept, "list", "--json")
    assert {json.loads(line)["title"] for line in told.stdout.splitlines()} == {"late"}
    found = json.loads(on_a_disk(kept, "search", WORD, "--json").stdout)
    assert found["talks"] and found["scope"]["slower"] == ""
    error, _ = said(on_a_disk(kept, "import", "--home", str(kept)))
    assert "archive.sqlite3 cannot be written" in error
    assert contents(kept) == before


# ── somebody else may write it meanwhile ──


def test_what_is_read_without_locks_is_known_to_be_outdated(kept: Path) -> None:
    path = kept / "archive.sqlite3"
    with closing(open_frozen(path)) as frozen, closing(open_archive(path)) as archive:
        assert frozen.execute("SELECT count(*) FROM conversation").get == archive.count()
        assert not frozen.is_outdated()
        archive.set_note("something", "new")
        assert frozen.is_outdated()


def test_a_command_whose_archive_was_written_meanwhile_says_so(
    imported: Rireki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ENGINE, "is_outdated", lambda self: True)
    ran = imported("list")
    assert ran.code == 1
    assert "was written while it was read" in ran.err and "again" in ran.err


def test_who_wants_to_write_is_not_given_what_can_only_be_read(kept: Path) -> None:
    path = kept / "archive.sqlite3"
    with closing(open_archive(path, read_only=True)) as archive:
        assert archive.read_only and archive.identity()
    with pytest.raises(ArchiveTrouble, match="cannot be written"):
        open_archive(path, write=True, read_only=True)
