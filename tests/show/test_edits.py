"""What became of a file over a whole conversation, whichever editing tools its agent has."""

from __future__ import annotations

from typing import Any

import pytest

from rireki.model.message import Message
from rireki.model.parts import ToolCall, ToolResult
from rireki.show.edits import FileEdit, changed_files, edits_of

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def a():
 one
-two
+zwei
@@
-three
+drei
*** Add File: b.txt
+new
+file
*** Delete File: c.txt
*** Update File: d.txt
*** Move to: e.txt
@@
-x
+y
*** End Patch"""
UNIFIED = """diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,2 @@
 one
-two
+zwei
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
"""
REPLACED = "<<<<<<< SEARCH\ntwo\n=======\nzwei\n>>>>>>> REPLACE"


def call(name: str, arguments: Any) -> list[FileEdit]:
    return edits_of(ToolCall("c", name, arguments))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Edit", {"file_path": "a", "old_string": "two", "new_string": "zwei"}),
        ("edit", {"filePath": "a", "oldString": "two", "newString": "zwei"}),
        ("fs_write", {"command": "str_replace", "path": "a", "old_str": "two", "new_str": "zwei"}),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "two", "new_string": "zwei"}]}),
        ("multi", {"edits": [{"path": "a", "old_text": "two", "new_text": "zwei"}]}),
        ("replace_in_file", {"path": "a", "diff": REPLACED}),
    ],
)
def test_an_edit_is_known_by_the_names_of_its_arguments(name: str, arguments: Any) -> None:
    assert call(name, arguments) == [FileEdit("a", "two", "zwei")]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Write", {"file_path": "a", "content": "all\n"}),
        ("fs_write", {"command": "create", "path": "a", "file_text": "all\n"}),
        ("fsWrite", {"path": "a", "text": "all\n"}),
    ],
)
def test_a_file_may_be_written_as_a_whole(name: str, arguments: Any) -> None:
    assert call(name, arguments) == [FileEdit("a", "", "all\n", "whole")]


def test_what_is_appended_is_a_part() -> None:
    assert call("fsAppend", {"path": "a", "text": "more"}) == [FileEdit("a", "", "more")]


def test_a_patch_names_its_files_itself() -> None:
    wanted = [
        FileEdit("src/a.py", "one\ntwo", "one\nzwei"),
        FileEdit("src/a.py", "three", "drei"),
        FileEdit("b.txt", "", "new\nfile", "whole"),
        FileEdit("c.txt", kind="delete"),
        FileEdit("d.txt", new="e.txt", kind="move"),
        FileEdit("e.txt", "x", "y"),
    ]
    assert call("apply_patch", PATCH) == wanted
    assert call("apply_patch", {"input": PATCH}) == wanted
    assert call("shell", {"command": ["apply_patch", PATCH]}) == wanted


def test_a_patch_as_diff_writes_it() -> None:
    assert call("patch", {"diff": UNIFIED}) == [
        FileEdit("src/a.py", "one\ntwo", "one\nzwei"),
        FileEdit("new.txt", "", "hello", "whole"),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        7,
        "words",
        [],
        {"path": "a"},
        {"command": "rm a"},
        {"edits": [1]},
        {"file_path": 3, "old_string": "a", "new_string": "b"},
        {"patch": "--- a\nno patch"},
    ],
)
def test_what_is_not_understood_changes_nothing(arguments: Any) -> None:
    assert call("Read", arguments) == []


# ── Over a conversation ──


def told(*calls: tuple[str, dict[str, Any]], **status: Any) -> list[Message]:
    messages = []
    for number, (name, arguments) in enumerate(calls):
        id = f"c{number}"
        messages.append(
            Message(
                id=f"m{number}",
                author="agent",
                display="bubble",
                parts=[ToolCall(id, name, arguments)],
            )
        )
        result = ToolResult(id, status.get(id, "ok"), "done")
        messages.append(Message(id=f"r{number}", author="tool", display="fold", parts=[result]))
    return messages


def edit(path: str, old: str, new: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "Edit", {"file_path": path, "old_string": old, "new_string": new, **more}


def places(messages: list[Message], project: str | None = None) -> dict[str, list[tuple[str, str]]]:
    found = changed_files(messages, project)
    return {file.path: [(spot.before, spot.after) for spot in file.left] for file in found}


def test_an_edit_of_an_edit_is_one_change() -> None:
    messages = told(edit("a", "one", "two"), edit("a", "two", "three"))
    assert places(messages) == {"a": [("one", "three")]}
    assert changed_files(messages)[0].spots[0].messages == ["m0", "m1"]


def test_an_edit_that_reaches_further_takes_in_what_it_covers() -> None:
    messages = told(edit("a", "b", "B"), edit("a", "a B c", "a C c"))
    assert places(messages) == {"a": [("a b c", "a C c")]}


def test_edits_of_a_file_that_was_written_go_into_it() -> None:
    write = ("Write", {"file_path": "a", "content": "x x\n"})
    assert places(told(write, edit("a", "x", "y"))) == {"a": [("", "y x\n")]}
    assert places(told(write, edit("a", "x", "y", replace_all=True))) == {"a": [("", "y y\n")]}
    again = ("Write", {"file_path": "a", "content": "z\n"})
    assert places(told(write, again)) == {"a": [("", "z\n")]}


def test_what_was_changed_back_is_no_change() -> None:
    messages = told(edit("a", "one", "two"), edit("a", "two", "one"))
    assert places(messages) == {"a": []}
    assert changed_files(messages)[0].edits == 2


def test_calls_that_failed_and_branches_that_were_left_count_for_nothing() -> None:
    messages = told(edit("a", "one", "two"), edit("b", "x", "y"), c1="error")
    assert places(messages) == {"a": [("one", "two")]}
    messages[0].abandoned = True
    assert places(messages) == {}


def test_a_file_is_one_file_however_its_path_is_written() -> None:
    messages = told(edit("/p/src/a", "1", "2"), edit("src/a", "3", "4"), edit("./src/a", "5", "6"))
    assert list(places(messages, "/p")) == ["src/a"]


def test_a_file_that_moves_takes_its_changes_along() -> None:
    moved = ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n"})
    file = changed_files(told(edit("a", "1", "2"), moved))[0]
    assert (file.path, file.moved_from, [s.after for s in file.left]) == ("b", "a", ["2"])
