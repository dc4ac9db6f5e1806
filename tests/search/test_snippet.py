"""The line shown of a message: the stretch with all the words, cut where nothing is parted."""

from __future__ import annotations

import re
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.model.clusters import seam
from rireki.search.execute.snippet import beginning, best_snippet, marks_in
from rireki.search.language.match import Matcher
from rireki.search.language.parse import parse
from rireki.search.results import Snippet

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=timezone.utc)
FILLER = "and so on it went for a while with nothing to be said about it "
#: Things that must not be cut apart.
PIECES = ["か\u3099", "👩\u200d💻", "🇯🇵", "ﾊﾞ", "❤\ufe0f", "\u1112\u1161\u11ab", "e\u0301", "👍🏽"]


def shown(query: str, *texts: str) -> Snippet:
    found = best_snippet([("text", text) for text in texts], Matcher(parse(query, NOW)))
    assert found is not None
    return found[1]


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


# ── which stretch is shown ──


@pytest.mark.parametrize("times", [6, 60, 400])
def test_the_stretch_with_all_the_words_is_shown(times: int) -> None:
    text = "database one, " * times + FILLER * 4 + "the database migration was postponed"
    snippet = shown("database migration", text)
    assert "the database migration was postponed" in snippet.text
    assert marked(snippet) == ["database", "migration"]


def test_all_the_words_count_more_than_many_of_one() -> None:
    text = "cache " * 20 + FILLER * 4 + "the cache of the index " + FILLER * 4 + "index " * 20
    assert "the cache of the index" in shown("cache index", text).text


def test_of_stretches_with_the_same_words_the_one_with_more_of_them_is_shown() -> None:
    text = f"needle {FILLER * 4} needle here, needle there {FILLER * 4} needle"
    assert "needle here, needle there" in shown("needle", text).text
    again = f"needle first {FILLER * 4} needle second"
    assert "needle first" in shown("needle", again).text


def test_words_that_just_fit_are_shown_together() -> None:
    text = FILLER * 4 + "kettle " + "x " * 70 + "teapot " + FILLER * 4
    assert marked(shown("kettle teapot", text)) == ["kettle", "teapot"]


def test_every_word_that_is_shown_is_marked() -> None:
    snippet = shown("tea", "tea " * 40)
    assert len(snippet.marks) == snippet.text.count("tea") > 20


def test_the_text_of_a_message_that_has_the_words_together_is_shown() -> None:
    apart = f"kettle {FILLER * 4} teapot"
    assert shown("kettle teapot", apart, "a teapot is no kettle").text == "a teapot is no kettle"


# ── where it is cut ──


def test_no_word_is_cut() -> None:
    words = re.findall(r"\w+", FILLER)
    for offset in range(40):
        snippet = shown("needle", "x" * offset + " " + FILLER * 4 + "needle " + FILLER * 4)
        assert set(snippet.text.split()) <= {*words, "needle"}
        assert snippet.cut_before and snippet.cut_after


@pytest.mark.parametrize("offset", range(1, 31))
def test_an_address_is_whole_or_begins_with_a_word_of_its_own(offset: int) -> None:
    address = "https://api.example.com/v1/conversations/messages"
    snippet = shown("needle", FILLER * 4 + address + " " * offset + "needle " + FILLER)
    assert re.match(r"\W*(https|api|example|com|v1|conversations|messages|\w+ )\b", snippet.text)
    assert not re.match(r"(ps|tps|ttps|s)://", snippet.text)


def test_japanese_is_cut_between_words_where_they_can_be_told() -> None:
    for offset in range(20):
        text = "あ" * offset + "データベースの" * 40 + "履歴" + "のデータベース" * 40
        snippet = shown("履歴", text)
        assert snippet.text.startswith(("データベース", "の"))
        assert snippet.text.endswith(("データベース", "の"))


@pytest.mark.parametrize("piece", PIECES)
def test_no_character_is_cut(piece: str) -> None:
    for offset in range(2 * len(piece)):
        text = "漢" * offset + piece * 90 + "履歴" + piece * 90
        snippet = shown("履歴", text)
        assert snippet.text.replace("履歴", "").replace(piece, "").strip("漢") == ""
        assert beginning(text).text.replace("履歴", "").replace(piece, "").strip("漢") == ""


def test_no_mark_is_cut() -> None:
    long = "snake_" * 12 + "case"
    for offset in range(200):
        text = "needle " + "x" * offset + f" {long} end " + FILLER * 4
        assert set(marked(shown(f"needle OR {long}", text))) <= {"needle", long}
        before = FILLER * 4 + f"{long} " + "x" * (offset % 60) + " needle needle needle"
        assert set(marked(shown(f"needle OR {long}", before))) <= {"needle", long}


def test_a_mark_longer_than_a_snippet_is_cut_between_words() -> None:
    snippet = shown("/begin.*finish/", "begin " + FILLER * 10 + " finish")
    assert snippet.marks == [(0, len(snippet.text))]
    assert set(snippet.text.split()) <= {"begin", *FILLER.split()} and snippet.cut_after


@pytest.mark.parametrize(("query", "text"), [("=か=", "か\u3099く"), ("/👩/", "a 👩\u200d💻")])
def test_no_character_is_marked_by_half(query: str, text: str) -> None:
    matcher = Matcher(parse(query, NOW))
    for marks in (shown(query, text).marks, marks_in(text, matcher)):
        assert all(seam(text, at) == at for mark in marks for at in mark) and marks


@given(
    st.lists(
        st.sampled_from([*PIECES, "needle", "履歴", " ", "\n", "a", ".", "漢", "カ", "x" * 90])
    ),
    st.sampled_from(["needle", "履歴", "needle OR 履歴", "/x+/", "=か=", '"needle 履歴"']),
)
def test_marks_are_in_order_and_inside(pieces: list[str], query: str) -> None:
    text = "".join(pieces)
    found = best_snippet([("text", text)], Matcher(parse(query, NOW)))
    if found is None:
        return
    snippet = found[1]
    edges = [at for mark in snippet.marks for at in mark]
    assert edges == sorted(set(edges)) and edges
    assert edges[0] >= 0 and edges[-1] <= len(snippet.text)
    assert snippet.text in " ".join(text.split()) and len(snippet.text) < 260
