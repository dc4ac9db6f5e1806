"""Whole searches over a small archive: grouping, order, pages, neighbours, titles, near words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.sweep import Report
from rireki.search.index.update import catch_up
from rireki.search.language.query import QueryError
from rireki.search.results import Results, SearchOptions
from rireki.search.search import Search

pytestmark = pytest.mark.usefixtures("plain_source")


def note(home: Path, name: str, *lines: tuple[str, str], project: str = "/src/demo") -> None:
    """A conversation of the made-up source: who said what, a minute apart."""
    folder = home / "notes"
    folder.mkdir(exist_ok=True)
    written = [
        {"id": f"{name}-{n}", "who": who, "text": text, "project": project,
         "at": f"2026-11-{10 + len(name) % 5:02}T10:{n:02}:00.000Z"}
        for n, (who, text) in enumerate(lines)
    ]  # fmt: skip
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in written)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture(params=["index", "direct"])
def find(
    request: pytest.FixtureRequest,
    archive: Archive,
    home: Path,
    take_in: Callable[[], Report],
) -> Callable[..., Results]:
    """Everything holds alike whether the index has it or the archive is read."""
    note(home, "one", ("me", "Where is the parser?"), ("agent", "In parser.py"),
         ("me", "And the 字句解析?"), ("agent", "tokens.py has it"))  # fmt: skip
    note(
        home,
        "seven",
        ("me", "parser parser parser"),
        ("agent", "enough"),
        project="/src/x/api",
    )
    note(home, "twenty", ("me", "unrelated kettle"), ("agent", "the parser of the kettle"))
    if request.param == "direct":
        # An index that has nothing of it: so little is left to be read directly.
        catch_up(archive)
    take_in()
    if request.param == "index":
        catch_up(archive)
    search = Search(archive)

    def look(query: str, **wish: int) -> Results:
        results = search.find(query, SearchOptions(**wish))  # type: ignore[arg-type]
        assert bool(results.scope.direct) == (request.param == "direct")
        return results

    return look


def names(results: Results) -> list[str]:
    return [talk.conversation.native_id for talk in results.talks]


def test_hits_are_grouped_by_conversation_the_best_first(find: Callable[..., Results]) -> None:
    results = find("parser")
    assert names(results)[0] == "seven"
    assert set(names(results)) == {"seven", "one", "twenty"}
    assert (results.messages, results.conversations, results.exact) == (4, 3, True)
    one = next(talk for talk in results.talks if talk.conversation.native_id == "one")
    assert {hit.message for hit in one.hits} == {"one-0", "one-1"} and one.total == 2
    hit = next(hit for hit in one.hits if hit.message == "one-0")
    assert (hit.author, hit.where, hit.at) == ("person", "text", "2026-11-13T10:00:00.000Z")
    (mark,) = hit.snippet.marks
    assert hit.snippet.text[slice(*mark)] == "parser"


@pytest.mark.parametrize("query", ["parser", '"the parser"'])
def test_a_conversation_with_hundreds_of_hits_leaves_the_others_theirs(
    archive: Archive, home: Path, take_in: Callable[[], Report], query: str
) -> None:
    best = ("me", "the parser the parser the parser the parser")
    note(home, "many", best, *[("agent", "the parser is one of many words")] * 300)
    note(home, "few", best, *[("agent", "the parser " + "among many others " * 20)] * 6)
    note(home, "next", ("me", "the parser the parser"))
    note(home, "last", ("me", "the parser the parser"))
    take_in()
    catch_up(archive)
    talks = Search(archive).find(query, SearchOptions(limit=2, hits=3)).talks
    assert {t.conversation.native_id: len(t.hits) for t in talks} == {"many": 3, "few": 3}


def test_a_title_takes_no_place_of_a_message(
    archive: Archive, home: Path, take_in: Callable[[], Report]
) -> None:
    """Nor is the first message of the index taken for one."""
    note(home, "one", *[("agent", "a kettle " + "and so on " * 90)] * 3, project="/src/kettle")
    for name in ("two", "three"):
        note(home, name, ("agent", "the kettle"))
    take_in()
    catch_up(archive)
    results = Search(archive).find("kettle", SearchOptions(limit=1, hits=3))
    assert names(results) == ["one"]
    assert {hit.message for hit in results.talks[0].hits} == {"one-0", "one-1", "one-2"}


def test_newest_first(find: Callable[..., Results]) -> None:
    times = [talk.hits[0].at for talk in find("parser", newest=True).talks]
    assert times == sorted(times, key=str, reverse=True)


def test_pages_follow_each_other(find: Callable[..., Results]) -> None:
    whole = names(find("parser"))
    pages = [find("parser", limit=1, offset=at) for at in range(4)]
    assert [name for page in pages for name in names(page)] == whole
    assert [page.more for page in pages] == [True, True, False, False]


@pytest.mark.parametrize(("limit", "number"), [("COUNTED", 2), ("MANY", 6)])
def test_more_conversations_than_are_told_apart(
    archive: Archive,
    home: Path,
    take_in: Callable[[], Report],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    number: int,
) -> None:
    """Too many of them, or too many messages to tell: no two conversations hold eight messages."""
    monkeypatch.setattr(f"rireki.search.execute.run.{limit}", number)
    for name in ("a", "b", "c", "d"):
        note(home, name, ("me", "same words"), ("agent", "same words again"))
    take_in()
    catch_up(archive)
    results = Search(archive).find("same", SearchOptions(limit=3))
    assert (results.messages, results.exact) == (8, True)
    assert (results.conversations, results.more_conversations) == (2, True)
    # Those of the page are counted all the same.
    assert [talk.total for talk in results.talks] == [2, 2, 2]
    for query in ("", "-other", "since:2000-01-01"):
        assert Search(archive).find(query).messages == 8


def test_neighbours(find: Callable[..., Results]) -> None:
    (talk,) = find("字句解析", context=1).talks
    (hit,) = talk.hits
    assert [n.message for n in hit.before] == ["one-1"]
    assert [n.text for n in hit.after] == ["tokens.py has it"]


def test_filters_alone_list_the_newest(find: Callable[..., Results]) -> None:
    results = find("author:person project:/src/demo")
    assert {hit.message for t in results.talks for hit in t.hits} == {"one-0", "one-2", "twenty-0"}
    times = [talk.hits[0].at for talk in results.talks]
    assert times == sorted(times, key=str, reverse=True)


@pytest.mark.parametrize("query", ["-", "  - -"])
def test_a_lone_minus_is_not_everything(find: Callable[..., Results], query: str) -> None:
    with pytest.raises(QueryError) as error:
        find(query)
    assert error.value.position == query.index("-") and "(-word)" in error.value.hint


def test_projects_are_found_by_name(find: Callable[..., Results]) -> None:
    results = find("api")
    assert names(results) == ["seven"]
    assert results.talks[0].hits[0].where == "project"
    assert results.talks[0].hits[0].message is None


def test_words_in_different_messages_are_offered_when_no_message_has_them(
    find: Callable[..., Results],
) -> None:
    results = find("parser 字句解析")
    assert results.apart and names(results) == ["one"]
    assert not find("parser kettle").apart
    assert find("kettle 字句解析").talks == []


@pytest.mark.parametrize("indexed", [True, False])
def test_of_words_in_different_messages_each_is_shown(
    archive: Archive, home: Path, take_in: Callable[[], Report], indexed: bool
) -> None:
    often = [("me", "kettle kettle kettle")] * 200
    note(home, "one", *often, ("agent", "a teapot " + "and so on " * 50), project="/src/saucer")
    note(home, "other", *often, ("agent", "the teapot"), ("agent", "its saucer"))
    take_in()
    if indexed:
        catch_up(archive)
    search = Search(archive)
    for limit in (1, 10):
        for query in ("kettle teapot", "kettle teapot saucer", '"kettle kettle" "teapot"'):
            results = search.find(query, SearchOptions(hits=3, limit=limit))
            for talk in results.talks:
                text = " ".join(hit.snippet.text for hit in talk.hits)
                assert results.apart and all(word.strip('"') in text for word in query.split())
                assert len(talk.hits) == 3 and len({hit.message for hit in talk.hits}) == 3


def test_conversations_with_the_best_hits_for_all_of_the_words_come_first(
    archive: Archive, home: Path, take_in: Callable[[], Report]
) -> None:
    poor = ("agent", "somewhere a teapot " + "and so on " * 50)
    note(home, "a", ("me", "kettle kettle kettle"), poor)
    note(home, "b", ("me", "kettle kettle"), ("me", "teapot teapot teapot"))
    note(home, "c", ("me", "kettle kettle kettle kettle"), poor)
    note(home, "d", ("me", "a teapot"), ("me", "and a teapot"))
    take_in()
    catch_up(archive)
    search = Search(archive)
    assert names(search.find("kettle teapot")) == ["b", "c", "a"]
    pages = [search.find("kettle teapot", SearchOptions(limit=1, offset=at)) for at in range(4)]
    assert [name for page in pages for name in names(page)] == ["b", "c", "a"]
    assert [(page.more, page.exact) for page in pages[:3]] == [
        (True, False),
        (True, True),
        (False, True),
    ]


def test_nothing_found_says_what_was_searched(find: Callable[..., Results]) -> None:
    results = find("kettel")
    assert results.talks == [] and results.exact
    assert results.scope.conversations == 3


def test_near_words_are_offered(
    archive: Archive, home: Path, take_in: Callable[[], Report]
) -> None:
    note(home, "one", ("me", "the kettle"))
    take_in()
    catch_up(archive)
    assert Search(archive).find("kettel").near == ["kettle"]


def test_a_title_that_answers_is_marked(
    archive: Archive, home: Path, take_in: Callable[[], Report]
) -> None:
    note(home, "one", ("me", "fix the kettle"), ("agent", "done"))
    take_in()
    (talk,) = Search(archive).find("kettle").talks
    title = talk.conversation.title
    assert [title[start:end] for start, end in talk.title_marks] == (["kettle"] if title else [])
    assert [hit.message for hit in talk.hits] == ["one-0"]


def test_where_no_index_can_be_written_the_archive_itself_is_searched(
    archive: Archive, home: Path, take_in: Callable[[], Report]
) -> None:
    note(home, "one", ("me", "fix the kettle"), ("agent", "done"))
    take_in()
    archive.home.index.write_text("not a folder")
    results = Search(archive).find("kettle")
    assert names(results) == ["one"]
    assert "cannot be written" in results.scope.slower
    assert str(archive.home.index) in results.scope.slower


PROJECTS = [
    "/src/my app",
    "/src/100%",
    "/src/100%000020x",
    "/src/全角　空白",
    "/src/Tab\there",
    # Folded, this has a space in it.
    "/src/na¨ive",
    "",
]


@pytest.mark.parametrize("long", [False, True])
def test_a_project_is_found_however_its_path_is_written(
    archive: Archive, home: Path, take_in: Callable[[], Report], long: bool
) -> None:
    """In the index a path is one word, if it is not too long for that."""
    projects = [*PROJECTS, "/src/" + "x" * 3000] if long else PROJECTS
    for number, project in enumerate(projects):
        note(home, f"n{number}", ("me", "same words"), project=project)
    take_in()
    catch_up(archive)
    search = Search(archive)
    for number, project in enumerate(projects):
        if project:
            found = search.find(f'same project:"{project}"').talks
            assert [talk.conversation.native_id for talk in found] == [f"n{number}"], project
    assert search.find("same project:src").conversations == len(projects) - 1
    assert search.find("same -project:src").conversations == 1
    assert search.find("same project:nowhere").conversations == 0
    search.close()
