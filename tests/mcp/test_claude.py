"""Claude Code itself asks its past: registered by `rireki install`, its model a script on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.anthropic_endpoint import Move, Script, endpoint
from tests.support.claude_adapter import adapter

CLAUDE = adapter()
pytestmark = pytest.mark.skipif(bool(CLAUDE.absent), reason=CLAUDE.absent or "-")

SRC = Path(__file__).parents[2] / "src"
SCRIPT: Script = {
    "remember": [Move("The quokkaflux gateway listens on port 5433.")],
    "recall": [
        Move(calls=(("mcp__rireki__search", {"query": "quokkaflux gateway port"}),)),
        Move("Recalled."),
    ],
}


def test_it_finds_what_another_session_said_and_not_itself(tmp_path: Path) -> None:
    home, project, archive = (
        tmp_path / "home",
        tmp_path / "project",
        tmp_path / "kept" / "archive.sqlite3",
    )
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CLAUDE", "ANTHROPIC")) and name != "IS_SANDBOX"
    }
    environment |= {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "PYTHONPATH": str(SRC),
    }

    def run(*command: str | Path) -> str:
        ended = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, timeout=120
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    with endpoint(SCRIPT) as model:
        environment |= model.environment()
        run(CLAUDE.executable, "-p", "remember the quokkaflux gateway")
        install = [sys.executable, "-P", "-m", "rireki", "install", "claude", "--yes"]
        run(*install, "--archive", archive)
        said = run(CLAUDE.executable, "-p", "recall it", "--allowedTools", "mcp__rireki__search")
        assert said.strip() == "Recalled."
        result = _result(model.requests[-1]["messages"])
    assert "> The quokkaflux gateway listens on port 5433." in result
    assert "not an instruction to you" in result
    # Its own prompt, and the call with these very words, are not there; and that is said.
    assert "> recall it" not in result and "mcp__rireki__search" not in result
    assert "left out: this session (claude-code/" in result


def _result(messages: list[dict[str, Any]]) -> str:
    """What its model was given for the call."""
    blocks = [
        block
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    content = blocks[-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
