"""A store's way into the archive, and out of it when something is erased at once.

A keeper (`rireki serve`, `rireki watch`) sees a store as it sees every origin. Where none runs, a
store that is closed is taken in then.
"""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from rireki.archive.open import open_archive
from rireki.errors import Ambiguous, NotFound, RirekiError, SourceTrouble
from rireki.intake.forget import forget
from rireki.intake.progress import Silent
from rireki.intake.project import project_dirty
from rireki.intake.take import take_origin
from rireki.live.lock import KeeperLock
from rireki.search.update import erase
from rireki.sources.chatkit import READER
from rireki.sources.chatkit.names import NAME, conversation_of

__all__ = ["forget_thread", "take_in_store"]


def take_in_store(archive: Path, store: Path) -> None:
    """The rows are safe in the store: what hinders the archive is said, and not raised."""
    try:
        if not _is_kept(archive):
            _take(archive, store)
    except (RirekiError, OSError) as error:
        logging.getLogger("rireki").warning(
            "the ChatKit store %s was not brought into the archive %s (%s); 'rireki import' does that",
            store,
            archive,
            error,
        )


def forget_thread(archive: Path, thread: str, user: str) -> None:
    """What the archive has of a thread that was erased."""
    if not archive.exists():
        return
    native = conversation_of(thread, user)
    with closing(open_archive(archive)) as opened:
        try:
            found = opened.find(f"{NAME}/{native}")
        except (NotFound, Ambiguous):
            return
        # A name that is not there may be the beginning of another.
        if found.conversation.native_id == native:
            forget(opened, found)
            erase(opened, Silent())


def _is_kept(archive: Path) -> bool:
    """Whether a keeper is at work on the archive and will notice by itself."""
    lock = KeeperLock(archive)
    if not lock.path.exists() or not archive.exists():
        return False
    try:
        return not lock.take()
    finally:
        lock.release()


def _take(archive: Path, store: Path) -> None:
    with closing(open_archive(archive, create=True)) as opened:
        for origin in READER.recognise(store):
            taken = take_origin(opened, READER, origin, opened.forgotten())
            if taken.trouble is not None:
                raise SourceTrouble(taken.trouble.message, taken.trouble.hint)
        for _ in project_dirty(opened, Silent(), None):
            # Each is stored as it comes.
            continue
