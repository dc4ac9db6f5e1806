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
from rireki.search.text.tokens import LONG, cut_all, fold, in_bytes, runs

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


def told(words: bytes, pairs: bytes) -> tuple[Counter[bytes], set[bytes]]:
    """What the index makes of it."""
    return Counter(words.split()), set(pairs.split())


def assert_alike(texts: list[str]) -> None:
    data = list(map(in_bytes, texts))
    ours, others = in_c().cut(texts, data), cut_all(texts, data)
    for (words, pairs), (wanted, most) in zip(map(told, *ours), map(told, *others), strict=True):
        assert words == wanted
        # Python takes some signs for spaces. That none is missing, test_pairs tells.
        assert pairs <= most
        assert pairs == most or not "".join(texts).isascii()


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
    assert fresh.cut(texts, list(map(in_bytes, texts))).words[1].decode().split() == [
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
    assert cuts.words[0].split() == list(map(in_bytes, runs(fold(text))))
    assert_alike([text])


@needed
@pytest.mark.parametrize("text", ["mainÉtat préAlpha", "é" * 1001, "№ 1ª 2º ﬁn Ǆ", "e\u0301"])
def test_what_takes_a_closer_look_is_left(text: str) -> None:
    fresh = another()
    fresh._learn(text)
    assert fresh._cut([in_bytes(text)])[1] == [0]
    assert_alike([text])


def counted(text: str) -> Counter[bytes]:
    """How often the C side writes each word, and so does Python."""
    assert_alike([text])
    return Counter(in_c().cut([text], [in_bytes(text)]).words[0].split())


@needed
def test_identifiers_are_taken_apart_once_however_often_they_stand_there() -> None:
    found = counted("fooBar getHx41 userIDs " * 500)
    assert found == {
        **dict.fromkeys([b"foobar", b"gethx41", b"userids"], 9),
        **dict.fromkeys([b"foo", b"bar", b"get", b"hx41", b"user", b"ids"], 1),
    }


@needed
@pytest.mark.parametrize(
    "word",
    ["a", "seventh", "eighteen", "numerous", "documentation", "x" * 100, "履", "履歴", "𠮷𠮷"],
)
def test_of_a_word_that_comes_often_fewer_and_fewer_are_written(word: str) -> None:
    """The first one, the second, the fourth, the eighth and so on; small or not."""
    for times in (1, 2, 3, 4, 7, 8, 100):
        for spelled in (word, word.title()):
            found = counted(" other ".join([spelled] * times))
            assert found[in_bytes(word)] == times.bit_length()


@needed
def test_words_that_only_resemble_each_other_are_counted_apart() -> None:
    words = ["serving", "servings", "serving1", "documentation", "documentations", "documentatiom"]
    text = " ".join(words * 3)
    assert counted(text) == dict.fromkeys(map(in_bytes, words), 2)


@needed
def test_a_piece_counts_as_the_word_it_is() -> None:
    assert counted("server HTTPServer") == {b"server": 2, b"httpserver": 1, b"http": 1}


@needed
def test_texts_with_more_words_than_can_be_counted_lose_none() -> None:
    words = [f"{number:x}{'long' * (number % 4)}" for number in range(20_000)]
    found = counted(" ".join(words * 2))
    assert found.keys() == set(map(in_bytes, words))
    assert set(found.values()) <= {1, 2}


@needed
def test_each_text_is_counted_by_itself() -> None:
    texts = ["again and again", "again"] * 3
    cuts = in_c().cut(texts, list(map(in_bytes, texts)))
    assert [each.count(b"again") for each in cuts.words] == [2, 1] * 3


@needed
def test_a_run_of_letters_ends_as_one_thread_saw_it() -> None:
    """Another one may learn what the next letter is in the very moment it is looked at."""
    fresh = another()
    fresh._learn("履")
    cuts, left = fresh._cut([in_bytes("履歴")])
    assert (cuts.words, left) == ([b""], [0])


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
    assert cut_many(["one turn"], [b"one turn"]).words == [b"one turn"]
