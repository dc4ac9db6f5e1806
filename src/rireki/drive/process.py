"""The processes of agents: started in a group of their own, and ended with all they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["born", "end_group"]


def end_group(pid: int, *, firmly: bool) -> None:
    """Tell a process and all of its group to end; those that are gone already are no trouble."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            # There are no groups to signal: the system's own tool follows the tree.
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True)
        else:
            os.killpg(pid, signal.SIGKILL if firmly else signal.SIGTERM)


def born(pid: int) -> str:
    """When a process began, as the system spells it; empty when there is none of that number."""
    with suppress(OSError, ValueError, IndexError):
        # The name in brackets may hold anything; the 20th field after it is the time.
        return (
            Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
        )
    if Path("/proc/self/stat").exists() or sys.platform == "win32":
        return ""
    told = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return told.stdout.strip()
