"""Stamps: what the file system says about a file, so that an unchanged one is not opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["file_stamp", "database_stamp", "is_regular"]


def file_stamp(status: os.stat_result) -> str:
    """Size, times and identity. The change time catches writers that set the modification time back."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def database_stamp(path: Path) -> str:
    """The stamp of an SQLite file together with its journal and write-ahead log."""
    stamps = []
    for suffix in ("", "-wal", "-journal"):
        try:
            stamps.append(file_stamp(path.with_name(path.name + suffix).stat()))
        except FileNotFoundError:
            stamps.append("-")
    return " ".join(stamps)


def is_regular(status: os.stat_result) -> bool:
    """Whether it is a plain file: pipes, sockets and devices are never opened."""
    return stat.S_ISREG(status.st_mode)
