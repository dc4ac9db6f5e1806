"""config.toml, the user's settings: read in one place, once as long as the file stays as it is.

Which file counts, and what a section of it may say, is decided by whoever asks.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any

from rireki.errors import RirekiError, Wording

__all__ = ["SettingsError", "read_settings"]


class SettingsError(RirekiError):
    """A settings file cannot be read; `reason` is what is wrong, without the file's name."""

    def __init__(self, file: Path, reason: Wording, hint: object) -> None:
        super().__init__("settings-unreadable", file=file, why=reason, hint=hint)
        self.reason = reason


def read_settings(file: Path, hint: Wording | str) -> dict[str, Any]:
    """All that a settings file says; nothing where there is none. `hint` shows how it is written."""
    try:
        status = file.stat()
        if not S_ISREG(status.st_mode):
            # A pipe of that name would have everybody wait for whoever writes to it.
            return {}
        return _read(file, (status.st_mtime_ns, status.st_size, status.st_ino), hint)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingsError(file, Wording("unreadable", why=error.strerror), "") from error


@lru_cache(maxsize=16)
def _read(file: Path, stamp: tuple[int, ...], hint: Wording | str) -> dict[str, Any]:
    # Imported late: hardly anyone has such a file, and every command would pay for it.
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SettingsError(file, Wording("not-toml", why=error), hint) from error
