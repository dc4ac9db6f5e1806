"""Columns are counted as a terminal counts them, for Japanese too."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.show.width import clusters, pad, truncate, width, wrap

MIXED = st.text(st.sampled_from("ab c,漢字かなー。「」é👩\u200d💻\u0301ﾊﾝ"), max_size=60)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("履歴", 4),
        ("ﾊﾝｶｸ", 4),
        ("e\u0301", 1),
        ("👩‍💻", 2),
        ("👍🏽", 2),
        ("❤️", 2),
        ("🇯🇵", 2),
        ("が\u3099", 2),
        ("", 0),
    ],
)
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


def test_what_looks_like_one_character_is_not_cut() -> None:
    assert [cluster for cluster, _ in clusters("e\u0301👩‍💻x")] == ["e\u0301", "👩‍💻", "x"]
    assert list(clusters("🇯🇵🇫🇷ﾊﾞ")) == [("🇯🇵", 2), ("🇫🇷", 2), ("ﾊﾞ", 2)]


def test_truncation_tells_that_it_cut() -> None:
    assert truncate("設定ファイル", 12) == "設定ファイル"
    assert truncate("設定ファイル", 11) == "設定ファイ…"
    assert truncate("設定ファイル", 10) == "設定ファ…"
    assert truncate("abc", 0) == ""


def test_padding_fills_to_the_column() -> None:
    assert pad("履歴", 6) == "履歴  "
    assert pad("7", 3, right=True) == "  7"
    assert width(pad("設定ファイル", 9)) == 9


@given(MIXED, st.integers(1, 20))
def test_truncated_text_never_exceeds_its_columns(text: str, columns: int) -> None:
    assert width(truncate(text, columns)) <= columns


@given(MIXED, st.integers(2, 20))
def test_wrapped_lines_fit_and_lose_no_letter(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_words_stay_whole_and_japanese_breaks_anywhere() -> None:
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert wrap("設定ファイルを読む", 10) == ["設定ファイ", "ルを読む"]


def test_a_line_does_not_begin_with_a_closing_mark() -> None:
    assert wrap("これは履歴。次", 10) == ["これは履", "歴。次"]
    assert wrap("あいう「えお」", 8) == ["あいう", "「えお」"]


def test_continuations_keep_the_indentation() -> None:
    assert wrap("    return one + two", 14) == ["    return one", "    + two"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert wrap("https://example.com/x", 8) == ["https://", "example.", "com/x"]


def test_a_line_of_megabytes_takes_no_minutes() -> None:
    assert len(wrap("x" * 1_000_000, 80)) == 12_500
    assert len(wrap("あ" * 200_000, 80)) == 5_000
    assert truncate("あ" * 10_000_000, 10) == "ああああ…"


def test_the_work_for_a_long_word_among_others_grows_with_its_length() -> None:
    """Found by fuzzing: brackets nested 100,000 deep beside an "é" took more than ten seconds."""
    began = process_time()
    assert len(wrap("é" + "[" * 600_000, 80)) == 7_501
    assert process_time() - began < 8
