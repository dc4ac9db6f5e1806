"""A conversation as Markdown stays inside its blocks."""

from __future__ import annotations

import pytest

from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.show.markdown import markdown
from rireki.show.transcript import Transcript
from tests.show.made import call, conversation, message, result


def test_the_document() -> None:
    messages = [
        message("1", "person", "読んで", turn=1),
        call("2", "A", "ls", upstream="gone"),
        result("3", "A", "```\nnot the end\n```"),
        message("4", "harness", "", display="chip", label="/compact"),
        message("5", "harness", "the summary", display="divider", label="compacted"),
        message("6", parts=[Thinking("hm"), Unknown("odd", {"a": 1})]),
    ]
    text = "\n".join(markdown(Transcript(conversation(), messages)))
    assert text.startswith("# 設定ファイルを読む\n")
    assert "## You\n\n読んで" in text
    assert "## Agent *(no longer in the source)*" in text
    assert "````\n```\nnot the end\n```\n````" in text
    assert "*Program: /compact*" in text
    assert "<details><summary>summary</summary>" in text and "the summary" in text
    assert "<details><summary>odd</summary>" in text


def test_long_results_are_shortened_unless_all_is_wanted() -> None:
    output = "\n".join(str(number) for number in range(100))
    story = Transcript(conversation(), [call("1", "A", "seq"), result("2", "A", output)])
    assert "… 80 more lines" in markdown(story)
    assert "99" in markdown(story, full=True)


def chip(label: str | None, *parts: Part, author: str = "harness", full: bool = False) -> list[str]:
    """What is written of a chip, from its line on."""
    messages = [message("1", author, display="chip", label=label, parts=list(parts))]
    lines = list(markdown(Transcript(conversation(), messages), full))
    return lines[lines.index("", 2) + 1 :]


def test_the_words_of_a_chip_stand_under_its_line() -> None:
    said = Notice("API Error: 529 Overloaded", "error")
    assert chip("error", said) == ["*Program: error*", "", "```", said.text, "```"]
    peer = chip("peer: 花子", Text("見てください\nログインが失敗します"))
    assert peer[:4] == ["*Program: peer: 花子*", "", "<details><summary>words</summary>", ""]
    assert peer[4:] == ["```", "見てください", "ログインが失敗します", "```", "", "</details>"]


def test_long_words_of_a_chip_are_shortened_unless_all_is_wanted() -> None:
    words = Text("\n".join(f"line {number}" for number in range(100)))
    assert "… 80 more lines" in chip("skill: x", words)
    assert "line 99" in chip("skill: x", words, full=True)


def test_nothing_that_a_person_typed_is_cut() -> None:
    typed = "/review " + "\n".join(f"行 {number}" for number in range(100))
    lines = chip(f"{typed[:100]}…", Text(typed), author="person")
    assert "行 99" in lines and "</details>" in lines
    assert "no *tests*" in chip("plan rejected", Text("no *tests*"), author="person")
    # Its line has all the words, but not as they were typed.
    assert "/greet a" in chip("/greet a b", Text("/greet a\nb"), author="person")


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("/compact", "/compact"),
        ("/save x (only in the log)", "/save x"),
        ("remember: tabs", "tabs\n"),
        (None, "the agent was started again"),
        ("hook", " \n "),
    ],
)
def test_a_chip_whose_line_says_it_all_takes_one_line(label: str | None, words: str) -> None:
    assert chip(label, Text(words)) == [f"*Program: {label or words}*"]


def test_a_chip_of_nothing_names_who_it_is_of() -> None:
    assert chip(None) == ["*Program*"]


def test_the_calls_of_a_chip_are_told_with_their_results() -> None:
    asked = message("1", display="chip", label="asks", parts=[ToolCall("A", "Bash", {"x": 1})])
    lines = list(markdown(Transcript(conversation(), [asked, result("2", "A", "what came back")])))
    assert "**Bash**" in lines and "what came back" in lines


def test_a_label_says_what_became_of_the_words_under_it() -> None:
    messages = [
        message("1", "person", "and the tests", label="never sent"),
        message("2", "person", "too slow", label="refused", upstream="gone"),
    ]
    lines = list(markdown(Transcript(conversation(), messages)))
    assert "## You *(never sent)*" in lines
    assert "## You *(refused)* *(no longer in the source)*" in lines


def test_a_divider_does_not_repeat_its_line() -> None:
    cleared = message("1", "harness", "cleared", display="divider", label="cleared")
    assert list(markdown(Transcript(conversation(), [cleared])))[-1] == "*Program: cleared*"


def test_what_was_put_in_is_not_told_as_the_words_of_who_spoke_before() -> None:
    messages = [
        message("1", "person", "look at @a.txt"),
        message("2", "harness", "# A file\nof two lines", display="fold", label="file: a.txt"),
        message("3", "harness", "injected", display="hidden", upstream="gone"),
        message("4", "harness", display="fold", label="directory: x"),
    ]
    lines = list(markdown(Transcript(conversation(), messages, over=False)))
    start = lines.index("*Program: file: a.txt*")
    assert lines[start - 4 : start - 1] == ["## You", "", "look at @a.txt"]
    assert lines[start + 2 :] == [
        "<details><summary>words</summary>",
        "",
        "```",
        "# A file",
        "of two lines",
        "```",
        "",
        "</details>",
        "",
        "*Program* *(hidden)* *(no longer in the source)*",
        "",
        "```",
        "injected",
        "```",
        "",
        "*Program: directory: x*",
    ]


def test_what_came_back_from_a_call_is_not_announced() -> None:
    came: list[Part] = [ToolResult("A", "ok", "see picture"), Attachment("image/png", "00", "", 70)]
    messages = [
        call("1", "A", "shot"),
        message("2", "tool", display="fold", parts=came),
        result("3", "A", "again", label="result"),
        result("4", "B", "lost and found"),
    ]
    lines = list(markdown(Transcript(conversation(), messages)))
    assert not [line for line in lines if line.startswith("*Tool")]
    assert "> [attachment: image/png, 70 B]" in lines
    assert lines[-5:] == ["result", "", "```", "lost and found", "```"]


def test_a_chip_stays_inside_its_line_and_its_block() -> None:
    evil = "\x1b[2J\x1b]0;pwned\x07## You\n\n````\n</details><script>x</script>\n\u202e"
    lines = chip("peer: *e*`v`[i](l) <details>\n# x", Text(evil), Unknown("</summary>", 1))
    assert lines[0] == "*Program: peer: \\*e\\*\\`v\\`\\[i](l) \\<details> # x*"
    assert lines[4] == lines[10] == "`````" and lines[5:8] == ["## You", "", "````"]
    assert "<details><summary>&lt;/summary&gt;</summary>" in lines
    assert not set("\x1b\x07\u202e") & set("".join(lines))
