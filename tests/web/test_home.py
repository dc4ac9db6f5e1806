"""The first page: what waits and runs, the week, the year, and a list whose address is its order and filter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from html import unescape
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.model.activity import Activity
from rireki.search.index.importing import take_in
from rireki.search.index.update import catch_up
from rireki.search.last_words import last_words
from rireki.sources.kit.places import Places
from rireki.web.locale.dates import lasted
from rireki.web.parts.turn_days import TurnDays
from rireki.web.serve import Server
from tests.sources.transcripts import Transcript
from tests.web.conftest import client_of, serving

#: Days ago, turns, minutes between them, and output tokens of an answer.
STAYS = [(0, 2, 1, 10), (1, 5, 30, 1000), (9, 1, 1, 100_000), (400, 3, 1, 10)]
PROJECT = "-home-dev-app"


def at(days: int, minutes: int = 0) -> str:
    noon = datetime.now().astimezone().replace(hour=12, minute=0, second=0, microsecond=0)
    moment = noon - timedelta(days=days) + timedelta(minutes=minutes)
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def session(number: int, days: int, turns: int, minutes: int, output: int) -> Transcript:
    made = Transcript(f"{number:08x}-1111-4000-8000-000000000000")
    for turn in range(turns):
        when = at(days, turn * minutes)
        made.user(f"prompt {number}", timestamp=when, uuid=f"u-{number}-{turn}")
        made.answer(
            f"## Answer\n**{number}** of `{turn}`",
            timestamp=when,
            uuid=f"a-{number}-{turn}",
            id=f"m-{number}-{turn}",
            model="claude-sonnet-4-5-20250929",
            output=output,
        )
    return made


def write(home: Path, made: Transcript) -> None:
    folder = home / ".claude" / "projects" / PROJECT
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{made.session}.jsonl").write_bytes(b"".join(made.lines))


def taken(home: Path, place: Path) -> None:
    with closing(open_archive(place, create=True)) as archive:
        take_in(archive, Places.at(home), index=False)
        catch_up(archive)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("lived")
    for number, stay in enumerate(STAYS):
        write(place / "home", session(number, *stay))
    taken(place / "home", place / "archive.sqlite3")
    with serving(place / "archive.sqlite3", place / "home") as server:
        yield server


@pytest.fixture
def home(lived: Server) -> Iterator[Callable[[str], str]]:
    with client_of(lived) as client:
        yield lambda path: client.get(path).text


def rows(html: str) -> list[int]:
    """The numbers of the conversations that are listed."""
    return [int(id, 16) for id in re.findall(r'data-conversation="claude-code/(\w{8})', html)]


def row(html: str, number: int) -> str:
    found = html.partition(f'data-conversation="claude-code/{number:08x}')[2]
    return unescape(re.sub(r"<[^>]+>", " ", found.partition("</li>")[0].partition(">")[2]))


def test_a_row_tells_the_last_words_the_model_how_long_and_what_it_cost(
    home: Callable[[str], str],
) -> None:
    told = " ".join(row(home("/"), 1).split())
    assert "agent Answer 1 of 4" in told
    assert "claude-sonnet-4-5 5 turns 2 h" in told
    # 50 tokens in at $3 and 5,000 out at $15 a million.
    assert told.endswith("$0.08")


def test_the_week_stands_beside_the_week_before(home: Callable[[str], str]) -> None:
    page = home("/")
    tiles = [
        re.sub(r"<[^>]+>", " ", one).split()
        for one in re.findall(r"<li[^>]*><strong.*?</li>", page)
    ]
    assert [" ".join(tile) for tile in tiles] == [
        "2 conversations 1 the week before",
        "7 turns 1 the week before",
        "5.1K tokens 100K the week before",
        "$0.08 cost $1.50 the week before",
    ]
    assert "直近 7 日間" in home("/?lang=ja")


def test_each_day_of_the_year_leads_to_what_went_on_then(home: Callable[[str], str]) -> None:
    days = re.findall(r'href="/\?day=([\d-]+)" aria-label="([^"]+)"', home("/"))
    assert [told.rpartition(": ")[2] for _, told in days] == ["1 turn", "5 turns", "2 turns"]
    assert rows(home(f"/?day={days[1][0]}")) == [1]
    page = home(f"/?day={days[1][0]}")
    assert f"day={days[0][0]}" in page and f"day={days[2][0]}" in page
    assert rows(home(f"/?day={at(400)[:10]}")) == [3]
    assert rows(home("/?day=nonsense")) == rows(home("/?day=9999-99-99")) == [0, 1, 2, 3]


def test_the_order_stays_in_the_address(home: Callable[[str], str]) -> None:
    assert rows(home("/?sort=oldest")) == [3, 2, 1, 0]
    assert rows(home("/?sort=longest"))[0] == 1
    assert rows(home("/?sort=turns")) == [1, 3, 0, 2]
    assert rows(home("/?sort=cost"))[:2] == [2, 1]
    assert rows(home("/?sort=nonsense")) == [0, 1, 2, 3]
    links = re.findall(r'href="([^"]*)"[^>]*>Most turns first', home("/?source=claude-code"))
    assert links == ["/?source=claude-code&amp;sort=turns"]


def test_without_money_no_cost_is_told(
    home: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.web.pages.home.shows_money", lambda: False)
    assert "$" not in home("/") and "sort=cost" not in home("/")
    assert rows(home("/?sort=cost")) == [0, 1, 2, 3]


def test_what_waits_stands_above_what_is_at_work(
    lived: Server, home: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {number: f"claude-code/{number:08x}-1111-4000-8000-000000000000" for number in range(4)}
    doing = [
        Activity("claude-code", ids[2], "working", "Bash", at(0)),
        Activity("claude-code", ids[1], "permission", "rm -r build", at(0)),
        Activity("claude-code", ids[0], "idle"),
        Activity("claude-code", "claude-code/not-there", "working"),
    ]
    monkeypatch.setattr(
        lived.broadcaster, "activities", lambda archive: {one.conversation: one for one in doing}
    )
    now = home("/").partition('<div id="now"')[2].partition('<section class="week"')[0]
    assert re.findall(r'href="/c/claude-code/(\w{8})', now) == ["00000001", "00000002"]
    assert "waits for your permission · rm -r build" in now
    assert (
        "/c/"
        not in home("/?sort=oldest&source=aider")
        .partition('<div id="now"')[2]
        .partition('<div id="list"')[0]
    )


def test_a_fork_counts_its_turns_once_and_what_changes_is_counted_anew(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "archive.sqlite3"
    first = session(1, 3, 4, 1, 10)
    write(home, first)
    write(home, session(2, 5, 1, 1, 10))
    taken(home, place)
    kept = TurnDays()
    with closing(open_archive(place)) as archive:
        assert sorted(kept.of(archive).values()) == [1, 4]
    fork = Transcript("ffffffff-1111-4000-8000-000000000000")
    fork.lines = [
        line.replace(first.session.encode(), fork.session.encode()) for line in first.lines
    ]
    fork.user("another way", timestamp=at(3, 50), uuid="fork")
    write(home, fork)
    taken(home, place)
    with closing(open_archive(place)) as archive:
        assert sorted(kept.of(archive).values()) == [1, 5]
        assert kept.of(archive) == TurnDays().of(archive)


def test_the_last_words_are_those_of_the_index_or_nothing(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "archive.sqlite3"
    made = session(1, 3, 2, 1, 10)
    made.user("<command-name>/clear</command-name>", timestamp=at(3, 9), uuid="command")
    made.call("c1", timestamp=at(3, 10), uuid="call")
    made.result("c1", "output nobody said", timestamp=at(3, 11), uuid="result")
    write(home, made)
    taken(home, place)
    with closing(open_archive(place)) as archive:
        numbers = {one.id: one.changed for one in archive.headings()}
        (said,) = last_words(archive, numbers).values()
        assert said == ("agent", "Answer 1 of 1")
        assert last_words(archive, {id: number + 1 for id, number in numbers.items()}) == {}
        (about,) = archive.conversations(Filter())
    write(home, _going_on(made))
    with serving(place, home, keep=True) as server, client_of(server) as client:
        server.keeper.wait(20)  # type: ignore[union-attr]
        assert (
            "and now this"
            in client.get(f"/fragments/home?ids={about.id}").json()["rows"][0]["html"]
        )


def _going_on(made: Transcript) -> Transcript:
    made.user("and now this", timestamp=at(2), uuid="later")
    return made


def test_a_damaged_index_tells_no_last_words(tmp_path: Path, indexed: Archive) -> None:
    numbers = {one.id: one.changed for one in indexed.headings()}
    assert len(last_words(indexed, numbers)) == 1
    for texts in indexed.home.index.glob("*/texts.sqlite3"):
        texts.write_bytes(b"no database")
    assert last_words(indexed, numbers) == {}


@pytest.fixture
def indexed(tmp_path: Path) -> Iterator[Archive]:
    write(tmp_path / "home", session(1, 3, 2, 1, 10))
    taken(tmp_path / "home", tmp_path / "archive.sqlite3")
    with closing(open_archive(tmp_path / "archive.sqlite3")) as archive:
        yield archive


def test_how_long_it_took_is_told_in_one_unit() -> None:
    assert [lasted("en", seconds) for seconds in (0, 59, 61, 7100, 7300, 200_000)] == [
        *("", "", "1 min", "118 min", "2 h", "2 d")
    ]
    assert lasted("ja", 7300) == "2時間"
