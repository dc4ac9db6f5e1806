"""Folders in which whatever is started tells of it: modules, programs, readers, settings.

A trap that is sprung appends its name to one file. Nothing of these may ever run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["Traps", "trap_modules", "trap_programs"]

#: What rireki, a shell or a browser might look for by name.
PROGRAMS = (
    *("claude-agent-acp", "claude", "kiro-cli", "q", "codex-acp", "gemini", "evil"),
    *("python", "python3", "sh", "env", "less", "more", "cat", "ps", "git", "node", "rireki"),
    *("xdg-open", "www-browser", "systemctl", "launchctl", "schtasks", "cc", "gcc"),
)


class Traps:
    """What was sprung, by whichever process."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "sprung"

    @property
    def sprung(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    def module(self, name: str) -> str:
        """Code that tells it was executed. Needs nothing that could be a trap itself."""
        return f"open({str(self.file)!r}, 'a').write({name!r} + chr(10))\n"

    def program(self, name: str) -> str:
        return f"#!/bin/sh\necho program {name} >> {self.file}\n"


def trap_modules(folder: Path, traps: Traps) -> int:
    """A module for each that is installed here, or belongs to Python; how many."""
    folder.mkdir(parents=True, exist_ok=True)
    names = _installed() | set(sys.stdlib_module_names) | {"sitecustomize", "usercustomize"}
    names -= {"__future__", "__main__"}
    for name in names:
        (folder / f"{name}.py").write_text(traps.module(f"module {name}"))
    info = folder / "evil-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[rireki.readers]\nclaude-code = evil_reader:READER\nevil = evil_reader:READER\n"
    )
    (folder / "evil_reader.py").write_text(traps.module("module evil_reader"))
    (folder / "evil.pth").write_text(f"import sys; {traps.module('pth')}")
    package = folder / "rireki"
    package.mkdir()
    (package / "__init__.py").write_text(traps.module("package rireki"))
    return len(names)


def trap_programs(folder: Path, traps: Traps) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        file = folder / name
        if not file.is_dir():
            file.write_text(traps.program(name))
            file.chmod(0o755)


def _installed() -> set[str]:
    """The names under which what is installed can be imported."""
    code = "import json, pkgutil; print(json.dumps([m.name for m in pkgutil.iter_modules()]))"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-P", "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return {name for name in json.loads(told.stdout) if name.isidentifier()} - {"rireki"}
