"""A hostile transcript reaches no terminal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.show.safe import (
    escaped,
    one_line,
    one_line_for_browsers,
    printable,
    safe,
    safe_for_browsers,
)


def test_hebrew_and_arabic_keep_their_marks_on_a_page_and_nothing_else_that_turns_text() -> None:
    hebrew = "\u05e9\u05dc\u05d5\u05dd (C++)\u200f, 3\u200e\u061c"
    assert safe_for_browsers(hebrew) == hebrew
    assert one_line_for_browsers(f"{hebrew}\n x") == f"{hebrew} x"
    assert safe(hebrew) != hebrew, "a terminal has no isolation"
    turned = "\u200fa\u202eb\u2066c\u2069\u202a\u180e\U000e0041\x1b[2J"
    assert safe_for_browsers(turned) == (
        "\u200fa‹U+202E›b‹U+2066›c‹U+2069›‹U+202A›‹U+180E›‹tags A›"
    )


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r\x1b\\text", "text"),
        ("\x1b]0;never ends and more", "␛]0;never ends and more"),
        ("a\x00b\x07c\x7f", "a␀b␇c␡"),
        ("\x9b31m", "‹U+009B›31m"),
        ("rm \u202etxt.exe", "rm ‹U+202E›txt.exe"),
        ("\u2066hidden\u2069", "‹U+2066›hidden‹U+2069›"),
        ("a\u200eb\u200fc\u180ed\ufff9e", "a‹U+200E›b‹U+200F›c‹U+180E›d‹U+FFF9›e"),
        ("flag \U000e0067\U000e0062\U000e007f!", "flag ‹tags gb›!"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("dos\r\nlines\rback", "dos\nlines␍back"),
        ("one\u2028two", "one\ntwo"),
        ("日本語\tと\nemoji 👩‍💻", "日本語\tと\nemoji 👩‍💻"),
    ],
)
def test_nothing_steers_the_terminal(hostile: str, shown: str) -> None:
    assert safe(hostile) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_whatever_comes_in_no_control_character_comes_out(text: str) -> None:
    shown = safe(text)
    assert not any((c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f" for c in shown)
    assert shown.encode().decode() == shown
    assert safe(shown) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_the_last_guard_keeps_our_colours_and_drops_nothing(text: str) -> None:
    assert printable(f"\x1b[1;32m{safe(text)}\x1b[0m") == f"\x1b[1;32m{safe(text)}\x1b[0m"
    assert not [
        c for c in printable(text) if (c < " " and c not in "\n\t\x1b") or "\x7f" <= c <= "\x9f"
    ]
    assert printable("\x1b[8mhidden\x1b[2J") == "␛[8mhidden␛[2J"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_json_has_the_same_value(text: str) -> None:
    told = json.dumps(text, ensure_ascii=False)
    assert json.loads(escaped(told)) == text
    assert safe(escaped(told)) == escaped(told)


def test_one_line_is_one_line() -> None:
    assert one_line("  a\n\n b\tc\u2028d ") == "a b c d"
