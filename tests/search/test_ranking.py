"""What comes first, and how many there are: whether the index is asked or the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.search.index.importing import take_in
from rireki.search.index.update import catch_up
from rireki.search.results import Results, SearchOptions
from rireki.search.search import Search
from rireki.sources.kit.places import Places
from tests.sources.transcripts import Transcript, lay

FILLER = "some lines of output that say this and that about files and tests and other matters\n"


def _talk(home: Path, number: int, *texts: str, title: str = "", day: int = 1) -> Path:
    """A conversation in a file of its own; a day tells which is newer."""
    session = f"00000000-0000-4000-8000-{number:012}"
    transcript = Transcript(session)
    if title:
        transcript.meta("custom-title", customTitle=title)
    for place, text in enumerate(texts):
        transcript.user(
            text,
            uuid=f"{number:08}-{place:04}-4000-8000-000000000000",
            timestamp=f"2026-10-{day:02}T10:00:00.000Z",
        )
    return lay(home, transcript.bytes(), session)


def _ids(results: Results) -> list[int]:
    return [int(talk.conversation.id[-12:]) for talk in results.talks]


def test_what_was_just_written_keeps_its_rank(archive: Archive, home: Path) -> None:
    """Read directly, a short message counts as much as one of the index."""
    path = _talk(home, 1, "the cachebug again", "a second matter")
    for number in range(2, 40):
        _talk(home, number, FILLER * 20 + "cachebug " * 3 + FILLER * 20)
    take_in(archive, Places.at(home))
    catch_up(archive)
    search = Search(archive)
    assert _ids(search.find("cachebug"))[0] == 1
    more = Transcript("00000000-0000-4000-8000-000000000001")
    more.user("thanks, bye", uuid="00000001-0009-4000-8000-000000000000")
    path.write_bytes(path.read_bytes() + more.bytes())
    take_in(archive, Places.at(home))
    results = search.find("cachebug")
    assert results.scope.direct == 1 and _ids(results)[0] == 1
    search.close()


@pytest.mark.parametrize("query", ["wombatword", "wombatword census"])
def test_titles_are_counted_to_the_last(archive: Archive, home: Path, query: str) -> None:
    for number in range(1, 31):
        _talk(home, number, f"about something else {number}", title=f"wombatword census {number}")
    for number in range(31, 36):
        _talk(home, number, "wombatword census in a message")
    take_in(archive, Places.at(home))
    catch_up(archive)
    search = Search(archive)
    for limit in (1, 10, 100):
        results = search.find(query, SearchOptions(limit=limit))
        assert (results.conversations, results.exact, results.more_conversations) == (
            35,
            True,
            False,
        )
    search.close()


def test_too_many_titles_to_check_are_said_to_be_more(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.search.execute.run.CHECKED", 10)
    for number in range(1, 31):
        _talk(home, number, f"about something else {number}", title=f"wombatword census {number}")
    take_in(archive, Places.at(home))
    catch_up(archive)
    search = Search(archive)
    results = search.find("wombatword census", SearchOptions(limit=1))
    assert results.more_conversations and 10 <= results.conversations <= 30
    search.close()


def test_equals_come_newest_first_and_titles_before_outputs(archive: Archive, home: Path) -> None:
    days = [3, 1, 9, 5, 7, 2, 8, 4, 6]
    for day in days:
        _talk(home, day, "something else", title="wombatword", day=day)
    _talk(home, 20, FILLER * 5 + "wombatword " + FILLER * 5, day=20)
    take_in(archive, Places.at(home))
    catch_up(archive)
    search = Search(archive)
    assert _ids(search.find("wombatword")) == [*range(9, 0, -1), 20]
    search.close()
