"""What pyright says of a program that renders; what mypy says of it is told by `make types`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("typed_program.py").read_text("utf-8")
IGNORED = re.compile(r"  # type: ignore\[.*\]$", re.MULTILINE)
PYRIGHT = shutil.which("pyright") or shutil.which("basedpyright")


def test_the_program_has_lines_that_are_wrong_for_mypy_to_find() -> None:
    assert len(IGNORED.findall(PROGRAM)) == 10


@pytest.mark.skipif(
    PYRIGHT is None,
    reason="pyright is not installed: pip install basedpyright, or npm install -g pyright",
)
def test_pyright_finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    lines = PROGRAM.split("\n")
    wrong = {number for number, line in enumerate(lines, 1) if IGNORED.search(line)}
    program = tmp_path / "program.py"
    program.write_text(IGNORED.sub("", PROGRAM))
    command = [str(PYRIGHT), "--level", "error", "--pythonpath", sys.executable, str(program)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    told = re.findall(r"program\.py:(\d+)(?::\d+)?:? .*?error", ran.stdout)
    assert set(map(int, told)) == wrong, ran.stdout + ran.stderr
