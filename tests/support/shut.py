"""Folders where nothing may be written, and `rireki` run by somebody whom that binds.

Modes mean nothing to root, so root's commands first give up the right to pass over them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

#: PR_CAPBSET_DROP of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH; what is started then lacks them.
_DROP = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
assert [libc.prctl(24, right, 0, 0, 0) for right in (1, 2)] == [0, 0]
os.execv(sys.argv[1], sys.argv[1:])
"""
_WRITE = "import sys; open(sys.argv[1], 'a')"
PATIENCE = 60.0


def rireki(archive: Path, *arguments: str) -> list[str]:
    """The command as somebody runs it who has to keep to the modes of files; skips where nobody has."""
    if not _modes_bind():
        pytest.skip("nobody here is kept from writing by the modes of files")
    return _bound(sys.executable, "-m", "rireki", "--archive", str(archive), *arguments)


def _bound(*command: str) -> list[str]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*((sys.executable, "-c", _DROP) if is_root else ()), *command]


@cache
def _modes_bind() -> bool:
    with TemporaryDirectory() as name:
        Path(name).chmod(0o555)
        tried = run(_bound(sys.executable, "-c", _WRITE, f"{name}/written"))
    return "PermissionError" in tried.stderr


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RIREKI")}
    return subprocess.run(
        command, capture_output=True, text=True, env=kept, timeout=PATIENCE, check=False
    )


@contextmanager
def shut(folder: Path) -> Iterator[None]:
    """Until the end nothing in the folder may be written."""
    everything = [folder, *folder.rglob("*")]
    before = {path: path.stat().st_mode for path in everything}
    for path in reversed(everything):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in before.items():
            path.chmod(mode)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder and when it was written, to see whether anything was."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in files
    }
