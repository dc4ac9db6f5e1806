"""Which devices may push to this machine: each has a token, of which a digest alone is kept."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from secrets import token_urlsafe

import msgspec

from rireki.errors import NotFound, RirekiError
from rireki.home import Home
from rireki.sync.private import read_private, write_private

__all__ = ["Device", "Devices"]


#: Characters of a device's name.
LONGEST = 60


class Device(msgspec.Struct, frozen=True):
    name: str
    digest: str
    made_at: str


class Devices:
    def __init__(self, home: Home) -> None:
        self._file: Path = home.sync / "devices.json"

    def all(self) -> list[Device]:
        found: list[Device] = read_private(self._file, list[Device], [])
        return found

    def new(self, name: str, now: str) -> str:
        """The token of a new device: nobody can be told it again."""
        known = self.all()
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise RirekiError("device-bad-name", name=name[:LONGEST])
        if any(device.name == name for device in known):
            raise RirekiError("device-known", name=name)
        token = token_urlsafe(32)
        write_private(self._file, [*known, Device(name, _digest(token), now)])
        return token

    def revoke(self, name: str) -> None:
        known = self.all()
        left = [device for device in known if device.name != name]
        if left == known:
            raise NotFound("no-device", name=name)
        write_private(self._file, left)

    def find(self, token: str) -> Device | None:
        """The device that has this token now."""
        digest = _digest(token)
        found = (d for d in self.all() if hmac.compare_digest(d.digest, digest))
        return next(found, None)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
