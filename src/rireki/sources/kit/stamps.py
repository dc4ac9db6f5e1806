"""Stamps: what the file system says about a file, so that an unchanged one is not opened."""

from __future__ import annotations

import os
import stat
from io import FileIO

from rireki.errors import SourceTrouble

__all__ = ["database_stamp", "file_stamp", "is_regular", "modified", "open_plain"]


def file_stamp(status: os.stat_result) -> str:
    """Size, times and identity. The change time catches writers that set the modification time back."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def database_stamp(place: str) -> str:
    """The stamp of an SQLite file together with its journal and write-ahead log."""
    stamps = []
    for suffix in ("", "-wal", "-journal"):
        try:
            # Strings instead of pathlib: an editor has a database for each of a hundred workspaces.
            stamps.append(file_stamp(os.stat(place + suffix)))  # noqa: PTH116
        except FileNotFoundError:
            stamps.append("-")
    return " ".join(stamps)


def modified(stamp: str) -> int:
    """When it was written last, by its stamp, in nanoseconds since 1970; 0 where that does not say."""
    times = [one.split(":")[1] for one in stamp.split() if one.count(":") == 3]
    return max((int(time) for time in times if time.isdecimal()), default=0)


def is_regular(status: os.stat_result) -> bool:
    """Whether it is a plain file: pipes, sockets and devices are never opened."""
    return stat.S_ISREG(status.st_mode)


def open_plain(place: str) -> FileIO:
    """A plain file to be read, without a buffer. Raises SourceTrouble when it is none, or cannot be."""
    try:
        # O_NONBLOCK: a named pipe put in place of the file must not hang us.
        descriptor = os.open(
            place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except OSError as error:
        raise SourceTrouble("source-not-opened", place=place, why=error.strerror) from error
    if not is_regular(os.fstat(descriptor)):
        os.close(descriptor)
        raise SourceTrouble("not-a-plain-file", place=place)
    return FileIO(descriptor)
