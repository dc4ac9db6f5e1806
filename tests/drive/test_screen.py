"""What a terminal program prints becomes plain text, whatever the pieces it comes in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rireki.drive.q.screen import TerminalScreen


def said(*pieces: str | bytes) -> str:
    screen = TerminalScreen()
    heard = [
        part
        for piece in pieces
        for part in screen.feed(piece.encode() if isinstance(piece, str) else piece)
    ]
    return "".join(part.text if part.kind == "text" else f"<{part.kind}>" for part in heard)


def test_colours_titles_and_the_bell_are_gone() -> None:
    assert said("\x1b[1;31mred\x1b[0m \x1b]0;title\x07and \x1b]8;;http://x\x1b\\link\a\r\n") == (
        "red and link\n"
    )


def test_a_spinner_is_not_told_and_what_replaces_it_is() -> None:
    assert said("\r\x1b[2K⠋ Thinking...", "\r\x1b[2K⠙ Thinking...", "\r\x1b[2KDone\n") == "Done\n"


def test_a_line_that_is_drawn_over_is_told_as_it_was_left() -> None:
    assert said("10%\r20%\r100%\r\n") == "100%\n"


def test_text_is_told_as_it_grows() -> None:
    screen = TerminalScreen()
    assert [part.text for part in screen.feed(b"one ")] == ["one "]
    assert [part.text for part in screen.feed(b"two")] == ["two"]


def test_the_line_editor_says_when_it_waits_and_its_drawing_is_not_part_of_the_answer() -> None:
    drawn = "answer\r\n\x1b[?2004h\x1b[38;5;13m> \x1b[39m\r\x1b[K> typed\x1b[?2004l\r\nmore\r\n"
    assert said(drawn) == "answer\n<ready>> typed<busy>\nmore\n"


def test_letters_of_more_than_one_byte_may_be_cut() -> None:
    data = "日本語\n".encode()
    assert said(data[:2], data[2:4], data[4:]) == "日本語\n"


TALK = (
    "\x1b[?25l\r\x1b[2K⠋ Thinking...\r\x1b[2K\x1b[?25h\x1b[38;5;10m> \x1b[39mHello 日本\r\n"
    "\x1b]0;a title\x07 ● line\x1b[K\r\n\x1b[?2004h\x1b[1m> \x1b[22m\x1b[?2004l\r\n"
)


@given(st.lists(st.integers(0, len(TALK.encode())), max_size=8))
def test_any_cut_of_the_bytes_gives_the_same_text(places: list[int]) -> None:
    data = TALK.encode()
    cuts = [0, *sorted(places), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(cuts)]
    # A blank at the end of a line may be told or not.
    assert "".join(said(*pieces).split()) == "".join(said(data).split())
