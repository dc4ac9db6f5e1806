"""What looks like one character stays whole, however many it is written as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.model.clusters import beginning, seam

WHOLE = [
    "e\u0301",
    "か\u3099",
    "ﾊﾞ",
    "❤\ufe0f",
    "漢\U000e0100",
    "👩\u200d💻",
    "👨\u200d👩\u200d👧\u200d👦",
    "👍🏽",
    "🇯🇵",
    "1\ufe0f\u20e3",
    "🏴\U000e0067\U000e0062\U000e007f",
    "\u1112\u1161\u11ab",
    "\u1100\u1100\u1161",
    "नि",
    "กำ",
    "\ud83d\ude00",
]


@pytest.mark.parametrize("whole", WHOLE)
def test_a_cut_parts_no_character(whole: str) -> None:
    text = f"x{whole}y"
    end = 1 + len(whole)
    assert [seam(text, at) for at in range(1, end)] == [1] * len(whole)
    assert seam(text, end) == end and seam(text, end + 1) == end + 1


def test_what_only_stands_side_by_side_is_parted() -> None:
    for text in ("ab", "かき", "🇯🇵🇫🇷", "👩💻", "한글", "ﾊﾝ"):
        middle = len(text) // 2
        assert seam(text, middle) == middle


def test_flags_in_a_row_are_counted_in_pairs() -> None:
    flags = "🇯🇵" * 100
    assert [seam(flags, at) for at in (100, 101)] == [100, 100]
    assert seam("🇯" + flags, 101) == 100


def test_marks_without_end_are_cut_somewhere() -> None:
    heap = "e" + "\u0301" * 100_000
    assert len(beginning(heap, 150)) == 150


@given(st.lists(st.sampled_from([*WHOLE, "a", " ", "漢"]), max_size=12), st.integers(0, 30))
def test_a_beginning_is_made_of_whole_characters(pieces: list[str], size: int) -> None:
    kept = beginning("".join(pieces), size)
    assert len(kept) <= size or kept == ""
    wholes = ["".join(pieces[:count]) for count in range(len(pieces) + 1)]
    assert kept in wholes
