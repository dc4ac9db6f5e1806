"""Which server of the user's shows an archive already: a lock, and the address behind the lock."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rireki.home import Home, make_folder_of
from rireki.journals.lock import KeeperLock

__all__ = ["Address", "Served"]


class Address(msgspec.Struct, frozen=True):
    host: str
    port: int
    pid: int


class Served(KeeperLock):
    """Held by the server that was first; gone with its process, however that ends."""

    def __init__(self, archive: Path) -> None:
        super().__init__(archive)
        home = Home(archive)
        self.path, self.note = home.server, home.server_address

    def take(self) -> bool:
        make_folder_of(self.path)
        return super().take()

    def tell(self, address: Address) -> None:
        """Where we are; for whoever does not get the lock."""
        # Made again: a link that lies here would be followed.
        self.note.unlink(missing_ok=True)
        file = os.open(self.note, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(msgspec.json.encode(address))

    def other(self) -> Address | None:
        """Where the one that holds the lock is; None when nobody can, or does, or it does not say yet."""
        try:
            if self.take():
                self.release()
                return None
            return msgspec.json.decode(self.note.read_bytes(), type=Address)
        except (OSError, msgspec.MsgspecError):
            return None
