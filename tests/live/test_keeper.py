"""The keeper takes in what happens to files and folders, whatever it is."""

from __future__ import annotations

import errno
import shutil
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.errors import ArchiveTrouble
from rireki.intake.sweep import import_history, take_some
from rireki.live import keeper_work
from rireki.live.watch import Watcher, _Handler
from rireki.search.index.index import peek
from rireki.search.index.update import FEW
from rireki.sources.kit.files import FileReader
from rireki.sources.kit.places import Places
from rireki.sources.reader import Origin
from tests.live.conftest import SESSION, Kept, append, line, until

ONE, TWO = SESSION.format(1), SESSION.format(2)


def test_an_appended_line_is_taken_in_and_announced_without_a_sweep(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    file = project / f"{ONE}.jsonl"
    append(file, 1)
    keeper = kept.start()
    assert keeper.status.state == "keeping" and kept.turns(ONE) == 1
    swept = keeper.status.swept_at
    before = len(kept.numbers)
    append(file, 2)
    until(lambda: kept.turns(ONE) == 2)
    until(lambda: len(kept.numbers) > before, "the announcement")
    with closing(open_archive(kept.path)) as archive:
        until(lambda: kept.numbers[-1] == archive.number())
    assert keeper.status.swept_at == swept and keeper.status.changed_at is not None


def test_only_the_readers_in_whose_folders_a_path_lies_are_asked_about_it(
    kept: Kept, project: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    locate = FileReader.locate

    def noted(self: FileReader, places: Places, path: str) -> list[Origin]:
        asked.append(self.name)
        return locate(self, places, path)

    monkeypatch.setattr(FileReader, "locate", noted)
    file = project / f"{ONE}.jsonl"
    append(file, 1)
    kept.start()
    append(file, 2)
    until(lambda: kept.turns(ONE) == 2)
    assert "cline" not in asked and "gemini-cli" not in asked


def test_a_line_that_is_written_in_pieces_becomes_one_line(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    file = project / f"{ONE}.jsonl"
    append(file, 1)
    kept.start()
    whole = line(2, ONE)
    for piece in (whole[:40], whole[40:90], whole[90:]):
        with file.open("a") as more:
            more.write(piece)
        number = len(kept.numbers)
        until(lambda number=number: len(kept.numbers) > number)  # type: ignore[misc]
    assert kept.turns(ONE) == 2
    assert kept.find(ONE).troubles == []  # type: ignore[union-attr]


def test_files_in_a_hundred_new_nested_folders_are_all_seen(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    folder = project.parent
    for number in range(50):
        session = SESSION.format(100 + number)
        append(folder / f"-new-{number}" / f"{session}.jsonl", 1)
        side = folder / f"-new-{number}" / session / "subagents" / f"agent-a{number:016x}.jsonl"
        side.parent.mkdir(parents=True)
        side.write_text(line(1, session, isSidechain=True, agentId=f"a{number:016x}"))
    until(lambda: all(kept.turns(SESSION.format(100 + number)) for number in range(50)))
    until(lambda: all(kept.find(f"agent-a{number:016x}") for number in range(50)), "sub-agents")


def test_what_lies_beside_a_transcript_goes_the_same_way(
    kept: Kept, home: Path, project: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_work, "SHARED", 0.1)
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    spill = project / ONE / "tool-results" / "toolu_1.txt"
    spill.parent.mkdir(parents=True)
    spill.write_text("a long output")
    until(lambda: str(spill) in kept.places_of(ONE), "the spilled output")
    typed = {"display": "only typed", "pastedContents": {}, "project": "/p", "sessionId": TWO}
    history = home / ".claude" / "history.jsonl"
    history.write_text(str({**typed, "timestamp": 1767225600000}).replace("'", '"') + "\n")
    until(lambda: kept.find(TWO), "the typed prompt")
    assert kept.find(TWO).nature == "prompts"  # type: ignore[union-attr]


def test_a_moved_transcript_is_the_same_conversation(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    file = project / f"{ONE}.jsonl"
    append(file, 1, 2)
    kept.start()
    other = project.with_name("-home-u-worktree")
    other.mkdir()
    moved = other / file.name
    file.rename(moved)
    until(lambda: kept.places_of(ONE) == [str(moved)], "the new place, and no other")
    append(moved, 3)
    until(lambda: kept.turns(ONE) == 3)
    assert kept.find(ONE).upstream == "present"  # type: ignore[union-attr]


def test_a_deleted_transcript_stays_and_is_gone_from_its_source(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    old = project / f"{ONE}.jsonl"
    append(old, 1)
    kept.start()
    new = project / f"{TWO}.jsonl"
    append(new, 1)
    until(lambda: kept.find(TWO))
    for name, file in ((ONE, old), (TWO, new)):
        file.unlink()
        until(lambda name=name: kept.find(name).upstream == "gone", name)  # type: ignore[misc,union-attr]
        assert kept.turns(name) == 1


def test_a_deleted_project_folder_that_comes_back_is_watched_again(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    shutil.rmtree(project.parent.parent)
    until(lambda: kept.find(ONE).upstream == "gone")  # type: ignore[union-attr]
    append(project / f"{ONE}.jsonl", 1, 2)
    until(lambda: kept.turns(ONE) == 2)
    append(project / f"{TWO}.jsonl", 1)
    until(lambda: kept.turns(TWO) == 1)


def test_a_source_that_is_installed_later_is_found(
    kept: Kept, home: Path, without_sweeps: None
) -> None:
    keeper = kept.start()
    # The home itself may have a history of Aider's.
    assert keeper.status.folders == [str(home)]
    project = home / ".claude" / "projects" / "-p"
    append(project / f"{ONE}.jsonl", 1)
    until(lambda: kept.turns(ONE) == 1)
    append(project / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)
    log = home / ".kiro" / "sessions" / "cli" / f"{TWO}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text('{"version":"v1","kind":"Prompt","data":{}}\n')
    with closing(open_archive(kept.path)) as archive:
        until(lambda: archive.strands("amazon-q", TWO))


def test_a_folder_behind_a_link_is_swept_first_and_then_watched(
    kept: Kept, home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_work, "CALM", 0.2)
    monkeypatch.setattr(keeper_work, "EAGER", 0.2)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project.parent / "-linked").symlink_to(elsewhere)
    keeper = kept.start()
    append(elsewhere / f"{ONE}.jsonl", 1)
    until(lambda: kept.turns(ONE) == 1)
    until(lambda: str(project.parent / "-linked") in keeper.status.folders, "a watch behind it")
    monkeypatch.setattr(keeper_work, "CALM", 3600.0)
    monkeypatch.setattr(keeper_work, "EAGER", 3600.0)
    append(elsewhere / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)


def test_without_a_watcher_sweeps_catch_everything_and_the_status_tells_the_remedy(
    kept: Kept, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Watcher) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(Watcher, "start", refuse)
    monkeypatch.setattr(keeper_work, "EAGER", 0.1)
    append(project / f"{ONE}.jsonl", 1)
    keeper = kept.start()
    append(project / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)
    (trouble,) = keeper.status.troubles
    assert "inotify watch limit reached" in trouble.message and "sysctl" in trouble.hint
    assert keeper.status.folders == []


def test_what_hints_miss_a_sweep_finds_and_hints_are_mistrusted_for_a_while(
    kept: Kept, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.live.watch._Handler.dispatch", lambda self, event: None)
    monkeypatch.setattr(keeper_work, "CALM", 0.3)
    monkeypatch.setattr(keeper_work, "EAGER", 0.1)
    append(project / f"{ONE}.jsonl", 1)
    kept.start()
    append(project / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)
    monkeypatch.setattr(keeper_work, "CALM", 3600.0)
    append(project / f"{ONE}.jsonl", 3)
    until(lambda: kept.turns(ONE) == 3)


def test_when_told_it_looks_at_everything_at_once(
    kept: Kept, project: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.live.watch._Handler.dispatch", lambda self, event: None)
    keeper = kept.start()
    append(project / f"{ONE}.jsonl", 1)
    keeper.sweep_now()
    until(lambda: kept.turns(ONE) == 1)


def test_a_failure_is_told_tried_again_and_forgotten(
    kept: Kept, project: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = kept.start()
    real = keeper_work.sweep  # type: ignore[attr-defined]

    def full(*_: Any, **__: Any) -> Any:
        raise ArchiveTrouble("the disk is full", "Make room.")

    monkeypatch.setattr(keeper_work, "take_some", full)
    monkeypatch.setattr(keeper_work, "sweep", full)
    append(project / f"{ONE}.jsonl", 1)
    until(lambda: keeper.status.troubles)
    assert keeper.status.state == "keeping"
    assert keeper.status.troubles[0].message == "the disk is full"
    assert keeper.status.troubles[0].hint.startswith("Make room. It is tried again")
    monkeypatch.setattr(keeper_work, "sweep", real)
    until(lambda: kept.turns(ONE) == 1)
    until(lambda: not keeper.status.troubles)


def test_a_mistake_of_ours_does_not_end_it(
    kept: Kept,
    project: Path,
    without_sweeps: None,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    keeper = kept.start()
    real = keeper_work.take_some  # type: ignore[attr-defined]

    def broken(*_: Any, **__: Any) -> Any:
        monkeypatch.setattr(keeper_work, "take_some", real)
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr(keeper_work, "take_some", broken)
    append(project / f"{ONE}.jsonl", 1)
    until(lambda: kept.turns(ONE) == 1)
    assert keeper.status.state == "keeping"
    assert "ZeroDivisionError: a mistake" in capfd.readouterr().err


def test_an_archive_that_cannot_be_opened_is_said(kept: Kept) -> None:
    kept.path.parent.mkdir()
    kept.path.write_bytes(b"not an archive at all" * 100)
    keeper = kept.start()
    assert keeper.status.state == "failed"
    assert "is not a rireki archive" in keeper.status.troubles[0].message


def test_an_archive_that_was_removed_ends_it_rather_than_being_written_to_nowhere(
    kept: Kept, project: Path
) -> None:
    keeper = kept.start()
    kept.path.unlink()
    keeper.sweep_now()
    until(lambda: keeper.status.state == "failed")
    assert "was removed or replaced" in keeper.status.troubles[0].message
    append(project / f"{ONE}.jsonl", 1)
    assert kept.start().status.state == "keeping"
    assert kept.turns(ONE) == 1


def test_what_the_first_import_could_not_read_is_told(
    kept: Kept, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_work, "EAGER", 0.1)
    database = home / ".local" / "share" / "amazon-q" / "data.sqlite3"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database")
    keeper = kept.start()
    until(lambda: keeper.status.troubles)
    assert [trouble.place for trouble in keeper.status.troubles] == [str(database)]


def test_it_ends_soon_even_in_the_middle_of_the_first_import(kept: Kept, project: Path) -> None:
    for number in range(300):
        append(project / f"{SESSION.format(number)}.jsonl", 1)
    keeper = kept.start(wait=False)
    until(lambda: keeper.status.total, "the import")
    started = time.monotonic()
    keeper.stop()
    assert time.monotonic() - started < 5
    assert keeper.status.state == "stopped"
    again = kept.start()
    assert again.status.state == "keeping" and again.status.origins == 300
    assert kept.turns(SESSION.format(299)) == 1


def test_an_import_beside_it_is_announced_too(
    kept: Kept, project: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.live.watch._Handler.dispatch", lambda self, event: None)
    kept.start()
    append(project / f"{ONE}.jsonl", 1)
    with closing(open_archive(kept.path)) as archive:
        import_history(archive, places=kept.places)
        until(lambda: kept.numbers[-1] == archive.number())
    assert kept.turns(ONE) == 1


def test_a_file_that_is_written_again_as_it_was_changes_nothing(
    kept: Kept, project: Path, without_sweeps: None
) -> None:
    file = project / f"{ONE}.jsonl"
    append(file, 1)
    kept.start()
    with closing(open_archive(kept.path)) as archive:
        changed = next(archive.headings()).changed
        number = archive.number()
        copy = file.with_suffix(".new")
        copy.write_bytes(file.read_bytes())
        copy.replace(file)
        until(lambda: archive.number() > number, "its new stamp")
        assert next(archive.headings()).changed == changed


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_watcher_that_died_is_replaced(
    kept: Kept, project: Path, without_sweeps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatch = _Handler.dispatch

    def die(self: Any, event: Any) -> None:
        monkeypatch.setattr("rireki.live.watch._Handler.dispatch", dispatch)
        raise ZeroDivisionError("a mistake")

    monkeypatch.setattr("rireki.live.watch._Handler.dispatch", die)
    kept.start()
    append(project / f"{ONE}.jsonl", 1)
    until(lambda: kept.turns(ONE) == 1)
    append(project / f"{ONE}.jsonl", 2)
    until(lambda: kept.turns(ONE) == 2)


@pytest.fixture
def often_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("INDEX_EVERY", 0.1), ("QUIET", 0.1), ("INDEX_REST", 0)):
        monkeypatch.setattr(keeper_work, name, value)


def until_indexed(kept: Kept, count: int) -> None:
    """The last few may be left for later."""
    with closing(open_archive(kept.path)) as archive:
        until(lambda: len(list(peek(archive) or ())) >= count - FEW, "the index")


def test_the_index_is_brought_up_when_enough_came_together(
    kept: Kept, project: Path, without_sweeps: None, often_indexed: None
) -> None:
    kept.start(index=True)
    for number in range(20):
        append(project / f"{SESSION.format(number)}.jsonl", 1)
    until_indexed(kept, 20)


def test_the_index_is_brought_up_when_understanding_comes_later(
    kept: Kept,
    project: Path,
    without_sweeps: None,
    often_indexed: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a loaded machine what was read has a rest before it is understood."""

    def slow(*given: Any) -> Any:
        if given[3]:
            time.sleep(0.5)
        return take_some(*given)

    monkeypatch.setattr(keeper_work, "take_some", slow)
    kept.start(index=True)
    append(project / f"{ONE}.jsonl", 1)
    until(lambda: kept.turns(ONE) == 1)
    for number in range(2, 22):
        append(project / f"{SESSION.format(number)}.jsonl", 1)
    until_indexed(kept, 21)
