"""A backup: a copy of the archive, and of the journals and stores beside it, while others write.

The archive comes first: whatever it has read of a journal is then in the copy of the journal, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rireki.archive.open import copy_database, is_database, open_archive
from rireki.errors import RirekiError
from rireki.home import ARCHIVE, Home
from rireki.model.conversation import Trouble

__all__ = ["Backup", "backup"]

#: Locks, tokens, keys, and what SQLite keeps beside a database, which is in the copy of it already.
_LEFT_OUT = (".lock", ".keeper", ".token", ".masking", "-wal", "-shm", "-journal")
BLOCK = 1 << 20


class Backup(msgspec.Struct):
    to: str
    conversations: int
    #: Journals of histories and of driven agents, stores, and their attachments.
    files: int
    bytes: int
    #: What is wrong with the archive, and so with its copy.
    troubles: list[Trouble]


def backup(archive: Path, to: Path) -> Backup:
    """Copy everything into the folder `to`, which is made; raises RirekiError if it is not empty."""
    _make(to)
    if not archive.is_file():
        # In two lines, as for every command.
        open_archive(archive).close()
    target = to / ARCHIVE
    copy_database(archive, target)
    files = [_copy(file, archive.parent, to) for file in _beside(Home(archive))]
    copied = [size for size in files if size is not None]
    opened = open_archive(target)
    try:
        troubles = opened.check() + opened.damage
        conversations = opened.count()
    finally:
        opened.close()
    size = target.stat().st_size + sum(copied)
    return Backup(str(to), conversations, len(copied), size, troubles)


def _make(to: Path) -> None:
    try:
        to.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(to.iterdir()):
            raise RirekiError("backup-not-empty", path=to)
    except OSError as error:
        raise RirekiError("backup-not-made", path=to, why=error.strerror) from error


def _beside(home: Home) -> Iterator[Path]:
    """The journals and stores beside an archive."""
    for folder in (home.histories, home.bridge, home.stores):
        for parent, folders, files in os.walk(folder):
            folders.sort()
            for file in sorted(files):
                path = Path(parent) / file
                if not file.endswith(_LEFT_OUT) and path.is_file() and not path.is_symlink():
                    yield path


def _copy(file: Path, root: Path, to: Path) -> int | None:
    """Copy one file; None if it was removed meanwhile."""
    target = to / file.relative_to(root)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        if is_database(file):
            copy_database(file, target)
        else:
            _copy_bytes(file, target)
    except FileNotFoundError:
        return None
    return target.stat().st_size


def _copy_bytes(file: Path, target: Path) -> None:
    """A journal that grows meanwhile is copied to the end of a line."""
    with file.open("rb") as source, target.open("wb") as copy:
        target.chmod(0o600)
        left = os.fstat(source.fileno()).st_size
        last = 0
        while left > 0 and (block := source.read(min(left, BLOCK))):
            end = block.rfind(b"\n")
            last = copy.tell() + end + 1 if end >= 0 else last
            copy.write(block)
            left -= len(block)
        if file.suffix == ".jsonl":
            copy.truncate(last)
