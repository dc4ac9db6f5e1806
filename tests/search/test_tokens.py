"""How text is folded and cut, and that finding by the cut words means the same as looking at the text."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rireki.search.language.match import finder_of
from rireki.search.language.query import Word
from rireki.search.text.normalized import Folded
from rireki.search.text.tokens import (
    GAP,
    LONG,
    cut_all,
    fold,
    in_bytes,
    is_joined,
    is_named,
    pieces,
    runs,
    terms,
)


def sequence(text: str) -> list[str]:
    """The words of a text in its order, and behind them pieces of identifiers."""
    (words,) = cut_all([text], [in_bytes(text)])
    return words.decode().split()


def words(text: str) -> set[str]:
    return set(sequence(text)) - {GAP}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ１２３", "abc123"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
        ("か\u3099", "が"),
        ("e\u0301tude", "ÉTUDE"),
        ("한글", unicodedata.normalize("NFD", "한글")),
        ("ﬁle", "file"),
        ("Straße", "STRASSE"),
        ("①", "1"),
        # Whoever types "istanbul" cannot mean another town.
        ("İSTANBUL", "istanbul"),
        ("ılık", "ILIK"),
        ("i\u0307\u0301", "í"),
        ("Ｇｉｔ履歴", "git履歴"),
        # How a character is drawn.
        ("葛\U000e0100城市", "葛城市"),
        ("✔\ufe0f done", "✔ done"),
    ],
)
def test_spellings_of_one_text_fold_into_one(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert words(one) == words(other)


def test_kana_stay_what_they_are() -> None:
    assert fold("りれき") != fold("リレキ")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("snake_case_name", {"snake", "case", "name"}),
        ("camelCaseNeedleXy", {"camelcaseneedlexy", "camel", "case", "needle", "xy"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("os.path.join", {"os", "path", "join"}),
        ("/usr/local/lib", {"usr", "local", "lib"}),
        ("python3", {"python3"}),
        ("utf8Decode", {"utf8decode", "utf8", "decode"}),
        ("履歴", {"履歴", "歴"}),
        ("履", {"履"}),
        ("linuxカーネル", {"linux", "カー", "ーネ", "ネル", "ル"}),
        ("Git履歴を", {"git", "履歴", "歴を", "を"}),
        ("設計→検索", {"設計", "計", "検索", "索"}),
        (
            "サーバー・クライアント",
            {"サー", "ーバ", "バー", "ー", "クラ", "ライ", "イア", "アン", "ント", "ト"},
        ),
        ("a → b ✓ c", {"a", "b", "c"}),
        ("don’t", {"don", "t"}),
        ("café", {"café"}),
        ("5471a680", {"5471a680"}),
    ],
)
def test_what_a_text_is_found_by(text: str, found: set[str]) -> None:
    assert words(text) == found


def test_a_very_long_word_is_kept_in_overlapping_parts() -> None:
    word = "".join(f"{n:x}" for n in range(2000))
    found = terms(word)
    assert all(len(term) <= LONG + 1 for term in found)
    for start in range(0, len(word) - LONG // 2, 97):
        piece = word[start : start + LONG // 2]
        assert any(piece in term for term in found)
    assert words(word) == set(found)


@pytest.mark.parametrize("word", ["word", "ABC", "x", "A", "12", "i18n"])
def test_one_piece_is_no_pieces(word: str) -> None:
    assert pieces(word) == []


# ── the cut words and the text agree ──

_LETTERS = st.sampled_from(
    list("abcXYZ019_.-/ \n") + list("履歴設計かなカナｶﾞ한글がé√→ß①Ａｚ・ー\ufe0f")
)
_TEXTS = st.text(_LETTERS, max_size=40)


def matches(word: str, text: str) -> bool:
    return next(finder_of(Word(word))(Folded(text)), None) is not None


@settings(deadline=None, max_examples=400)
@given(_TEXTS, _TEXTS)
@example("", "aB")
def test_a_single_word_is_found_by_its_term_just_where_it_stands(word: str, text: str) -> None:
    """The index decides these alone: it must say exactly what a look at the text says."""
    folded = fold(word)
    if runs(folded) != [folded] or pieces(word):
        return
    found = words(text)
    if not is_joined(folded):
        numbered = is_named(folded) and any(re.fullmatch(folded + "[0-9]+", t) for t in found)
        assert (folded in found or numbered) == matches(word, text)
    elif len(folded) == 1:
        assert any(term.startswith(folded) for term in found) == matches(word, text)
    elif len(folded) == 2:
        assert (folded in found) == matches(word, text)


@settings(deadline=None, max_examples=400)
@given(_TEXTS, _TEXTS)
@example("X", "XXa")
@example("Xa", "XXa")
@example("X", "fooXBar")
@example("ba", "ABa1")
def test_what_matches_has_all_the_terms(word: str, text: str) -> None:
    """Where the index cannot decide, it must not leave out."""
    folded = fold(word)
    if not runs(folded) or not matches(word, text):
        return
    found = words(text)
    whole = all(
        any(term.startswith(run) for term in found)
        if is_joined(run) and len(run) == 1
        else all(run[at : at + 2] in found for at in range(len(run) - 1))
        if is_joined(run)
        else set(terms(run)) <= found
        for run in runs(folded)
    )
    numbered = any(re.fullmatch(re.escape(folded) + "[0-9]+", term) for term in found)
    assert whole or numbered or (pieces(word) and set(pieces(word)) <= found)


@settings(deadline=None, max_examples=300)
@given(_TEXTS)
def test_places_lead_back_to_what_was_folded(text: str) -> None:
    folded = Folded(text)
    assert [folded.place(at) for at in range(len(folded.text) + 1)] == sorted(
        folded.place(at) for at in range(len(folded.text) + 1)
    )
    for at in range(len(folded.text)):
        start, end = folded.span(at, at + 1)
        assert folded.text[at] in fold(text[start:end]) and start < end
