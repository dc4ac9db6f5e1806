"""How a conversation looks in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from rireki.model.conversation import Link, Trouble
from rireki.model.message import Message
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
from rireki.show.safe import Style, safe
from rireki.show.text import TextOptions, render_transcript
from rireki.show.transcript import Transcript, choose
from rireki.show.width import width
from tests.show.made import call, conversation, message, result, told


def has(lines: list[str], text: str) -> bool:
    return any(text in line for line in lines)


def test_a_turn_stands_on_a_rule_and_the_answer_below() -> None:
    story = Transcript(
        conversation(),
        [message("1", "person", "読んで", turn=1), message("2", "agent", "はい", model="m-1")],
    )
    assert told(story)[-6:] == [
        "",
        "── 1 · you " + "─" * 69,
        "  読んで",
        "",
        "agent · m-1",
        "  はい",
    ]


def test_an_agent_that_goes_on_is_named_once() -> None:
    lines = told(Transcript(conversation(), [message("1", text="a"), message("2", text="b")]))
    assert lines[-3:] == ["agent", "  a", "  b"]


def test_a_result_stands_under_its_call_and_not_where_it_came_in() -> None:
    messages = [
        call("1", "A", "ls"),
        call("2", "B", "pwd"),
        result("3", "B", "/w"),
        result("4", "A", "x\ny"),
        message("5", text="done"),
    ]
    lines = told(Transcript(conversation(), messages))
    expected = ["agent", "  ▸ Bash ls", "    x", "    y", "  ▸ Bash pwd", "    /w", "  done"]
    assert lines[-7:] == expected


def test_long_results_are_shortened_unless_all_is_wanted() -> None:
    output = "\n".join(f"line {number}" for number in range(30))
    story = Transcript(conversation(), [call("1", "A", "seq"), result("2", "A", output)])
    assert told(story)[-1] == "    … 26 more lines"
    assert told(story, TextOptions(full=True))[-1] == "    line 29"


def test_failed_cancelled_missing_and_orphaned_results_are_told() -> None:
    messages = [
        call("1", "A", "false"),
        result("2", "A", "boom", "error"),
        call("3", "B", "rm"),
        result("4", "B", "", "cancelled"),
        call("5", "C", "sleep"),
        result("6", "D", "lost and found"),
    ]
    lines = told(Transcript(conversation(), messages))
    assert has(lines, "error") and has(lines, "boom") and has(lines, "cancelled")
    assert has(lines, "(no result)")
    assert lines[-2:] == ["  + tool", "    lost and found"]


def test_what_the_source_lost_is_marked() -> None:
    messages = [message("1", "person", "old", upstream="gone"), message("2", "person", "new")]
    story = Transcript(conversation(upstream="changed"), messages)
    marked = [line for line in told(story) if "no longer in the source" in line]
    assert len(marked) == 1 and "you" in marked[0]


def test_a_conversation_lost_as_a_whole_says_so_once() -> None:
    story = Transcript(
        conversation(upstream="gone"), [message("1", "person", "old", upstream="gone")]
    )
    lines = told(story)
    assert has(lines, "toy no longer has this conversation.")
    assert not has(lines, "no longer in the source")


def test_a_result_that_only_we_still_have_is_marked_under_a_call_that_is_there() -> None:
    messages = [call("1", "A", "ls"), result("2", "A", "x", upstream="gone")]
    assert has(told(Transcript(conversation(), messages)), "    no longer in the source")


def test_chips_take_one_line_and_dividers_a_rule() -> None:
    messages = [
        message(
            "1", "harness", "a very long skill body\nwith lines", display="chip", label="skill: x"
        ),
        message("2", "person", "", display="chip", label="/compact now", turn=2),
        message("3", "harness", "Summary\n" * 9, display="divider", label="context compacted"),
    ]
    lines = told(Transcript(conversation(), messages))
    assert "  · skill: x" in lines and not has(lines, "skill body")
    assert has(lines, "── 2 · you · /compact now ──")
    assert has(lines, "┄ context compacted ┄")
    assert lines[-1] == "  … 5 more lines"
    assert has(told(Transcript(conversation(), messages), TextOptions(full=True)), "with lines")


def chip(
    label: str | None,
    *parts: Part,
    author: str = "harness",
    view: TextOptions | None = None,
    **facts: Any,
) -> list[str]:
    """The lines of a chip."""
    about = message("1", author, display="chip", label=label, parts=list(parts), **facts)
    *_, block = render_transcript(Transcript(conversation(), [about]), view or TextOptions())
    return block.lines


def test_a_chip_tells_how_its_words_begin() -> None:
    peer = Text("ログイン画面を確認してもらえますか？" * 9)
    assert chip("peer: 花子", peer, view=TextOptions(40)) == [
        "  · peer: 花子: ログイン画面を確認して…"
    ]
    refused = chip("plan rejected", Text("No, tests first"), author="person")
    assert refused == ["", "── you · plan rejected: No, tests first " + "─" * 40]
    asked = chip("refused: git push", Text("git push"), Notice("not yet"))
    assert asked == ["  · refused: git push: not yet"]


def test_an_error_of_the_agent_stands_out() -> None:
    overloaded = Notice("API Error: 529 Overloaded\n(try again)", "error")
    assert chip("error", overloaded) == ["", "  ! API Error: 529 Overloaded", "  (try again)"]
    assert chip("hook failed", Notice("exit 2", "error")) == ["", "  ! hook failed: exit 2"]
    (_, line) = chip("error", Notice("529", "error"), view=TextOptions(style=Style(True)))
    assert line == "  \x1b[1;31m! 529\x1b[0m"


def shown(*messages: Message, **facts: Any) -> str:
    story = Transcript(conversation(**facts), list(messages))
    return "\n".join(
        line for block in render_transcript(story, TextOptions()) for line in block.lines
    )


def test_a_prompt_that_was_never_answered_says_so() -> None:
    error = Notice("API Error: 529", "error")
    prompt = message("1", "person", "look", turn=1)
    failed = message("2", "harness", display="chip", label="error", parts=[error])
    again = message("3", "person", "look again", turn=2)
    answer = message("4", "agent", "I looked")
    last = message("5", "person", "and?", turn=3)
    told = shown(prompt, failed, again, answer, last)
    assert "you · never answered" in told.split("look\n")[0]
    assert told.count("never answered") == 2 and told.rstrip().endswith("and?")
    assert "never answered" not in shown(prompt, again, answer), "one answer to both"
    assert "never answered" not in shown(prompt, nature="prompts"), "the answers are lost"
    stopped = message("6", "person", display="chip", label="interrupted")
    assert "never answered" not in shown(prompt, stopped)
    recent = Transcript(conversation(), [last], over=False)
    lines = [line for block in render_transcript(recent, TextOptions()) for line in block.lines]
    assert "never answered" not in "\n".join(lines), "it may still come"


def test_a_chip_is_one_line_also_where_lines_have_no_end() -> None:
    (line,) = chip("peer: bob", Text("word\n" * 9999), view=TextOptions(100_000))
    assert line.endswith("…") and width(line) < 250


@pytest.mark.parametrize(
    ("label", "words", "line"),
    [
        ("/compact", "/compact", "/compact"),
        ("/greet a b", "/greet a\nb", "/greet a b"),
        ("/review the…", "/review the\nwhole thing", "/review the…"),
        ("/save x (only in the log)", "/save x", "/save x (only in the log)"),
        ("remember: tabs", "tabs", "remember: tabs"),
        ("remember: a b", "a\nb", "remember: a b"),
        ("remember: a…", "a\nb", "remember: a…"),
        ("error", "error: no more tokens", "error: no more tokens"),
        ("interrupted", "[Request interrupted by user]", "interrupted"),
        ("skill: x", "Base directory for this skill: /y/x", "skill: x"),
        (None, "started\nagain", "started again"),
        ("hook", " \n ", "hook"),
        (None, "", "program"),
    ],
)
def test_a_chip_does_not_say_twice_what_its_label_says(
    label: str | None, words: str, line: str
) -> None:
    assert chip(label, Text(words)) == [f"  · {line}"]


def test_words_that_were_wrapped_for_the_model_are_told_without_the_wrapping() -> None:
    wrapped = Text('<teammate-message id="carol">\nplease rebase\n</teammate-message>')
    assert chip("from carol", wrapped) == ["  · from carol: please rebase"]
    task = Text("<task-notification>\n<status>completed</status>\n</task-notification>")
    assert chip("task completed: build", task) == ["  · task completed: build"]
    assert chip("peer: bob", Text("<3 that")) == ["  · peer: bob: <3 that"]


def test_marks_are_told_behind_words_that_are_cut_for_them() -> None:
    (line,) = chip("peer: bob", Text("long " * 99), upstream="gone")
    assert line.endswith("… · no longer in the source") and width(line) <= 80
    _, turn = chip("/x " + "long " * 99, author="person", upstream="gone")
    assert turn.endswith("… · no longer in the source") and width(turn) <= 80


def test_in_full_a_chip_has_its_words_under_it() -> None:
    lines = chip("peer: bob", Text("one\ntwo"), view=TextOptions(full=True))
    assert lines == ["  · peer: bob", "  one", "  two"]
    # The line may have them, and the screen be too narrow for it.
    command = "/greet " + "long " * 20
    assert len(chip(command, Text(command), view=TextOptions(full=True))) > 2


def test_hidden_messages_and_earlier_versions_come_only_when_asked_for() -> None:
    messages = [
        message("1", "harness", "reminder", display="hidden", label="system reminder"),
        message("2", "agent", "first wording", replaced_by="3", upstream="gone"),
        message("3", "agent", "second wording"),
    ]
    assert [m.id for m in choose(messages)] == ["3"]
    assert [m.id for m in choose(messages, upstream=True)] == ["3"]
    lines = told(Transcript(conversation(), choose(messages, everything=True)))
    assert has(lines, "+ system reminder · hidden") and has(lines, "earlier version")


def test_other_parts_are_told_too() -> None:
    parts = [
        Thinking("let me see"),
        Attachment("image/png", "00", "a.png", 34000),
        Notice("API error", "error"),
        Unknown("mystery", {"k": 1}),
    ]
    lines = told(Transcript(conversation(), [message("1", parts=parts)]))
    assert "  (thinking) let me see" in lines
    assert "  [attachment: a.png, image/png, 34 KB]" in lines
    assert "  ! API error" in lines
    assert has(lines, "mystery") and has(lines, '"k": 1')


def test_a_sub_agent_is_named_under_its_call_and_told_there_when_nested() -> None:
    links = [Link("subagent", "toy/child", "child", "A"), Link("subagent", "toy/lost", "child")]
    child = Transcript(
        conversation(id="toy/child", title="look", messages=2, tool_calls=1),
        [message("c", text="found it")],
    )
    lost = Transcript(conversation(id="toy/lost", title="other"), [])
    messages = [call("1", "A", "x"), result("2", "A", "ok")]
    story = Transcript(conversation(links=links), messages, [child, lost])
    lines = told(story)
    assert "    ↳ sub-agent toy/child · 2 messages · 1 tool call · look" in lines
    assert not has(lines, "found it")
    assert has(lines, "toy/lost")
    assert "    ┊   found it" in told(story, TextOptions(nested=True))


def test_the_heading_tells_ties_and_troubles() -> None:
    about = conversation(
        links=[Link("fork", "toy/0", "parent")],
        troubles=[Trouble(f"line {number}", "broken") for number in range(5)],
        calls_without_result=2,
        tool_calls=3,
        finished=False,
    )
    lines = told(Transcript(about, []))
    assert "forked from toy/0" in lines
    assert has(lines, "2 without result") and has(lines, "unfinished")
    assert "! line 0: broken" in lines and has(lines, "2 more troubles")


def test_every_line_fits_the_screen_in_japanese_too() -> None:
    text = "日本語の長い文章がここにあります。" * 9 + "\n" + "word " * 60
    messages = [
        message("1", "person", text, turn=1, label="長いラベル" * 20),
        message("2", parts=[Text(text), ToolCall("A", "Bash", {"command": "あ" * 200})]),
        result("3", "A", "結果" * 500),
        message("4", "harness", text, display="divider", label="区切り" * 40),
        message("5", "harness", text, display="chip"),
        message("6", "harness", text, display="fold", label="折" * 90),
    ]
    story = Transcript(conversation(title="題" * 100), messages)
    for columns in (40, 80, 120):
        assert all(width(line) <= columns for line in told(story, TextOptions(columns)))


def test_a_hostile_transcript_reaches_no_terminal() -> None:
    evil = "\x1b]0;pwned\x07\x1b[2J\u202e\x9b1mx"
    parts = [
        Text(evil),
        Thinking(evil),
        ToolCall("A", evil, {evil: evil}),
        ToolResult("B", "ok", evil),
        Attachment(evil, "", evil),
        Notice(evil),
        Unknown(evil, {evil: evil}),
    ]
    about = conversation(title=evil, project=evil, models=[evil], troubles=[Trouble(evil, evil)])
    messages = [
        message(str(number), author, parts=parts, display=display, label=label, model=evil)
        for number, (author, display, label) in enumerate(
            (author, display, label)
            for author in ("person", "agent", "harness")
            for display in ("bubble", "chip", "divider", "fold", "hidden")
            for label in (evil, None)
        )
    ]
    for full in (False, True):
        text = "\n".join(told(Transcript(about, messages), TextOptions(80, full=full)))
        assert not set("\x1b\x07\x9b\u202e") & set(text)


def test_colours_change_no_word() -> None:
    messages = [
        message("1", "person", "読んで"),
        call("2", "A", "ls"),
        result("3", "A", "x", "error"),
    ]
    story = Transcript(conversation(upstream="changed"), messages)
    coloured = "\n".join(told(story, TextOptions(style=Style(True))))
    assert safe(coloured) == "\n".join(told(story))


def test_each_message_has_its_block() -> None:
    messages = [call("1", "A", "ls"), result("2", "A", "x")]
    blocks = list(render_transcript(Transcript(conversation(), messages), TextOptions()))
    assert [block.message for block in blocks] == [None, "1", "2"]
    assert blocks[2].lines == []


def test_values_nested_too_deeply_are_not_shown_but_do_no_harm() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    parts = [Unknown("deep", deep), ToolCall("A", "Odd", {"x": deep})]
    lines = told(Transcript(conversation(), [message("1", parts=parts)]), TextOptions(full=True))
    assert has(lines, "nested too deeply") and has(lines, "▸ Odd x=…")


def test_a_picture_that_came_with_a_result_stands_under_its_call() -> None:
    parts = [ToolResult("A", "ok", "see picture"), Attachment("image/png", "00", "", 70)]
    messages = [
        call("1", "A", "shot"),
        message("2", "tool", display="fold", parts=parts),
        message("3", text="a pixel"),
    ]
    assert told(Transcript(conversation(), messages))[-4:] == [
        "  ▸ Bash shot",
        "    see picture",
        "    [attachment: image/png, 70 B]",
        "  a pixel",
    ]


def test_an_empty_prompt_is_a_turn_all_the_same() -> None:
    story = Transcript(conversation(), [message("1", "person", parts=[Text("")], turn=1)])
    assert told(story)[-1] == "  (empty)"
