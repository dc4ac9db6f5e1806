"""What type checkers say of programs that render: a misspelled provider is an error, messages have types."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Each line with a comment is an error there, and no other is.
PROGRAM = """
from anthropic import Anthropic
from openai import OpenAI

from rireki import AsyncMessageHistory, MessageHistory
from rireki.providers import Provider


def program(history: MessageHistory, provider: Provider, name: str) -> None:
    history.render("antropic")  # wrong
    history.validate("antropic")  # wrong
    history.add_raw_message({}, provider="antropic")  # wrong
    history.render(name)  # wrong
    history.render(provider)
    claude = history.render("anthropic")
    claude.messages[0]["rolle"]  # wrong
    claude.messages[0]["role"]
    system: int = claude.system  # wrong
    request, notes = history.render("openai", "gpt-5", report=True)
    notes[0].code
    OpenAI().chat.completions.create(model="gpt-5", messages=request.messages)
    OpenAI().responses.create(model="gpt-5", input=history.render("responses").messages)
    Anthropic().messages.create(model="any", max_tokens=9, messages=claude.messages)
    Anthropic().messages.create(model="any", max_tokens=9, messages=request.messages)  # wrong
    history.render("bedrock").messages[0]["parts"]  # wrong
    history.render("ollama").messages[0].get("tool_name")


async def later(history: AsyncMessageHistory) -> None:
    await history.render("antropic")  # wrong
    (await history.render("gemini")).messages[0]["content"]  # wrong
    (await history.render("gemini")).messages[0].get("parts")
"""


def wrong_lines() -> set[int]:
    lines = enumerate(PROGRAM.split("\n"), 1)
    return {number for number, line in lines if line.endswith("# wrong")}


def told(output: str) -> set[int]:
    return {int(number) for number in re.findall(r"program\.py:(\d+)(?::\d+)?:? .*?error", output)}


def test_mypy_finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", str(program)]
    ran = subprocess.run(
        [*command, "--cache-dir", str(ROOT / ".mypy_cache")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert told(ran.stdout) == wrong_lines(), ran.stdout + ran.stderr


@pytest.mark.skipif(
    not (shutil.which("pyright") or shutil.which("basedpyright")),
    reason="pyright is not installed: pip install basedpyright, or npm install -g pyright",
)
def test_pyright_finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    name = shutil.which("pyright") or shutil.which("basedpyright")
    command = [str(name), "--level", "error", "--pythonpath", sys.executable, str(program)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert told(ran.stdout) == wrong_lines(), ran.stdout + ran.stderr
