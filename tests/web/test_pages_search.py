"""The page of results: queries half typed, misspelt or asked for too much, and why a row is there."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from rireki.search.execute.snippet import beginning
from rireki.search.language.parse import parse
from rireki.search.language.query import QueryError
from rireki.search.results import Snippet
from rireki.web.pages.search import begun, chosen, instead, lines_of, narrowed, understood
from tests.web.test_errors import NOW, SOURCES


def _understood(query: str) -> str | None:
    """What is left when nothing is wrong any more."""
    for _ in range(20):
        try:
            parse(query, NOW, SOURCES)
            return query
        except QueryError as error:
            rest = understood(query, error)
            if rest is None:
                return None
            query = rest
    raise AssertionError(f"there is always something wrong with {query}")


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ('"out of mem', '"out of mem"'),
        ("“out of mem", "“out of mem”"),
        ('foo "', "foo "),
        ("since:", ""),
        ("foo since:7", "foo "),
        ('foo since:"2026-11-15 1', "foo "),
        ('project:"my a', 'project:"my a"'),
        ("foo author:m", "foo "),
        ("foo -author:m", "foo "),
        ("foo OR", "foo "),
        ("OR", ""),
        ("(a", "(a)"),
        ("foo (a OR", "foo (a)"),
        ("((a (b", "((a (b)))"),
        ("foo (", "foo "),
        ("foo (-)", "foo "),
        ("foo a*b", "foo "),
        ("foo /b[c/", "foo "),
        ("foo source:k", "foo "),
        # Wrong wherever the query goes on.
        ("author:m foo", None),
        ("a) b", None),
        ("OR a", None),
    ],
)
def test_what_is_unfinished_at_the_end_is_closed_or_left_out(typed: str, part: str | None) -> None:
    assert _understood(typed) == part


@pytest.mark.parametrize(
    ("query", "half"),
    [
        ("worker/cac", "worker/cac*"),
        ("worker.cac", "worker.cac*"),
        ("worker_cac", "worker_cac*"),
        ("worker-cac", "worker-cac*"),
        ("foo /usr/li", "foo /usr/li*"),
        ("_priv", "_priv*"),
        ("src/", "src/*"),
        ("/a/", None),
        ("source:ki", None),
        ("foo -ba", None),
        ("foo ", None),
    ],
)
def test_the_last_word_may_be_half_typed(query: str, half: str | None) -> None:
    assert begun(query, query) == half


def test_the_last_word_of_an_open_phrase_may_be_half_typed() -> None:
    assert begun('a "out of mem"', 'a "out of mem') == 'a "out of" mem*'
    assert begun('"mem"', '"mem') == "mem*"
    assert begun('"out of mem"', '"out of mem"') is None


def test_only_the_misspelt_word_is_replaced() -> None:
    query = "source:kiro tests deprecatoins -redis"
    assert instead(query, "deprecations") == "source:kiro tests deprecations -redis"
    assert instead("project:deprecatoins", "deprecations") == "deprecations"


def test_an_unfinished_query_is_told_quietly_and_only_while_it_is_typed(web: httpx.Client) -> None:
    asked = {"q": "test author:m"}
    typing = web.get("/search", params={**asked, "fragment": "1"}).json()["html"]
    assert 'role="alert"' not in typing and '<div role="status"><div class="fault"' in typing
    assert 'class="result' in typing and "Searched for test;" in typing
    whole = web.get("/search", params=asked).text
    assert 'role="alert"' in whole and 'class="result"' not in whole


def test_behind_the_last_result_there_is_a_way_back(web: httpx.Client) -> None:
    beyond = web.get("/search", params={"q": "test", "offset": "9000"}).text
    assert "Nothing found" not in beyond and "There are no further results." in beyond
    assert 'href="/search?q=test">From the beginning' in beyond
    nothing = web.get("/search", params={"q": "quokkaflux", "offset": "100"}).text
    assert "Nothing found for quokkaflux" in nothing


# ── Facets ──


@pytest.mark.parametrize(
    ("query", "name", "value", "after"),
    [
        ("foo", "source", "kiro", "foo source:kiro"),
        ("", "tool", "Bash", "tool:Bash"),
        ("foo ", "project", "/home/my app", 'foo project:"/home/my app"'),
        ("foo", "model", "gpt-5.1", "foo model:gpt-5.1"),
        ("foo", "tool", 'a"b', 'foo tool:"a\\"b"'),
        ("foo", "tool", "mcp__x(y)", 'foo tool:"mcp__x(y)"'),
    ],
)
def test_a_facet_is_a_filter_more(query: str, name: str, value: str, after: str) -> None:
    assert narrowed(query, name, value) == after
    parse(after, NOW, SOURCES)


def test_filters_can_be_taken_away_again_where_nothing_combines_them() -> None:
    query = 'foo source:kiro "a tool:b" project:"/my app" -author:person'
    assert [one.text for one in chosen(query)] == ["source:kiro", "project:/my app"]
    assert chosen(query)[0].without == 'foo "a tool:b" project:"/my app" -author:person'
    assert chosen("a source:kiro OR b") == chosen("(a source:kiro) b") == []


def test_each_facet_leaves_as_many_messages_as_it_says(web: httpx.Client) -> None:
    page = web.get("/search?q=the").text
    side = page.partition('<div id="facets">')[2].partition("</div>")[0]
    found = re.findall(r'href="(/search[^"]*)".*?class="number">([\d,]+)<', side)
    assert len(found) > 8
    for link, number in found:
        narrower = web.get(unescape(link)).text
        said = re.search(r'class="count"[^>]*>([\d,]+) message', narrower)
        assert said and said[1] == number, link
        assert "Remove this filter" in narrower
    assert 'class="number"' not in web.get("/search?q=/the|a/").text
    typed = web.get("/search?q=the&fragment=1&facets=1").json()
    assert typed["query"] == "the" and "facets=" not in typed["side"]


def test_what_a_tool_gave_stands_in_its_lines() -> None:
    text = "def one():\n    return 1\n\n\tdef two"
    snippet = beginning(text)
    assert snippet.text == "def one(): return 1 def two"
    assert [line.text for line in lines_of(snippet)] == [
        "def one():",
        "    return 1",
        "    def two",
    ]
    marked = Snippet("a b c", [(0, 3), (4, 5)], True, True, [(1, 2), (3, 0)])
    assert lines_of(marked) == [("…a", [(1, 2)]), ("  b", [(2, 3)]), ("c…", [(0, 1)])]
    assert beginning("one line").breaks == []
