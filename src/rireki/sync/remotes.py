"""The remotes of an archive: where it is pushed to and pulled from, and what opens them.

They are kept in the user's data directory, never in the archive or beside one that came from
elsewhere: what is sent, and where to, is the person's to say.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

import msgspec
from msgspec import structs

from rireki.errors import NotFound, RirekiError
from rireki.home import Home
from rireki.journals.lock import WriterLock
from rireki.sync.private import read_private, write_private
from rireki.sync.wire import KindOfRemote

__all__ = ["Remote", "RemoteStatus", "Remotes", "is_folder"]

#: Seconds to wait for another process of this machine that speaks to the same remote.
PATIENCE = 10.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    #: `https://…`, `ssh://…`, or the path of a folder.
    url: str
    #: As its owner said when it was added; what it says itself later has to be the same.
    kind: KindOfRemote
    token: str = ""
    #: The secret age key of an encrypted folder.
    key: str = ""
    added_at: str = ""

    @property
    def is_folder(self) -> bool:
        return is_folder(self.url)


class RemoteStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How it went the last time."""

    pushed_at: str = ""
    pulled_at: str = ""
    #: What went wrong since, in English.
    trouble: str = ""


def is_folder(url: str) -> bool:
    """Whether nothing but files is there: a folder on a disk, or one that SSH leads to."""
    return not url.startswith(("http://", "https://"))


class Remotes:
    def __init__(self, home: Home) -> None:
        self.folder = home.sync
        self._file = self.folder / "remotes.json"

    def all(self) -> list[Remote]:
        found: list[Remote] = read_private(self._file, list[Remote], [])
        return found

    def get(self, name: str) -> Remote:
        known = {remote.name: remote for remote in self.all()}
        if name not in known:
            raise NotFound("no-remote", name=name)
        return known[name]

    def named(self, name: str | None) -> list[Remote]:
        """The one of that name, or all."""
        if name is not None:
            return [self.get(name)]
        found = self.all()
        if not found:
            raise NotFound("no-remotes")
        return found

    def ensure_free(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise RirekiError("remote-bad-name", name=name)
        if any(each.name == name for each in self.all()):
            raise RirekiError("remote-known", name=name)

    def add(self, remote: Remote) -> None:
        self.ensure_free(remote.name)
        write_private(self._file, [*self.all(), remote])

    def remove(self, name: str) -> Remote:
        removed = self.get(name)
        write_private(self._file, [each for each in self.all() if each.name != name])
        rmtree(self.folder / name, ignore_errors=True)
        self._note(name, None)
        return removed

    def file(self, name: str, what: str) -> Path:
        """A file of ours about a remote, which goes when it is removed."""
        return self.folder / name / what

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Meanwhile nobody else of this machine writes there."""
        lock = WriterLock(self.file(name, "log"))
        until = time.monotonic() + PATIENCE
        while not lock.take():
            if time.monotonic() > until:
                raise RirekiError("remote-busy", name=name)
            time.sleep(0.02)
        try:
            yield
        finally:
            lock.release()

    # ── how it went ──

    def status(self) -> dict[str, RemoteStatus]:
        found: dict[str, RemoteStatus] = read_private(
            self.folder / "status.json", dict[str, RemoteStatus], {}
        )
        return found

    def note(self, name: str, **changed: str) -> None:
        self._note(name, structs.replace(self.status().get(name, RemoteStatus()), **changed))

    def _note(self, name: str, status: RemoteStatus | None) -> None:
        known = self.status()
        if known.get(name) == status:
            return
        known.pop(name, None)
        write_private(Path(self.folder / "status.json"), known | ({name: status} if status else {}))
