"""A store's way into the archive, and out of it when something is erased at once.

A keeper (`rireki serve`, `rireki watch`) sees a store as it sees every origin. Where none runs, a
store that is closed is taken in then.
"""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from rireki.archive.base import Found
from rireki.archive.open import open_archive
from rireki.errors import RirekiError, SourceTrouble
from rireki.intake.forget import forget
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.intake.take import take_origin
from rireki.journals.lock import is_kept
from rireki.model.conversation import Conversation
from rireki.search.index.update import erase
from rireki.sources.chatkit import READER
from rireki.sources.chatkit.names import NAME, conversation_of

__all__ = ["forget_thread", "forgotten_threads", "take_in_store"]

_LOG = logging.getLogger("rireki")


def take_in_store(archive: Path, store: Path) -> None:
    """The rows are safe in the store: what hinders the archive is said, and not raised."""
    try:
        if not is_kept(archive):
            _take(archive, store)
    except (RirekiError, OSError) as error:
        _LOG.warning(
            "the ChatKit store %s was not brought into the archive %s (%s); 'rireki import' does that",
            store,
            archive,
            error,
        )


def forget_thread(archive: Path, thread: str, user: str) -> None:
    """What the archive has of a thread that was erased, or is about to have.

    A keeper may have read its rows a moment ago and not kept them yet, or kept them and not told
    yet what they mean. So it is noted as forgotten whether it is found or not.
    """
    if not archive.exists():
        return
    native = conversation_of(thread, user)
    named = Conversation(id=f"{NAME}/{native}", source=NAME, native_id=native)
    with closing(open_archive(archive)) as opened:
        forget(opened, Found(named, NAME, native))
        erase(opened, Silent())


def forgotten_threads(archive: Path) -> set[str]:
    """What the archive calls the threads that it was told to forget."""
    if not archive.exists():
        return set()
    try:
        with closing(open_archive(archive)) as opened:
            return {name for family, name in opened.forgotten() if family == NAME}
    except (RirekiError, OSError) as error:
        _LOG.warning("what the archive %s was told to forget is not known (%s)", archive, error)
        return set()


def _take(archive: Path, store: Path) -> None:
    with closing(open_archive(archive, create=True)) as opened:
        for origin in READER.recognise(store):
            taken = take_origin(opened, READER, origin)
            if taken.trouble is not None:
                raise SourceTrouble(taken.trouble.message, taken.trouble.hint)
        for _ in interpret_pending(opened, Silent(), alone=True):
            # Each is stored as it comes.
            continue
