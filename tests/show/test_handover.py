"""What another agent is told of a conversation: whole where it is short, bounded where it is long."""

from __future__ import annotations

import pytest

from rireki.model.message import Message
from rireki.model.parts import Part, Text, Thinking, ToolCall, ToolResult
from rireki.show.handover import so_far


def said(number: int, author: str, *parts: Part | str, **more: object) -> Message:
    given = [Text(part) if isinstance(part, str) else part for part in parts]
    display = "bubble" if author in ("person", "agent") else "fold"
    about = {"author": author, "display": display, "parts": given, **more}
    return Message(id=f"m{number}", **about)  # type: ignore[arg-type]


def test_a_short_conversation_is_told_whole_without_thoughts_and_ways_that_were_left() -> None:
    found = so_far(
        [
            said(0, "person", "build it"),
            said(
                1, "agent", Thinking("secret thoughts"), ToolCall("t", "Bash", {"command": "make"})
            ),
            said(2, "tool", ToolResult("t", output="built in 3 s")),
            said(3, "person", "another way", abandoned=True),
            said(4, "agent", "It is built."),
        ]
    )
    assert found.opening == "" and found.left_out == 0
    for words in ("build it", "make", "built in 3 s", "It is built."):
        assert found.newest.count(words) == 1
    assert "secret" not in found.newest and "another way" not in found.newest


def test_a_long_one_keeps_its_first_prompt_and_its_newest_within_the_budget() -> None:
    messages = [said(n, ("person", "agent")[n % 2], f"words {n:04d} " * 20) for n in range(1000)]
    found = so_far(messages, 10_000)
    assert "words 0000" in found.opening and "words 0999" in found.newest
    assert 8_000 < len(found.opening) + len(found.newest) <= 10_000
    shown = sum(f"words {n:04d}" in found.opening + found.newest for n in range(1000))
    assert shown + found.left_out == 1000


@pytest.mark.parametrize("size", [9, 5_000, 1_000_000])
def test_one_enormous_message_is_shortened_and_opens_no_fence(size: int) -> None:
    fenced = "```\n" + "x" * size + "\n```"
    found = so_far([said(0, "person", fenced), said(1, "agent", "```py\nnever closed")], 4_000)
    text = found.opening + found.newest
    assert "never closed" in text and len(text) <= 4_000
    assert text.count("```") % 2 == 0


def test_nothing_said_is_nothing_told() -> None:
    assert so_far([]) == ("", 0, "")
