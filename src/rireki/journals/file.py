"""A file that grows by whole lines: all of a write is kept, or nothing. Knows no entries."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rireki.errors import RirekiError, Wording

__all__ = ["GrowingFile"]


class GrowingFile:
    """What journals share; whoever has the lock of one opens `_file` and knows its `_size`."""

    path: Path
    _file: int | None = None
    _size = 0
    #: What to do about a file that somebody else removed or cut.
    _lost = "start-anew"

    def _append(self, lines: bytes, *, sync: bool = False) -> None:
        """With one write, so that a process that is killed leaves whole lines and at most a torn one."""
        assert self._file is not None
        self._cut_back()
        try:
            written = os.write(self._file, lines)
            if sync and written == len(lines):
                os.fsync(self._file)
        except OSError as error:
            self._undo()
            raise self._failed(error.strerror or str(error)) from error
        if written != len(lines):
            self._undo()
            raise self._failed(f"only {written:,} of {len(lines):,} bytes could be written")
        self._size += len(lines)

    def _cut_back(self) -> None:
        """Without half an entry that a full disk left behind."""
        assert self._file is not None
        status = os.fstat(self._file)
        if status.st_size > self._size:
            os.ftruncate(self._file, self._size)
        elif status.st_size < self._size or not status.st_nlink:
            raise RirekiError("file-cut", path=self.path, hint=Wording(self._lost))

    def _undo(self) -> None:
        """What cannot be undone now is, before anything else is written."""
        assert self._file is not None
        with suppress(OSError):
            os.ftruncate(self._file, self._size)

    def _failed(self, reason: str) -> RirekiError:
        """What to say when nothing could be written."""
        return RirekiError("file-not-written", path=self.path, why=reason)
