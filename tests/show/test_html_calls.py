"""Tool calls by the shape of their arguments, whatever the tool is called."""

from __future__ import annotations

from typing import Any

import pytest

from rireki.model.parts import Attachment, ToolCall, ToolResult
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer
from rireki.show.transcript import Transcript
from tests.show.made import conversation, message
from tests.support.payloads import Node, parsed, problems


def called(
    arguments: Any,
    output: str | None = "",
    status: Any = "ok",
    name: str = "any_tool",
    **facts: Any,
) -> Node:
    """The call as it stands on the page."""
    look = facts.pop("look", RenderOptions())
    messages = [message("1", parts=[ToolCall("A", name, arguments)])]
    if output is not None:
        more = facts.pop("more", [])
        parts = [ToolResult("A", status, output), *more]
        messages.append(message("2", "tool", display="fold", parts=parts))
    html = TranscriptRenderer(Transcript(conversation(**facts), messages), look).render(0)
    assert problems(html) == []
    return parsed(html).one("details", "call")


def rows(call: Node, kind: str) -> list[str]:
    return [row.text.rstrip("\n")[1:] for row in call.find(kind="row") if kind in classes(row)]


def classes(node: Node) -> list[str]:
    return node.attributes.get("class", "").split()


# ── The line ──


def test_the_line_says_the_tool_what_it_is_about_and_what_came_of_it() -> None:
    line = called({"command": "make test"}, "fine", name="Bash").one("summary")
    assert line.one(kind="tool").text == "Bash"
    assert line.one(kind="subject").text == "make test"
    assert line.one(kind="outcome").text == "ok"


@pytest.mark.parametrize(
    ("output", "status", "finished", "words", "kind"),
    [
        ("x", "error", True, "error", "error"),
        ("x", "cancelled", True, "cancelled", "cancelled"),
        (None, "ok", True, "no result", "none"),
        (None, "ok", False, "no result yet", "waiting"),
    ],
)
def test_outcomes(output: str | None, status: str, finished: bool, words: str, kind: str) -> None:
    outcome = called({"x": 1}, output, status, finished=finished).one(kind="outcome")
    assert outcome.text == words and kind in classes(outcome)


@pytest.mark.parametrize("name", ["mcp__github__search", "github___search"])
def test_a_tool_of_a_server_names_both(name: str) -> None:
    call = called({"q": "flaky"}, name=name)
    assert (call.one(kind="server").text, call.one(kind="tool").text) == ("github", "search")
    assert call.one(kind="subject").text == "flaky"


def test_what_has_no_shape_is_json_and_so_is_what_comes_back_as_json() -> None:
    call = called({"zone": {"deep": [1, None]}, "__purpose": "none of ours"}, '{"total": 2}')
    arguments, output = (block.one("pre").text for block in call.find(kind="code"))
    assert '"deep"' in arguments and "__purpose" not in arguments and output == '{"total": 2}'
    assert called("plain words").one("pre").text == "plain words"
    assert "(no output)" in called({}, " \n").text


def test_values_nested_without_end_are_not_shown() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in called({"x": deep}).text


# ── Edits ──


def test_an_edit_marks_the_words_that_differ() -> None:
    edit = {
        "file_path": "a.py",
        "old_string": "keep\nx = old(1)\n",
        "new_string": "keep\nx = new(1)\n",
    }
    call = called(edit | {"replace_all": False}, "updated")
    assert rows(call, "del") == ["x = old(1)"] and rows(call, "add") == ["x = new(1)"]
    assert [mark.text for mark in call.find("mark")] == ["old", "new"]
    assert call.one(kind="stat").text == "+1 −1"
    # What the diff does not tell stands beside it.
    assert [term.text for term in call.find("dt")] == ["replace_all"]


@pytest.mark.parametrize(
    ("arguments", "removed", "added"),
    [
        ({"command": "str_replace", "path": "a", "old_str": "1", "new_str": "2"}, ["1"], ["2"]),
        ({"command": "create", "path": "a", "file_text": "x\ny\n"}, [], ["x", "y"]),
        ({"command": "append", "path": "a", "new_str": "z"}, [], ["z"]),
        ({"command": "insert", "path": "a", "new_str": "z", "insert_line": 3}, [], ["z"]),
        ({"file_path": "a", "content": "x"}, [], ["x"]),
        ({"file_path": "a", "old_string": "x", "new_string": ""}, ["x"], []),
        ({"notebook_path": "a", "new_source": "x"}, [], ["x"]),
        (
            {
                "file_path": "a",
                "edits": [
                    {"old_string": "1", "new_string": "2"},
                    {"old_string": "3", "new_string": "4"},
                ],
            },
            ["1", "3"],
            ["2", "4"],
        ),
        ({"patch": "*** Begin Patch\n@@\n-1\n+2\n keep"}, ["1"], ["2"]),
    ],
)
def test_edits_of_all_agents(arguments: Any, removed: list[str], added: list[str]) -> None:
    call = called(arguments)
    assert (rows(call, "del"), rows(call, "add")) == (removed, added)
    assert not call.find("dt")


def test_an_edit_that_is_not_understood_does_not_vanish_among_others() -> None:
    edits = [{"old_string": "1", "new_string": "2"}, {"strange": "edit"}]
    assert "strange" in called({"file_path": "a", "edits": edits}).text


# ── Commands ──


def test_a_command_and_what_it_printed_in_colours() -> None:
    call = called({"command": "ls\npwd", "description": "look"}, "\x1b[1;31mno\x1b[0m\na\rb")
    assert call.one(kind="command").one("pre").text == "ls\npwd"
    terminal = call.one(kind="terminal")
    assert terminal.text == "no\nb" and terminal.one("span").attributes["class"] == "a-bold a-f1"
    assert call.one("dd").text == "look"
    assert called({"command": ["git", "status"]}).one(kind="command").text.endswith("git status")


def test_what_failed_looks_like_a_terminal_too() -> None:
    assert called({"command": "x"}, "boom", "error").one(kind="terminal").text == "boom"


# ── Lists, plans, questions ──


@pytest.mark.parametrize(
    "arguments",
    [
        {
            "todos": [
                {"content": "a", "status": "completed"},
                {"content": "b", "status": "in_progress"},
                {"content": "c", "status": "pending"},
            ]
        },
        {
            "plan": [
                {"step": "a", "status": "completed"},
                {"step": "b", "status": "in_progress"},
                {"step": "c"},
            ]
        },
        {
            "command": "create",
            "tasks": [
                {"task_description": "a", "completed": True},
                {"task_description": "b", "state": "doing"},
                {"task_description": "c", "completed": False},
            ],
        },
    ],
)
def test_todo_lists(arguments: Any) -> None:
    call = called(arguments, "ok", name="TodoWrite")
    assert "open" in call.attributes
    items = call.one("ul", "todos").find("li")
    assert [item.attributes["class"] for item in items] == ["done", "doing", "todo"]
    assert [item.text for item in items] == ["done a", "in progress b", "to do c"]


def test_a_plan_is_told_as_it_was_meant_and_whether_it_was_accepted() -> None:
    plan = {"plan": "# Plan\n1. Do A"}
    approved = called(plan, "User has approved your plan", name="ExitPlanMode")
    assert approved.one(kind="outcome").text == "approved"
    assert approved.one(kind="plan").one("h3").text == "Plan" and approved.one("li").text == "Do A"
    rejected = called(plan, "No, something else", "cancelled")
    assert rejected.one(kind="outcome").text == "rejected" and "something else" in rejected.text


QUESTIONS = {
    "questions": [
        {
            "question": "Which colour?",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}],
        },
        {"question": "Which fruits?", "options": ["Apple", "Pear", "Fig"]},
        {"question": "Which size?", "options": [{"label": "S"}]},
    ]
}


def test_a_question_shows_what_was_chosen() -> None:
    said = (
        'Your questions have been answered: "Which colour?"="Blue", '
        '"Which fruits?"="Apple, Pear", "Which size?"="very, very large". You can now continue.'
    )
    call = called(QUESTIONS, said, name="AskUserQuestion")
    assert [option.one(kind="what").text for option in call.find("li", "chosen")] == [
        "Blue",
        "Apple",
        "Pear",
    ]
    assert call.one(kind="answer").text == "Your answer: very, very large"
    assert call.one(kind="outcome").text == "answered" and said not in call.text


def test_an_answer_that_is_not_understood_is_shown_whole() -> None:
    call = called(QUESTIONS, "Something else entirely")
    assert "Something else entirely" in call.text and not call.find("li", "chosen")
    refused = called(QUESTIONS, "refused", "cancelled")
    assert refused.one(kind="outcome").text == "rejected" and "refused" in refused.text


# ── Files, pictures, prompts ──


def test_a_file_keeps_its_line_numbers_and_has_its_colours() -> None:
    read = "     9→def f():\n    10→    return 'x'\n\n<system-reminder>no</system-reminder>"
    output = called({"file_path": "/w/a.py", "offset": 9}, read).one(kind="output")
    assert [number.text.strip() for number in output.find(kind="ln")] == ["9", "10"]
    assert output.find(kind="h-k")[0].text == "def " and output.one(kind="h-s").text == "'x'"
    assert output.text.endswith("\n\n<system-reminder>no</system-reminder>")


def test_a_file_without_numbers_is_coloured_by_its_name() -> None:
    operations = {"operations": [{"mode": "Line", "path": "./pyproject.toml"}]}
    output = called(operations, '[project]\nversion = "1"').one(kind="output")
    assert output.text == '[project]\nversion = "1"' and output.find(kind="h-s")
    folder = {"operations": [{"mode": "Directory", "path": "."}]}
    assert called(folder, "src\ntests").one(kind="output").children == ["src\ntests"]


def test_pictures_stand_under_the_result_they_came_with() -> None:
    picture = Attachment("image/png", "d1", "dot.png", 3)
    look = RenderOptions(attachment_url=lambda part: f"/a/{part.digest}")
    call = called({"file_path": "dot.png"}, "", more=[picture], look=look)
    assert call.one(kind="result").one("img").attributes["alt"] == "dot.png"


def test_what_a_sub_agent_was_told_is_read_as_prose() -> None:
    call = called(
        {"description": "look", "prompt": "Please **look**", "subagent_type": "x"}, "*ok*"
    )
    assert call.one("strong").text == "look" and call.one("em").text == "ok"
    assert [term.text for term in call.find("dt")] == ["description", "subagent_type"]


# ── Too much of it ──


def test_long_output_is_cut_unless_all_is_wanted() -> None:
    output = "\n".join(f"line {number}" for number in range(1000))
    look = RenderOptions(raw_url=lambda id: f"/raw?message={id}")
    cut = called({"command": "seq"}, output, look=look)
    assert cut.one(kind="terminal").text.endswith("line 199")
    assert cut.one(kind="more").text == "… 800 more lines raw"
    full = called({"command": "seq"}, output, look=RenderOptions(full=True))
    assert full.one(kind="terminal").text == output and not full.find(kind="more")


def test_one_line_without_end_is_cut_too() -> None:
    call = called({"x": 1}, "a" * 100_000)
    assert len(call.one(kind="output").text) == 64_000
    assert call.one(kind="more").text == "… 36,000 more characters "
    write = called({"file_path": "a", "content": "b" * 1_000_000})
    assert len(write.text) < 70_000


def test_a_large_edit_is_cut() -> None:
    call = called({"file_path": "a", "content": "x\n" * 5000})
    assert len(call.find(kind="row")) == 200
    assert call.one(kind="more").text == "… 4,800 more lines "
    assert call.one(kind="stat").text == "+5,000 −0"
