"""One keeper per archive, one writer per journal: locks that the operating system takes back
when their holder dies."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from rireki.home import Home

__all__ = ["KeeperLock", "WriterLock", "is_kept"]

#: On Windows nobody can read a locked byte: so one far behind the number is locked.
_FAR = 1 << 30
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
#: How often to look again when the file was replaced while it was being opened.
ATTEMPTS = 20


class KeeperLock:
    """The lock of an archive's keeper, in a file beside the archive.

    The file stays when the lock is given back: removing it would let two processes
    hold a lock of the same name.
    """

    def __init__(self, archive: Path) -> None:
        self.path = Home(archive).keeper
        self._file: int | None = None

    def take(self) -> bool:
        """Whether the lock is ours now. Raises OSError where files cannot be locked."""
        if self._file is not None:
            return True
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In somebody else's folder a link could lie here: what it leads to would be emptied.
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        try:
            taken = _lock(file)
            if taken:
                os.ftruncate(file, 0)
                os.write(file, f"{os.getpid()}\n".encode())
        except BaseException:
            os.close(file)
            raise
        if taken:
            self._file = file
        else:
            os.close(file)
        return taken

    def holder(self) -> int | None:
        """The process that wrote its number last; it holds the lock, or has just let go of it."""
        try:
            text = self.path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeError):
            return None
        return int(text) if text.isdecimal() else None

    def release(self) -> None:
        if self._file is not None:
            # The number goes first: whoever comes next must not read ours.
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None


class WriterLock(KeeperLock):
    """The lock of a journal's writer, beside it; its file goes with the lock, there are many of them."""

    def __init__(self, journal: Path) -> None:
        super().__init__(journal)
        self.path = journal.with_suffix(".lock")

    def take(self) -> bool:
        for _ in range(ATTEMPTS):
            if not super().take():
                return False
            if self._is_there():
                return True
            # Its last holder removed the file between our opening and locking it.
            super().release()
        return False

    def _is_there(self) -> bool:
        assert self._file is not None
        try:
            return os.path.samestat(os.fstat(self._file), self.path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        if self._file is not None:
            # Windows does not remove what is open: there it stays, and does no harm.
            with suppress(OSError):
                self.path.unlink()
        super().release()


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def is_kept(archive: Path) -> bool:
    """Whether a keeper is at work on the archive and will notice by itself."""
    lock = KeeperLock(archive)
    if not lock.path.exists() or not archive.exists():
        return False
    try:
        return not lock.take()
    finally:
        lock.release()
