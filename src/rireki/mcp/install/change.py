"""A file of somebody else's, changed: read with care, shown, and written whole with a copy of what was."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import NamedTuple

from rireki.errors import RirekiError

__all__ = ["LARGEST", "FileChange", "plan_change"]

#: Settings and notes are smaller.
LARGEST = 20_000_000
BACKUP = ".before-rireki"


class FileChange(NamedTuple):
    """What a file would become."""

    file: Path
    before: str
    after: str
    #: What tells that nobody else has written it since; None where it is not there yet.
    stamp: tuple[int, ...] | None

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    def shown(self) -> list[str]:
        """Line by line what goes and what comes, with little around it."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), lineterm="", n=1
        )
        return [line for line in lines if not line.startswith(("---", "+++"))]

    @property
    def backup(self) -> Path:
        return self.file.with_name(self.file.name + BACKUP)

    def write(self) -> Path | None:
        """Whole or not at all; returns where the copy of what was is, if anything was there."""
        if _stamp(self.file) != self.stamp:
            raise RirekiError("settings-changed", file=self.file)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            mode = 0o600
            if self.stamp is not None:
                mode = stat.S_IMODE(self.file.stat().st_mode)
                _put(self.backup, self.before, mode)
            _put(self.file, self.after, mode)
        except OSError as error:
            raise RirekiError(
                "settings-not-written", file=self.file, why=error.strerror or error
            ) from error
        return self.backup if self.stamp is not None else None


def plan_change(file: Path, change: Callable[[str], str], within: Path) -> FileChange:
    """What `change` would make of a file. Raises RirekiError for one that is not to be touched: a link
    that leads out of `within`, a pipe, what is too large, no text, or not in its language."""
    _ensure_own(file, within)
    before, stamp = "", _stamp(file)
    try:
        if stamp is not None:
            before = _read(file)
        after = change(before)
    except OSError as error:
        raise RirekiError(
            "settings-unreadable-here", file=file, why=error.strerror or error
        ) from error
    except UnicodeDecodeError as error:
        raise RirekiError("settings-no-text", file=file) from error
    except (ValueError, RecursionError) as error:
        raise RirekiError("settings-not-understood", file=file, why=error) from error
    return FileChange(file, before, after, stamp)


def _read(file: Path) -> str:
    # Without waiting: it may have become a pipe since it was looked at.
    opened = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(opened, "rb") as data:
        status = os.fstat(data.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise RirekiError("settings-no-file", file=file)
        if status.st_size > LARGEST:
            raise RirekiError("settings-too-large", file=file, most=LARGEST // 1_000_000)
        return data.read(LARGEST + 1).decode("utf-8")


def _ensure_own(file: Path, within: Path) -> None:
    """The file itself, and every folder of it below `within`: no link may lead somewhere else."""
    real, root = Path(os.path.realpath(file)), Path(os.path.realpath(within))
    if file.is_symlink() or (real != root and root not in real.parents):
        raise RirekiError("settings-elsewhere", file=file, real=real)


def _stamp(file: Path) -> tuple[int, ...] | None:
    try:
        status = file.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RirekiError(
            "settings-unreadable-here", file=file, why=error.strerror or error
        ) from error
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _put(path: Path, text: str, mode: int) -> None:
    # Under a name that nobody can have put a link at.
    file, aside = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(file, "w", encoding="utf-8", newline="") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        with suppress(OSError):
            Path(aside).chmod(mode)
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
