"""One day, project by project: what was asked, what came of it, what was left unfinished."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.cli.main import run
from rireki.errors import RirekiError
from rireki.intake.curate import set_hidden, set_starred, set_tags
from rireki.intake.sweep import import_history
from rireki.show.digest import digest_of
from rireki.sources.kit.places import Places
from tests.sources.transcripts import SESSION, Transcript, lay

NOW = datetime(2026, 11, 16, 12, tzinfo=timezone.utc)
OTHER = f"b{SESSION[1:]}"


@pytest.fixture
def filled(archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """Two days of work in one project, and a prompt that nobody answered in another."""
    monkeypatch.setenv("TZ", "UTC")
    talk = Transcript()
    for day in (14, 15):
        talk.user(f"change it on the {day}th", timestamp=f"2026-11-{day}T10:00:00.000Z")
        edit = {"file_path": f"/home/dev/app/app{day}.py", "old_string": "a", "new_string": "b"}
        talk.call(f"t{day}", "Edit", input=edit, timestamp=f"2026-11-{day}T10:01:00.000Z")
        talk.result(f"t{day}", "done", timestamp=f"2026-11-{day}T10:02:00.000Z")
        talk.answer(f"Changed\n\non the {day}th.", timestamp=f"2026-11-{day}T10:03:00.000Z")
    lay(home, talk.bytes())
    alone = Transcript(OTHER)
    alone.user("is anybody there?", timestamp="2026-11-15T09:00:00.000Z", cwd="/home/u/other")
    lay(home, alone.bytes(), OTHER, "-home-u-other")
    import_history(archive, places=Places.at(home))
    return archive


def test_a_day_is_told_project_by_project(filled: Archive) -> None:
    set_starred(filled, filled.find(SESSION), True)
    set_tags(filled, filled.find(SESSION), ["work"])
    digest = digest_of(filled, "yesterday", NOW)
    assert digest.day == "2026-11-15" and digest.conversations == 2
    told = {about.id[-36:]: about for each in digest.projects for about in each.conversations}
    one, other = told[SESSION], told[OTHER]
    assert [asked.text for asked in one.asked] == ["change it on the 15th"]
    assert one.answer == "Changed on the 15th." and one.files == ["app15.py"]
    assert (one.tool_calls, one.unfinished, one.starred, one.tags) == (1, False, True, ("work",))
    assert other.unfinished and not other.answer
    assert [each.project for each in digest.projects if each.unfinished] == ["/home/u/other"]


def test_a_day_of_which_nothing_is_left_says_so(filled: Archive) -> None:
    assert digest_of(filled, "2026-11-13", NOW).projects == []
    assert len(digest_of(filled, "2026-11-14", NOW).projects) == 1
    assert digest_of(filled, "2026-11", NOW).day == "2026-11-01"
    with pytest.raises(RirekiError):
        digest_of(filled, "someday", NOW)


def test_what_is_hidden_is_left_out_and_counted(filled: Archive) -> None:
    set_hidden(filled, filled.find(OTHER), True)
    digest = digest_of(filled, "2026-11-15", NOW)
    assert digest.conversations == 1 and digest.hidden == 1
    assert digest_of(filled, "2026-11-15", NOW, "/home/u/other").projects == []


def test_the_command_tells_it(filled: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    filled.close()
    archive = ["--archive", filled.address]
    assert run(["digest", "2026-11-15", *archive]) == 0
    said = capsys.readouterr().out
    assert "10:00  change it on the 15th" in said and "→ Changed on the 15th." in said
    assert "changed: app15.py" in said and "left unfinished" in said and "on the 14th." not in said
    assert run(["digest", "2026-11-15", "--json", *archive]) == 0
    assert json.loads(capsys.readouterr().out)["day"] == "2026-11-15"
    assert run(["digest", "someday", *archive]) == 1
