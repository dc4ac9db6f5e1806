"""ccusage, another program that counts what Claude Code used, or why it is not there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.claude_adapter import FOLDER

__all__ = ["absent", "sums"]


@cache
def _command() -> str | None:
    own = shutil.which("ccusage", path=str(FOLDER / "ccusage" / "node_modules" / ".bin"))
    return os.environ.get("RIREKI_CCUSAGE") or own


def absent() -> str:
    """Why it is not there; empty when it is."""
    if _command():
        return ""
    try:
        return (FOLDER / "ccusage-absent").read_text(encoding="utf-8").strip()
    except OSError:
        return f"it is not installed: sh tools/ccusage {FOLDER}"


def sums(home: Path) -> dict[str, dict[str, float]]:
    """What it counts per model below a home, without asking anybody on the network."""
    command = [str(_command()), "claude", "session", "--offline", "--json", "--mode", "calculate"]
    environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(home / ".claude"), "HOME": str(home)}
    ran = subprocess.run(command, env=environment, capture_output=True, timeout=20, check=True)
    found: dict[str, dict[str, float]] = {}
    sessions: list[dict[str, Any]] = json.loads(ran.stdout)["sessions"]
    for each in (one for session in sessions for one in session["modelBreakdowns"]):
        total = found.setdefault(each["modelName"], {})
        for name, value in each.items():
            if isinstance(value, int | float):
                total[name] = total.get(name, 0) + value
    return found
