"""A hostile transcript reaches no terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.show.safe import one_line, safe


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


def test_one_line_is_one_line() -> None:
    assert one_line("  a\n\n b\tc\u2028d ") == "a b c d"
