"""Where ChatKit databases are looked for: where the user says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.sweep import Report, SourceReport, import_history
from rireki.sources.chatkit import READER
from rireki.sources.kit.places import Places
from rireki.sources.reader import Watched
from tests.sources.test_chatkit import App
from tests.sources.test_chatkit_laws import configure


def test_databases_are_named_by_the_environment(home: Path) -> None:
    for name in ("a.db", "b.db"):
        App(home / name)
    named = os.pathsep.join([str(home / "a.db"), "~/b.db", "", "~/c.db", str(home / "a.db")])
    found = READER.discover(Places(home, {"RIREKI_CHATKIT": named}))
    assert [origin.place for origin in found.origins] == [str(home / "a.db"), str(home / "b.db")]
    assert [(looked.place, looked.found) for looked in found.looked] == [
        (str(home / "a.db"), True),
        (str(home / "b.db"), True),
        (str(home / "c.db"), False),
    ]


def test_databases_are_named_in_the_settings(home: Path) -> None:
    App(home / "app" / "chat.db")
    App(home / ".local" / "share" / "rireki" / "mine.db")
    (home / "link.db").symlink_to(home / "app" / "chat.db")
    configure(home, "~/app/chat.db", "mine.db", "~/link.db")
    found = READER.discover(Places.at(home))
    assert [origin.place for origin in found.origins] == [
        str(home / "app" / "chat.db"),
        str(home / ".local" / "share" / "rireki" / "mine.db"),
    ]
    assert not found.troubles


def test_without_any_it_says_how_to_name_one(home: Path) -> None:
    found = READER.discover(Places.at(home))
    (looked,) = found.looked
    assert looked.place.endswith("config.toml") and "RIREKI_CHATKIT" in looked.note
    assert not found.origins and not found.troubles


@pytest.mark.parametrize(
    "text",
    ["[chatkit", "[chatkit]\ndatabases = 'x'", "chatkit = 1", "[chatkit]\ndatabases = [1]", "\xff"],
)
def test_settings_that_cannot_be_read_are_a_trouble(home: Path, text: str) -> None:
    configure(home)
    file = home / ".local" / "share" / "rireki" / "config.toml"
    file.write_bytes(text.encode("latin-1"))
    (trouble,) = READER.discover(Places.at(home)).troubles
    assert trouble.place == str(file) and "[chatkit]" in trouble.hint


def test_settings_are_read_again_when_they_change(home: Path) -> None:
    App(home / "a.db")
    configure(home, "~/a.db")
    assert len(READER.discover(Places.at(home)).origins) == 1
    configure(home, "~/a.db", "~/later.db")
    App(home / "later.db")
    assert len(READER.discover(Places.at(home)).origins) == 2


def test_a_change_leads_to_its_database(home: Path) -> None:
    places = Places.at(home)
    configure(home, "~/app/chat.db")
    path = App(home / "app" / "chat.db").path
    (origin,) = READER.discover(places).origins
    assert Watched(str(path.parent)) in READER.watched(places)
    for name in (path, f"{path}-wal", f"{path}-journal", path.parent):
        assert READER.locate(places, str(name)) == [origin]
    for other in (f"{path}-shm", home / "app" / "other.db", home, home / ".claude"):
        assert READER.locate(places, str(other)) == []
    path.unlink()
    assert READER.locate(places, str(path)) == []


def test_only_plain_files_are_opened(home: Path) -> None:
    os.mkfifo(home / "pipe.db")
    (home / "folder.db").mkdir()
    (home / "empty.db").touch()
    (home / "text.db").write_text("hello")
    configure(home, "~/pipe.db", "~/folder.db")
    found = READER.discover(Places.at(home))
    assert not found.origins and not any(looked.found for looked in found.looked)
    assert READER.recognise(home) == []


def test_a_database_may_lie_one_folder_below(home: Path) -> None:
    path = App(home / "data" / "chat.sqlite").path
    App(home / "a" / "b" / "too-deep.db")
    assert [origin.place for origin in READER.recognise(home)] == [str(path)]


def test_a_thread_goes_on_nowhere_but_in_its_app(tmp_path: Path) -> None:
    app = App(tmp_path / "chat.db")
    app.thread()
    reading: Any = app.read()
    assert READER.resume(reading.conversation) is None
    assert READER.revive(reading.conversation) is None


def test_a_database_that_was_named_once_is_looked_at_again(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    app = App(tmp_path / "elsewhere" / "chat.db")
    app.thread("thr_0000aaaa")
    import_history(archive, places=Places.at(home), paths=[app.path])
    app.thread("thr_0000bbbb")
    assert _chatkit(import_history(archive, places=Places.at(home))).new_conversations == 1
    app.path.unlink()
    assert _chatkit(import_history(archive, places=Places.at(home))).vanished == 1
    kept = {talk.id: talk.upstream for talk in archive.conversations()}
    assert kept == {"chatkit/thr_0000aaaa": "gone", "chatkit/thr_0000bbbb": "gone"}


def _chatkit(report: Report) -> SourceReport:
    return next(source for source in report.sources if source.source == "chatkit")
