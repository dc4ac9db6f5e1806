"""Which devices are let in: each has a token of its own, of which a digest alone is kept.

A device either pushes, from another machine of the person's, or it opens the pages, on a phone;
its token opens nothing else. Whoever asks looks at the file as it is now.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from typing import Literal, TypeAlias

import msgspec

from rireki.errors import NotFound, RirekiError
from rireki.home import Home
from rireki.journals.lock import KeeperLock
from rireki.sync.private import read_private, write_private

__all__ = ["Device", "Devices", "Opens", "device_name"]

Opens: TypeAlias = Literal["push", "pages"]

#: Characters of a name; of one that a device gives itself, which may get a number behind it.
LONGEST, LONGEST_GIVEN = 60, 40
#: Seconds to wait for another process that changes the list.
PATIENCE = 5.0


class Device(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    digest: str
    made_at: str
    opens: Opens = "push"
    #: Of one that opens the pages: whether it can do no more than read them.
    read_only: bool = False


class Devices:
    def __init__(self, home: Home) -> None:
        self._file: Path = home.sync / "devices.json"

    def all(self, opens: Opens | None = None) -> list[Device]:
        found: list[Device] = read_private(self._file, list[Device], [])
        return [device for device in found if opens in (None, device.opens)]

    def new(self, name: str, now: str, *, opens: Opens = "push", read_only: bool = False) -> str:
        """The token of a new device: nobody can be told it again."""
        if not name.strip() or not name.isprintable() or len(name) > LONGEST:
            raise RirekiError("device-bad-name", name=name[:LONGEST])
        token = token_urlsafe(32)
        device = Device(name, _digest(token), now, opens, read_only)
        with self._alone():
            known = self.all()
            if any(each.name == name for each in known):
                raise RirekiError("device-known", name=name)
            write_private(self._file, [*known, device])
        return token

    def free_name(self, wanted: str) -> str:
        """That name, or with a number behind it where it is taken."""
        taken = {device.name for device in self.all()}
        names = (f"{wanted} {n}" if n > 1 else wanted for n in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def revoke(self, name: str, opens: Opens | None = None) -> None:
        with self._alone():
            known = self.all()
            left = [each for each in known if each.name != name or opens not in (None, each.opens)]
            if left == known:
                raise NotFound("no-device", name=name)
            write_private(self._file, left)

    def find(self, token: str, opens: Opens = "push") -> Device | None:
        """The device that has this token now, if it opens that."""
        digest = _digest(token)
        found = [d for d in self.all(opens) if hmac.compare_digest(d.digest, digest)]
        return found[0] if found else None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two that change the list at once would bring a revoked device back."""
        lock = _ListLock(self._file)
        until = time.monotonic() + PATIENCE
        while not lock.take():
            if time.monotonic() > until:
                raise RirekiError("devices-busy", path=self._file)
            time.sleep(0.01)
        try:
            yield
        finally:
            lock.release()


class _ListLock(KeeperLock):
    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.path = file.with_suffix(".lock")


def device_name(given: str) -> str:
    """A name as somebody at a device gave it, in one line, of letters that can be seen."""
    seen = "".join(letter if letter.isprintable() else " " for letter in given)
    return " ".join(seen.split())[:LONGEST_GIVEN].strip()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
