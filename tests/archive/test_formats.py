"""An archive of an earlier format is brought up when it is opened, and loses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from rireki.archive.base import Archive, Change
from rireki.archive.open import open_archive
from rireki.archive.sqlite import connect
from rireki.intake.sweep import Report, import_history
from rireki.sources.kit.places import Places
from tests.archive.formats import bring_down
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.engine import sql_of


@pytest.mark.usefixtures("plain_source")
def test_format_1_gets_a_feed(archive: Archive, home: Path, take_in: Callable[[], Report]) -> None:
    (home / "notes").mkdir()
    line = json.dumps({"id": "a", "who": "me", "text": "hello"}) + "\n"
    (home / "notes" / "talk.jsonl").write_text(line)
    take_in()
    known, number = archive.find("plain/talk").conversation, archive.number()
    archive.close()
    bring_down(Path(archive.address), 1)

    opened = open_archive(archive.address, clock=archive.clock)
    assert sql_of(opened).pragma("user_version") == len(connect.steps()) >= 2
    assert opened.find("plain/talk").conversation == known
    (change,) = opened.changes(0, number)
    assert change == Change(change.number, "plain/talk", 0, change.number)
    assert opened.reached("plain/talk") == change.number
    opened.close()


def test_format_2_gets_titles_out_of_files_that_have_nothing_else(
    archive: Archive, home: Path
) -> None:
    talk, titles = Transcript(), Transcript(f"b{SESSION[1:]}")
    talk.user("the first prompt", uuid="one")
    titles.meta("summary", summary="Fixing the flaky test", leafUuid="one")
    lay(home, talk.bytes())
    lay(home, titles.bytes(), titles.session)
    import_history(archive, places=Places.at(home), sources=["claude-code"])
    archive.close()
    bring_down(Path(archive.address), 2)
    old = apsw.Connection(archive.address)
    old.execute("UPDATE conversation SET title = 'the first prompt'")
    old.close()

    opened = open_archive(archive.address, clock=archive.clock)
    import_history(opened, places=Places.at(home), sources=["claude-code"])
    (found,) = opened.conversations()
    assert found.title == "Fixing the flaky test"
    opened.close()
