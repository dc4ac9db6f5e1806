"""Where words are in a text tells where a phrase is: exactly, or with too many places, never too few."""

from __future__ import annotations

import sys

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rireki.search.execute.plan import positions, tells_all
from rireki.search.language.match import finder_of
from rireki.search.language.query import Phrase, Word
from rireki.search.text.normalized import Folded, melts
from rireki.search.text.tokenizer import opened
from rireki.search.text.tokens import cut_all, fold, in_bytes, runs

SPACES = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace())
_WORDS = [
    *("We", "can", "NOT", "a", "is", "the", "42", "utf8", "snake_case", "camelCase", "self.mode"),
    *("naïve", "Straße", "ﬁne", "K", "İstanbul", "cafe\u0301", "x\u0302", "Ａｂｃ", "²", "①"),
    *("履歴", "履", "歴", "linuxカーネル", "linux", "カーネル", "ㅋㅋ", "한글", "ﾊﾞｯｸ"),
]
_SIGNS = [
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
_GAPS = [*SPACES, "  ", "\n\n    ", *_SIGNS]
_TEXTS = st.lists(st.sampled_from(_WORDS + _GAPS), max_size=14).map("".join)


def in_index(text: str) -> list[list[str]]:
    """The words of a text at their positions, as each side cuts them."""
    tokenizer = opened()
    cuts = [cut_all([text], [in_bytes(text)])]
    if tokenizer is not None:
        cuts.append(tokenizer.cut([text], [in_bytes(text)]))
    return [words.decode().split() for (words,) in cuts]


def is_found(spots: list[tuple[int, str]], words: list[str]) -> bool:
    return any(
        all(words[at + place : at + place + 1] == [term] for place, term in spots)
        for at in range(-1, len(words))
    )


def assert_told(leaf: Phrase | Word, text: str) -> None:
    folded = " ".join(fold(leaf.text).split())
    spots, rest = positions(folded)
    if not spots:
        return
    stands = next(finder_of(leaf)(Folded(text)), None) is not None
    for words in in_index(text):
        assert is_found(spots, words) or not stands
        if tells_all(folded, spots, rest):
            assert is_found(spots, words) == stands


@settings(deadline=None, max_examples=600)
@given(_TEXTS, _TEXTS, st.integers(0, 60), st.integers(1, 40))
@example("a\u2028We can", "", 0, 8)
@example("wait…what", "", 0, 40)
@example("getValue get, value", "get value", 0, 40)
@example("Linux カーネル", "linuxカーネル", 0, 40)
@example("linuxカーネル", "Linux カーネル", 0, 40)
def test_a_phrase_is_where_its_positions_are(text: str, other: str, start: int, size: int) -> None:
    """Any piece of a text, with its white space and letters spelled another way; and any other one."""
    piece = text[start : start + size]
    for wanted in (text, piece, " ".join(piece.split()), piece.upper(), other):
        assert_told(Phrase(wanted), text)
    for word in [*piece.split(), *other.split()]:
        if runs(fold(word)) != [fold(word)]:
            assert_told(Word(word), text)


@settings(deadline=None, max_examples=600)
@given(_TEXTS, st.integers(0, 60), st.integers(1, 40))
def test_an_exact_text_is_among_those_its_positions_find(text: str, start: int, size: int) -> None:
    piece = text[start : start + size]
    while piece and melts(piece[0]):
        piece = piece[1:]
    folded = fold(piece)
    while folded and melts(folded[-1]):
        folded = folded[:-1]
    spots, _ = positions(folded, inside=True)
    assert not spots or all(is_found(spots, words) for words in in_index(text))


def test_phrases_of_words_and_long_japanese_are_told_exactly() -> None:
    for phrase in ("we can not", "履歴の設計", "履歴 設計 です", "linux カーネル", "履"):
        assert tells_all(phrase, *positions(phrase)), phrase
    for phrase in (
        "we",
        "we, can",
        "self.mode",
        "linuxカーネル",
        "(we can",
        "linux 履",
        "a " + "x" * 1000,
    ):
        assert not tells_all(phrase, *positions(phrase)), phrase
