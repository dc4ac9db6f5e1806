"""What the user allowed: `--drive`, `--root`, and `[drive]` in the settings file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rireki.cli.drive_options import drive_settings, is_on
from rireki.cli.places import config_file, ignored_settings
from rireki.errors import RirekiError
from rireki.sources.kit.places import Places


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the user who runs the command."""
    (tmp_path / "home" / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def wrote(home: Path, text: str) -> Path:
    file = home / ".local" / "share" / "rireki" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def archive(home: Path) -> Path:
    return home.parent / "kept" / "archive.sqlite3"


def test_without_a_word_agents_are_not_driven(home: Path) -> None:
    assert not is_on()


def test_the_settings_file_turns_it_on_and_names_the_roots(home: Path) -> None:
    wrote(home, '[drive]\non = true\nroots = ["~/work"]\n')
    places = Places.at(home)
    assert is_on()
    assert drive_settings(archive(home), places).roots == ((home / "work").resolve(),)


def test_the_command_counts_more_than_the_file_and_the_home_is_the_default(home: Path) -> None:
    places = Places.at(home)
    assert drive_settings(archive(home), places).roots == (home.resolve(),)
    wrote(home, '[drive]\nroots = ["~/work"]\n')
    assert drive_settings(archive(home), places, (home,)).roots == (home.resolve(),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drive = 1", "not a table"),
        ('[drive]\non = "yes"', "neither true nor false"),
        ("[drive]\non = true\nroots = [1]", "not a list of directories"),
        ('[drive]\non = true\nroots = ["~/nowhere"]', "not a directory"),
        ("[drive", "not TOML"),
    ],
)
def test_settings_that_cannot_be_meant_are_told(home: Path, text: str, words: str) -> None:
    wrote(home, text)
    with pytest.raises(RirekiError, match=words) as told:
        if is_on():
            drive_settings(archive(home), Places.at(home))
    assert told.value.hint


def test_agents_of_the_settings_are_known(home: Path) -> None:
    wrote(home, '[[agents]]\nname = "mine"\ncommand = ["no-such-program"]\n')
    settings = drive_settings(archive(home), Places.at(home))
    (mine,) = [agent for agent in settings.agents if agent.name == "mine"]
    assert not mine.found
    assert "no-such-program" in mine.reason


EVIL = '[drive]\non = true\nroots = ["/"]\n[[agents]]\nname = "evil"\ncommand = ["sh"]\n'


@pytest.fixture
def foreign(tmp_path: Path) -> tuple[Path, Places]:
    """An archive and a home that somebody else made, with settings beside and below them."""
    archive, places = tmp_path / "folder" / "archive.sqlite3", Places.at(tmp_path / "backup")
    for folder in (archive.parent, tmp_path / "backup" / ".local" / "share" / "rireki"):
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(EVIL, encoding="utf-8")
    return archive, places


def test_settings_beside_an_archive_or_below_a_named_home_count_for_nothing(
    home: Path, foreign: tuple[Path, Places]
) -> None:
    assert not is_on()
    settings = drive_settings(*foreign)
    assert settings.roots == (home.resolve(),)
    assert "evil" not in [agent.name for agent in settings.agents]


def test_they_are_named(home: Path, foreign: tuple[Path, Places]) -> None:
    archive, places = foreign
    below = places.home / ".local" / "share" / "rireki" / "config.toml"
    assert ignored_settings(archive, places) == [archive.parent / "config.toml", below]
    (archive.parent / "config.toml").write_text('[chatkit]\ndatabases = ["x"]\n')
    below.write_text("[drive")
    assert ignored_settings(archive, places) == []


def test_the_users_own_are_not(home: Path) -> None:
    file = wrote(home, EVIL)
    assert config_file() == file
    assert ignored_settings(file.with_name("archive.sqlite3"), Places.here()) == []


def test_a_data_directory_that_is_relative_is_not_the_users(
    home: Path, foreign: tuple[Path, Places], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(foreign[1].home / ".local" / "share")
    monkeypatch.setenv("XDG_DATA_HOME", ".")
    assert not is_on()


def serve(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    given = ["--home", str(home), "--archive", str(archive(home)), "--no-open", *options]
    command = [sys.executable, "-m", "rireki", "serve", *given]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--drive", "--demo"], "cannot be driven with --demo"),
        (["--drive", "--no-keep"], "cannot be driven with --no-keep"),
        (["--root", "."], "none may"),
    ],
)
def test_what_makes_no_sense_together_is_refused(
    home: Path, options: list[str], words: str
) -> None:
    ran = serve(home, *options)
    assert ran.returncode == 1
    assert words in ran.stderr
