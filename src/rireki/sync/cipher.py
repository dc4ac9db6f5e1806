"""What leaves for a folder is encrypted to a key that stays with the person: age, X25519.

Any age program opens the files with the key.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rireki.errors import RirekiError
from rireki.late import LateModule

if TYPE_CHECKING:
    import pyrage  # type: ignore[import-untyped]
else:
    # An optional dependency: `pip install rireki[sync]`.
    pyrage = LateModule("pyrage")

__all__ = ["Cipher", "given_key", "new_key"]

_BEGINNING = "AGE-SECRET-KEY-1"


def new_key() -> str:
    try:
        return str(pyrage.x25519.Identity.generate())
    except ImportError as error:
        raise RirekiError("sync-not-installed") from error


def given_key(given: str) -> str:
    """A key as it was typed, or the one in a file of that name."""
    text = given
    if not given.startswith(_BEGINNING):
        try:
            text = Path(given).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeError, ValueError) as error:
            why = getattr(error, "strerror", None) or "no text"
            raise RirekiError("folder-key-unreadable", path=given, why=why) from error
    found = [line.strip() for line in text.splitlines() if line.strip().startswith(_BEGINNING)]
    if len(found) != 1:
        raise RirekiError("key-unusable")
    # Tells whether it is one.
    Cipher(found[0], "")
    return found[0]


class Cipher:
    def __init__(self, key: str, place: str) -> None:
        """`place` is what messages call the folder."""
        try:
            self._identity = pyrage.x25519.Identity.from_str(key)
        except ImportError as error:
            raise RirekiError("sync-not-installed") from error
        except pyrage.IdentityError as error:
            raise RirekiError("key-unusable") from error
        self._recipient = self._identity.to_public()
        self.key = key
        self.place = place

    def encrypt(self, data: bytes) -> bytes:
        return bytes(pyrage.encrypt(data, [self._recipient]))

    def decrypt(self, data: bytes, name: str) -> bytes:
        try:
            return bytes(pyrage.decrypt(data, [self._identity]))
        except pyrage.DecryptError as error:
            raise RirekiError("folder-not-opened", url=f"{self.place}/{name}", why=error) from error
