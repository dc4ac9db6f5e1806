"""The examples of docs/history.md run as they stand there, and it names every method."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from rireki import MessageHistory

PAGE = Path(__file__).parents[2] / "docs" / "history.md"


def test_the_examples_run(tmp_path: Path) -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 6
    names: dict[str, object] = {"folder": tmp_path / "kept"}
    for number, example in enumerate(examples):
        exec(compile(example, f"{PAGE.name}, example {number + 1}", "exec"), names)


def test_every_method_is_told() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, _ in inspect.getmembers(MessageHistory, inspect.isfunction):
        if not name.startswith("_"):
            assert f"`{name}(" in text, name
