"""The real adapter of Claude Code and the program it runs, or why they are not there."""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["Adapter", "adapter"]

FOLDER = Path(sys.prefix) / "npm"


class Adapter(NamedTuple):
    #: The program that speaks the protocol; empty when there is none.
    command: str
    #: Claude Code itself.
    executable: str
    #: Why it is not there.
    absent: str = ""


@cache
def adapter() -> Adapter:
    command = (
        os.environ.get("RIREKI_CLAUDE_ACP")
        or shutil.which("claude-agent-acp", path=str(FOLDER / "node_modules" / ".bin"))
        or shutil.which("claude-agent-acp")
    )
    if not command:
        return Adapter("", "", _reason())
    if not shutil.which("node"):
        return Adapter("", "", "node is not installed")
    executable = _bundled() or shutil.which("claude")
    if not executable:
        return Adapter("", "", "claude-agent-sdk brings no Claude Code for this platform")
    return Adapter(command, executable)


def _bundled() -> str | None:
    """The Claude Code that the Python SDK brings along."""
    import claude_agent_sdk

    found = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    return str(found) if found.exists() else None


def _reason() -> str:
    try:
        return (FOLDER / "absent").read_text(encoding="utf-8").strip()
    except OSError:
        return f"it is not installed: sh tools/adapter {FOLDER}"
