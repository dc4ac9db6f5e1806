"""A file system that is soon full, and can be given more room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["small_disk"]


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Callable[[int], None]]:
    """Mounted at `place` as long as this lasts, of whoever has the folder around it; what it gives,
    resizes it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    place.mkdir()
    owner = place.parent.stat()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    os.chown(place, owner.st_uid, owner.st_gid)

    def resize(megabytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={megabytes}m", str(place)], check=True)

    try:
        yield resize
    finally:
        # Whoever still has a file open there ends soon.
        subprocess.run(["umount", "-l", str(place)], check=True)
