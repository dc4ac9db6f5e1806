"""A tool call fits in one line, whatever agent made it."""

from __future__ import annotations

from typing import Any

import pytest

from rireki.model.parts import ToolCall
from rireki.show.parts import preview, tell


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("Bash", {"command": "make\ntest", "description": "Run"}, "Bash make test"),
        ("Read", {"file_path": "/w/a.py", "limit": 3}, "Read /w/a.py"),
        ("Grep", {"pattern": "def x", "path": "src"}, "Grep def x in src"),
        ("Task", {"description": "Look", "prompt": "Please look"}, "Task Look"),
        ("Skill", {"skill": "review"}, "Skill review"),
        (
            "fs_write",
            {"command": "create", "path": "a.toml", "file_text": "x"},
            "fs_write create a.toml",
        ),
        (
            "fs_read",
            {"operations": [{"mode": "Line", "path": "a.toml"}, {"mode": "Line", "path": "b"}]},
            "fs_read Line a.toml (and 1 more)",
        ),
        ("AskUserQuestion", {"questions": [{"question": "どちら?"}]}, "AskUserQuestion どちら?"),
        ("mcp__github__search", {"query": "x"}, "github: search x"),
        ("jira___get", {"id": "X-1", "deep": True}, "jira: get id=X-1 deep=true"),
        ("execute_bash", {"command": "ls", "__tool_use_purpose": "look"}, "execute_bash ls"),
        ("shell", {"command": ["git", "status"]}, "shell git status"),
        (
            "fs_read",
            {"operations": [{"mode": "Image", "image_paths": ["a.png"]}]},
            "fs_read Image a.png",
        ),
        ("odd", "just text", "odd just text"),
        ("odd", None, "odd"),
        ("odd", [1, 2], "odd [1,2]"),
        ("Bash\x1b[2J", {"command": "echo \x1b[31m"}, "Bash echo"),
    ],
)
def test_told_in_one_line(name: str, arguments: Any, told: str) -> None:
    assert tell(ToolCall("c", name, arguments)) == told


def test_a_preview_counts_what_it_leaves_out() -> None:
    assert preview("a\nb\nc\nd\n", 2) == (["a", "b"], 2)
    assert preview("a\nb\nc", 2) == (["a", "b", "c"], 0)
    assert preview("a\nb\nc\nd", None).more == 0
    assert preview(" \n", 2) == ([], 0)
