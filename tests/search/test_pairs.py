"""Pairs of neighbouring words never keep a phrase from being found."""

from __future__ import annotations

import sys

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rireki.search.language.match import finder_of
from rireki.search.language.query import Exact, Phrase, Word
from rireki.search.text.normalized import Folded
from rireki.search.text.pairs import SPACES, pairs_in, pairs_of
from rireki.search.text.tokenizer import opened
from rireki.search.text.tokens import cut_all, fold, in_bytes, runs

_WORDS = [
    *("We", "can", "NOT", "a", "is", "the", "42", "utf8", "snake_case", "camelCase", "self.mode"),
    *("naïve", "Straße", "ﬁne", "K", "İstanbul", "cafe\u0301", "x\u0302", "Ａｂｃ", "²", "①"),
    *("履歴", "linuxカーネル", "ㅋㅋ", "한글", "ﾊﾞｯｸ"),
]
_GAPS = [
    *SPACES,
    "  ",
    "\n\n    ",
    ", ",
    "→",
    "-",
    "",
    "|",
    "\x02",
    "\x03",
    "…",
    "．",
    "＿",
    "´",
    "\u200b",
    "\ufe0f",
    "\ud800",
]
_TEXTS = st.lists(st.sampled_from(_WORDS + _GAPS), max_size=14).map("".join)


def neighbours(text: str) -> set[str]:
    """What the index keeps, whoever cut the text: only what both sides have counts here."""
    tokenizer = opened()
    cuts = [cut_all([text], [in_bytes(text)])]
    if tokenizer is not None:
        cuts.append(tokenizer.cut([text], [in_bytes(text)]))
    return set.intersection(*(set(each.pairs[0].decode().split()) for each in cuts))


def stands_in(leaf: Phrase | Exact | Word, text: str) -> bool:
    return next(finder_of(leaf)(Folded(text)), None) is not None


def test_all_white_space_counts() -> None:
    every = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace())
    assert every == SPACES


def test_words_are_told_apart_by_their_ends() -> None:
    (pairs,) = pairs_in([b"We can not, say"])
    first, second = pairs.decode().split()
    assert first[1] == second[0] and pairs_of("we can not") == {first, second}
    assert not pairs_of("not, say")
    assert neighbours("we\n\tCAN\u2003not,say") == pairs_of("we can not")
    assert pairs_of("self.first_name") == pairs_of("self first name")
    # Hardly two of these are of one kind.
    (others,) = pairs_in([b"the is in if not can we which an for be used string names"])
    assert len(set(others)) > 10


def test_texts_do_not_run_into_each_other() -> None:
    several = [b"", b"one two", b"", b"three", b"  four  ", b"five six five", b"", b""]
    assert [len(pairs.split()) for pairs in pairs_in(several)] == [0, 1, 0, 0, 0, 2, 0, 0]
    assert cut_all([], []).pairs == []


def test_a_word_that_may_go_on_tells_nothing() -> None:
    assert pairs_of("one two three", begun=True, goes_on=True) == set()
    assert pairs_of("one two three four", begun=True, goes_on=True) == pairs_of("two three")
    assert pairs_of("one two three", goes_on=True) == pairs_of("one two")
    assert pairs_of("(one two three)", begun=True, goes_on=True) == pairs_of("one two three")


@settings(deadline=None, max_examples=600)
@given(_TEXTS, st.integers(0, 60), st.integers(1, 40))
@example("a\u2028We can", 0, 8)
@example("naïve We\u2028can", 0, 40)
@example("wait…what", 0, 40)
@example("self．mode a＿b", 0, 40)
def test_a_phrase_has_no_pair_that_its_text_lacks(text: str, start: int, size: int) -> None:
    """Any piece of a text, with its white space and letters spelled another way."""
    piece = text[start : start + size]
    for spelled in (piece, " ".join(piece.split()), piece.upper(), fold(piece)):
        if spelled.strip() and stands_in(Phrase(spelled), text):
            assert pairs_of(fold(spelled)) <= neighbours(text)
    for word in piece.split():
        if runs(fold(word)) != [fold(word)] and stands_in(Word(word), text):
            assert pairs_of(fold(word)) <= neighbours(text)


@settings(deadline=None, max_examples=600)
@given(_TEXTS, st.integers(0, 60), st.integers(1, 40))
def test_an_exact_text_has_no_pair_that_its_text_lacks(text: str, start: int, size: int) -> None:
    piece = text[start : start + size]
    assert pairs_of(fold(piece), begun=True, goes_on=True) <= neighbours(text)
