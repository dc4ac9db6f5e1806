"""Cutting in C means the same as cutting in Python, and nobody depends on it."""

from __future__ import annotations

import ctypes
import shutil
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rireki.search.text import tokenizer
from rireki.search.text.tokenizer import (
    FOREIGN,
    JOINED,
    LEFT,
    LETTER,
    SIGN,
    Tokenizer,
    cut_many,
    kind_of,
    opened,
)
from rireki.search.text.tokens import GAP, LONG, cut_all, fold, in_bytes, stretches, terms

needed = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("cc") is None, reason="no compiler to build it"
)

_LETTERS = [
    *"\u200d\ufe0f\U000e0100\uff9e",
    *"abcXYZ019_.-/ \n\t→…．＿∕👩🚀履歴設計かなカナーｶﾞが한글ㅋéßİ①™´¨“”— \x01\x02\x03\ud800",
]
_WORDS = [
    "camelCase",
    "HTTPServer",
    "userIDs",
    "IDs",
    "utf8Text",
    "A1B2",
    "0x1F",
    "toBase64",
    "XXa",
    "Größe",
    "STRAßE",
    "İstanbul",
    "naïveté",
    "Здравствуй",
    "camelÉtat",
]
_TEXTS = st.lists(st.sampled_from(_LETTERS + _WORDS), max_size=30).map("".join)


@pytest.fixture
def other_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The library was built from another version of its source."""
    source = tmp_path / "tokenizer.c"
    source.write_text("/* newer */")
    monkeypatch.setattr(tokenizer, "_SOURCE", source)
    opened.cache_clear()
    yield
    opened.cache_clear()


def in_c() -> Tokenizer:
    found = opened()
    assert found is not None, (
        "tokenizer.c was not built from its present source: remove .venv/.ready"
    )
    return found


def another() -> Tokenizer:
    """One that was told nothing yet."""
    return Tokenizer(ctypes.CDLL(str(tokenizer._BUILT)))


def in_order(text: str) -> list[str]:
    """What is to be written of a text before the pieces of its identifiers."""
    found: list[str] = []
    for gap, run in stretches(fold(text)):
        found += [GAP] * gap + terms(run[0])
    return found


def assert_alike(texts: list[str]) -> None:
    data = list(map(in_bytes, texts))
    for text, *both in zip(texts, in_c().cut(texts, data), cut_all(texts, data), strict=True):
        ours, others = (words.decode().split() for words in both)
        wanted = in_order(in_bytes(text).decode())
        assert ours[: len(wanted)] == others[: len(wanted)] == wanted
        # Pieces may come in any order, each behind a gap.
        assert Counter(ours) == Counter(others)
        assert set(ours[len(wanted) :: 2]) <= {GAP} or max(map(len, ours)) > LONG


@needed
@settings(deadline=None, max_examples=500)
@given(st.lists(_TEXTS, max_size=4))
@example(["wait…what", "self．mode", "a＿b"])
@example(["", "x", ""])
@example(["Git履歴を見るgitLog"])
@example(["か\uff9eっこう がﾟ"])
def test_both_sides_cut_alike(texts: list[str]) -> None:
    assert_alike(texts)


@needed
@settings(deadline=None, max_examples=300)
@given(st.text(max_size=30))
def test_both_sides_cut_any_text_alike(text: str) -> None:
    assert_alike([text, f"some words{text}and othersToo"])


@needed
@pytest.mark.parametrize("unit", ["a ", "履", "履歴 ", "a履", "aB", "aBc1 ", "🚀", "x.y ", "A1b2"])
def test_there_is_room_for_what_becomes_longest(unit: str) -> None:
    assert_alike([unit * 2000, "between", unit * 499])


@needed
def test_long_words_are_left_to_python() -> None:
    for size in (LONG - 1, LONG, LONG + 1, 5 * LONG):
        assert_alike(["w" * size, "aB" * size])


@needed
def test_many_identifiers_are_all_taken_apart() -> None:
    assert_alike([" ".join(f"get{chr(65 + n % 26)}x{n}Value" for n in range(5000))])


@needed
def test_what_is_new_in_several_texts_is_learned_for_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = another()
    monkeypatch.setattr(tokenizer, "cut_all", lambda *_: pytest.fail("it was left to Python"))
    texts = ["履歴 some text", "履歴 again", "other words"]
    assert fresh.cut(texts, list(map(in_bytes, texts)))[1].decode().split() == [
        "履歴",
        "歴",
        "again",
    ]


@needed
@pytest.mark.parametrize(
    "text",
    [
        "Über die Größe der Straße, naïveté déjà vue",
        "ÜBER DIE GRÖSSE FÜR ALLE",
        "Здравствуй, мир! Ελληνικά ΣΑΣ שלום سلام",
        "İstanbul ılık çay",
        "é" * 500,
    ],
)
def test_letters_of_other_scripts_with_spaces_are_not_left_to_python(text: str) -> None:
    fresh = another()
    fresh._learn(text)
    cuts, left = fresh._cut([in_bytes(text)])
    assert not left
    assert cuts[0].decode().split() == in_order(text)
    assert_alike([text])


@needed
@pytest.mark.parametrize("text", ["mainÉtat préAlpha", "é" * 1001, "№ 1ª 2º ﬁn Ǆ", "e\u0301"])
def test_what_takes_a_closer_look_is_left(text: str) -> None:
    fresh = another()
    fresh._learn(text)
    assert fresh._cut([in_bytes(text)])[1] == [0]
    assert_alike([text])


@needed
def test_identifiers_are_taken_apart_once_however_often_they_stand_there() -> None:
    text = "fooBar getHx41 userIDs " * 500
    assert_alike([text])
    assert Counter(in_c().cut([text], [in_bytes(text)])[0].decode().split()) == {
        **dict.fromkeys(["foobar", "gethx41", "userids"], 500),
        **dict.fromkeys(["foo", "bar", "get", "hx41", "user", "ids"], 1),
        GAP: 6,
    }


@needed
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We can\n\tnot,say", "we can not | say"),
        ("self.mode  (a) ", "self | mode | a"),
        ("linuxカーネル", "linux | カー ーネ ネル ル"),
        ("Linux カーネル", "linux カー ーネ ネル ル"),
        ("履歴 設計、検索", "履歴 歴 設計 計 | 検索 索"),
        ("a\u3000b\u00a0c→d", "a b c | d"),
        ("getValue of it", "getvalue of it | get | value"),
    ],
)
def test_there_is_a_gap_unless_words_have_just_white_space_between_them(
    text: str, words: str
) -> None:
    assert_alike([text])
    assert in_c().cut([text], [in_bytes(text)])[0].decode().split() == words.split()


@needed
def test_a_run_of_letters_ends_as_one_thread_saw_it() -> None:
    """Another one may learn what the next letter is in the very moment it is looked at."""
    fresh = another()
    fresh._learn("履")
    cuts, left = fresh._cut([in_bytes("履歴")])
    assert (cuts, left) == ([b""], [0])


@needed
def test_nothing_that_it_cuts_becomes_another_character_beside_its_neighbour() -> None:
    """It looks at characters one by one, and texts are folded as a whole."""
    kinds = {code: kind_of(chr(code)) for code in range(sys.maxunicode + 1)}
    for code in kinds:
        made_of = unicodedata.decomposition(chr(code)).split()
        if len(made_of) == 2 and not made_of[0].startswith("<"):
            of = {kinds[int(part, 16)] for part in made_of}
            # Marks that become another mark are signs before and after.
            assert LEFT in of or of == {kinds[code]} == {SIGN}, f"U+{code:04X}"
    assert kinds[ord("履")] == kinds[ord("한")] == JOINED
    assert kinds[ord("a")] == LETTER
    assert kinds[ord("é")] == kinds[ord("ß")] == kinds[ord("Я")] == FOREIGN
    assert kinds[0x301] == kinds[0x3099] == kinds[0x1161] == LEFT
    # Half-width sound marks have another form, which is one of those.
    assert kinds[0xFF9E] == kinds[0xFF9F] == LEFT


def test_texts_are_cut_without_it(other_source: None) -> None:
    assert opened() is None
    texts = ["some camelCase words", "履歴 " * 10_000]
    data = list(map(in_bytes, texts))
    assert cut_many(texts, data) == cut_all(texts, data)


@needed
def test_a_few_texts_are_cut_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes in one turn does not open a library for it."""
    monkeypatch.setattr(tokenizer, "opened", lambda: pytest.fail("it was opened"))
    assert cut_many(["one turn"], [b"one turn"]) == [b"one turn"]
