"""The example and the examples of docs/agent.md run as they stand there."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

from rireki import MessageHistory
from rireki.agent import Agent
from tests.agent.conftest import results

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "agent.py"
PAGE = ROOT / "docs" / "agent.md"


def helper(folder: Path, typed: str) -> tuple[str, MessageHistory]:
    archive = folder / "kept" / "archive.sqlite3"
    command = [sys.executable, str(EXAMPLE), "--scripted", "--conversation", "x"]
    ran = subprocess.run(
        [*command, "--archive", str(archive)],
        input=typed,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stderr == ""
    return ran.stdout, MessageHistory.open("x", archive=archive, read_only=True)


def test_the_helper_asks_writes_and_runs(tmp_path: Path) -> None:
    shown, history = helper(tmp_path, "Write a program.\n1\nyes\n")
    assert (tmp_path / "hello.py").read_text() == 'print("hello")\n'
    assert "hello\n\n(exit code 0)" in shown and "It is written, and it says hello." in shown
    assert [results(history.messages[n])[0][1] for n in (3, 5, 7)] == [
        "hello.py",
        "wrote 15 characters to hello.py",
        "hello\n\n(exit code 0)",
    ]


def test_the_helper_runs_nothing_unless_the_person_agrees(tmp_path: Path) -> None:
    _, history = helper(tmp_path, "Write a program.\n1\nno\n")
    assert results(history.messages[7]) == [("call_run", "The person did not allow it.", True)]


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 120


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 2
    names: dict[str, object] = {"folder": tmp_path / "kept"}
    for number, example in enumerate(examples):
        exec(compile(example, f"{PAGE.name}, example {number + 1}", "exec"), names)


def test_the_page_tells_every_method() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, _ in inspect.getmembers(Agent, inspect.isfunction):
        if not name.startswith("_"):
            assert f"{name}(" in text, name


def test_the_clients_are_short() -> None:
    folder = ROOT / "src" / "rireki" / "agent" / "clients"
    for path in folder.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 150, path.name
