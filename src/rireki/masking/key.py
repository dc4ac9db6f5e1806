"""The key behind the numbers of marks: made once per archive, for its owner alone, and never given away.

A plain hash of a secret would confirm guesses; who has no key can neither make the number nor check it.
"""

from __future__ import annotations

import os
import secrets
from functools import cache
from pathlib import Path
from tempfile import mkstemp

from rireki.home import Home, make_folder_of

__all__ = ["ensure_key"]

SIZE = 32


def ensure_key(home: Home) -> bytes:
    """The key of an archive, made when there is none that can be used.

    Where nothing may be written, it is one for as long as this process runs.
    """
    path = home.masking_key
    try:
        return _read(path) or _make(path)
    except OSError:
        return _passing()


@cache
def _passing() -> bytes:
    return secrets.token_bytes(SIZE)


def _read(path: Path) -> bytes | None:
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
        others_may_read = os.name == "posix" and path.stat().st_mode & 0o077
    except (FileNotFoundError, ValueError):
        return None
    # With a key that others may have read, they could confirm guesses.
    return key if len(key) == SIZE and not others_may_read else None


def _make(path: Path) -> bytes:
    """Whole or not at all; that of another process which was faster counts."""
    make_folder_of(path)
    file, aside = mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(file, "w", encoding="ascii") as opened:
            opened.write(secrets.token_bytes(SIZE).hex())
        try:
            os.link(aside, path)
        except OSError:
            # There is one already. Or there are no links here: then the last one counts.
            if _read(path) is None:
                Path(aside).replace(path)
    finally:
        Path(aside).unlink(missing_ok=True)
    return _read(path) or _passing()
