"""The token that opens the web app: made once per archive, kept beside it for its owner alone.

It stays the same over restarts, so that open pages find their server again.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from rireki.errors import RirekiError

__all__ = ["SHORTEST", "checked", "ensure_token", "token_path"]

#: Fewer characters can be guessed.
SHORTEST = 16


def token_path(archive: Path) -> Path:
    return archive.with_suffix(".token")


def ensure_token(archive: Path) -> str:
    """The archive's token; made when there is none, or none that can be used."""
    path = token_path(archive)
    for _ in range(2):
        known = _read(path)
        if known is not None:
            return known
        _write(path, secrets.token_urlsafe(32))
    raise RirekiError(f"{path} cannot be used", "Remove it; a new one is made then.")


def checked(token: str, place: str) -> str:
    """A token that somebody chose. Raises RirekiError, which says what is wrong with it."""
    token = token.strip()
    if len(token) < SHORTEST or not _is_plain(token):
        raise RirekiError(
            f"the token in {place} cannot be used",
            f"It needs {SHORTEST} characters or more, letters, digits and signs without spaces; "
            "`openssl rand -hex 24` makes one.",
        )
    return token


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _read(path: Path) -> str | None:
    try:
        token = path.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeError):
        return None
    if os.name == "posix" and path.stat().st_mode & 0o077:
        # Others may have read it: it opens nothing any more.
        return None
    return token if len(token) >= SHORTEST and _is_plain(token) else None


def _write(path: Path, token: str) -> None:
    """Whole or not at all; another process that was faster keeps its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as opened:
        opened.write(token + "\n")
    aside.replace(path)
