"""Archives that earlier versions of rireki wrote are opened, imported into, rebuilt and searched.

Each fixture was written by the code of the commit it is named after, from a home with four
Claude Code sessions (one of them forgotten since) and two Amazon Q rows. 001.sql was edited
between the first of them, so they lack columns that today's statements name.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from rireki.archive.open import open_archive
from rireki.archive.sqlite.connect import steps
from rireki.cli.main import run
from rireki.errors import NotFound
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.sources.transcripts import Transcript, lay
from tests.support.engine import sql_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "archives"
NAMES = sorted(path.name.split(".")[0] for path in FIXTURES.glob("*.zst"))
#: Written before there were readers; its one conversation is of the tests' own source.
PLAIN = "f275f7e"


def unpacked(name: str, folder: Path) -> Path:
    path = folder / "archive.sqlite3"
    packed = (FIXTURES / f"{name}.sqlite3.zst").read_bytes()
    path.write_bytes(zstandard.decompress(packed))
    return path


@pytest.mark.parametrize("name", [name for name in NAMES if name != PLAIN])
def test_an_archive_of_an_earlier_version_is_used_as_one_of_today(
    name: str, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = unpacked(name, tmp_path)
    talk = Transcript()
    talk.user("a new prompt about pelicans")
    lay(home, talk.bytes())
    commands = (
        ["list"],
        ["import", "--home", str(home)],
        ["rebuild"],
        ["verify"],
        ["search", "stash", "pop"],
        ["search", "pelicans"],
        ["show", "0c9ba80e"],
    )
    for command in commands:
        assert run([*command, "--archive", str(path)]) == 0, capsys.readouterr()
    said = capsys.readouterr().out
    assert said.count("git stash pop") >= 2 and "pelicans" in said
    assert "The archive is sound." in said
    archive = open_archive(path)
    assert sql_of(archive).pragma("user_version") == len(steps())
    assert len(list(archive.conversations())) == 6
    # What was forgotten then is not taken in again now.
    with pytest.raises(NotFound):
        archive.find("2f221883")
    assert [name[:8] for _, name in archive.forgotten()] == ["2f221883"]
    archive.close()


@pytest.mark.usefixtures("plain_source")
def test_an_archive_of_the_very_first_version_goes_on(tmp_path: Path, home: Path) -> None:
    archive = open_archive(unpacked(PLAIN, tmp_path))
    (home / "notes").mkdir()
    (home / "notes" / "more.jsonl").write_text('{"id": "a", "who": "me", "text": "hello"}\n')
    import_history(archive, places=Places.at(home))
    assert {c.id: c.messages for c in archive.conversations()} == {
        "plain/talk": 20,
        "plain/more": 1,
    }
    archive.mark_stale()
    import_history(archive, places=Places.at(home))
    assert {c.id: c.messages for c in archive.conversations()} == {
        "plain/talk": 20,
        "plain/more": 1,
    }
    assert verify(archive) == []
    archive.close()


@pytest.mark.parametrize("name", ["dd1b721", "4082efd"])
def test_what_can_only_be_read_is_read_in_its_earlier_format(name: str, tmp_path: Path) -> None:
    archive = open_archive(unpacked(name, tmp_path), read_only=True)
    assert len(list(archive.conversations())) == 5
    assert sql_of(archive).pragma("user_version") == 3
    archive.close()
