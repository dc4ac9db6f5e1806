"""The examples of docs/chatkit.md run as they stand there, and it names every setting."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from rireki.chatkit import RirekiStore
from rireki.chatkit.testing import PROPERTIES, StoreConformance
from tests.chatkit.test_kit import FAULTS, FAULTS_IN_MEMORY

PAGE = Path(__file__).parents[2] / "docs" / "chatkit.md"


def test_the_examples_run(tmp_path: Path) -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 6
    names: dict[str, object] = {"folder": tmp_path / "kept"}
    for number, example in enumerate(examples):
        exec(compile(example, f"{PAGE.name}, example {number + 1}", "exec"), names)
    made = names["TestMyStore"]
    assert isinstance(made, type) and issubclass(made, StoreConformance)


def test_every_setting_and_property_is_told() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in inspect.signature(RirekiStore).parameters:
        assert f"`{name}`" in text, name
    for one in PROPERTIES:
        number = one.number.partition(".")[0]
        assert f"| {number} |" in text or f"| {number}.1–{number}.5 |" in text, one


@pytest.mark.parametrize(("row", "faults"), [("| SQLite", FAULTS), ("| lists", FAULTS_IN_MEMORY)])
def test_the_faults_of_the_samples_are_told(row: str, faults: set[str]) -> None:
    (line,) = [one for one in PAGE.read_text(encoding="utf-8").splitlines() if one.startswith(row)]
    told: set[str] = set()
    for part in line.split("|")[2].replace(" ", "").split(","):
        first, _, last = part.partition("–")
        told |= {str(n) for n in range(int(first), int(last) + 1)} if last else {first}
    assert told == faults
