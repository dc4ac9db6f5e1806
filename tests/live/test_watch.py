"""What is watched, and how events become hints."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rireki.live.watch import Hints, Watcher
from rireki.sources.reader import Watched
from tests.live.conftest import until


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher(Hints())
    watcher.start()
    yield watcher
    watcher.stop()


def collected(hints: Hints) -> set[str]:
    """Everything that is hinted at within a moment."""
    found: set[str] = set()

    def any_hint() -> bool:
        found.update(hints.collect(0.1).touched)
        return bool(found)

    until(any_hint)
    return found


def test_nothing_below_a_flat_folder_is_heard(watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    watcher.plan([Watched(str(tmp_path))])
    (tmp_path / "below" / "silent").write_text("x")
    (tmp_path / "loud").write_text("x")
    assert collected(watcher.hints) == {str(tmp_path / "loud")}


def test_a_folder_that_is_not_there_is_awaited_in_the_one_above(
    watcher: Watcher, tmp_path: Path
) -> None:
    wanted = [Watched(str(tmp_path / "a" / "b"), deep=True)]
    assert watcher.plan(wanted) and not watcher.plan(wanted)
    assert watcher.folders == []
    (tmp_path / "noise").write_text("x")
    (tmp_path / "a" / "b").mkdir(parents=True)
    until(lambda: watcher.hints.collect(0.1).doubt)
    assert watcher.plan(wanted)
    assert watcher.folders == [str(tmp_path / "a" / "b")]
    (tmp_path / "a" / "b" / "file").write_text("x")
    assert collected(watcher.hints) == {str(tmp_path / "a" / "b" / "file")}


def test_a_folder_that_was_made_anew_is_watched_anew(watcher: Watcher, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    watcher.plan([Watched(str(folder))])
    folder.rename(tmp_path / "old")
    folder.mkdir()
    assert watcher.plan([Watched(str(folder))])
    (folder / "file").write_text("x")
    assert str(folder / "file") in collected(watcher.hints)


def test_a_link_is_followed_and_told_by_its_own_name(watcher: Watcher, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    watcher.plan([Watched(str(link), deep=True)])
    (real / "file").write_text("x")
    assert collected(watcher.hints) == {str(link / "file")}
    assert watcher.covers(str(real / "file")) and not watcher.covers(str(tmp_path / "file"))


def test_what_lies_below_a_deep_folder_is_watched_once(watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    watcher.plan([Watched(str(tmp_path), True), Watched(str(tmp_path / "below"), True)])
    assert watcher.folders == [str(tmp_path)]


def test_reading_a_file_is_no_hint(watcher: Watcher, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    watcher.plan([Watched(str(tmp_path))])
    file.read_text()
    (tmp_path / "last").write_text("x")
    assert collected(watcher.hints) == {str(tmp_path / "last")}


def test_events_that_were_dropped_are_a_doubt(watcher: Watcher) -> None:
    logging.getLogger("watchdog.observers.inotify_c").warning("queue overflowed; events were lost")
    assert watcher.hints.collect(0).doubt


def test_what_is_noted_while_it_ends_is_taken_and_so_not_printed(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    observer = watcher._observer
    assert observer is not None
    stop = observer.stop

    def noting() -> None:
        stop()
        # As its threads do that hear of something in that moment.
        logging.getLogger("watchdog.observers").error("called when the thread is inactive")

    monkeypatch.setattr(observer, "stop", noting)
    watcher.hints.collect(0)
    watcher.stop()
    assert watcher.hints.collect(0).doubt


def test_waiting_for_hints_ends_when_told_or_when_time_is_up() -> None:
    hints = Hints()
    hints.wake()
    started = time.monotonic()
    assert hints.collect(30) == (set(), set(), False)
    assert hints.collect(0.01) == (set(), set(), False)
    assert time.monotonic() - started < 20
