"""A history's own way into the archive, and back out through search.

A keeper does this for everybody as it happens. Where none runs, a history is found all the same:
it is taken in when it is closed, and before it is searched.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.archive.open import open_archive
from rireki.errors import SourceTrouble
from rireki.intake.progress import Silent
from rireki.intake.project import project_dirty
from rireki.intake.take import take_origin
from rireki.live.lock import KeeperLock
from rireki.sources.native.reader import NAME, READER, origin_of

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.search.results import Hit

__all__ = ["find_in", "is_kept", "take_in_journal"]

#: Conversations whose ids begin alike.
MANY = 1000


def is_kept(archive: Path) -> bool:
    """Whether a keeper is at work on the archive and will notice by itself."""
    lock = KeeperLock(archive)
    if not lock.path.exists() or not archive.exists():
        return False
    try:
        return not lock.take()
    finally:
        lock.release()


def take_in_journal(archive: Path, journal: Path) -> None:
    """Keep what is new in a journal, and read it; whoever else does so at the moment does no harm."""
    with closing(open_archive(archive, create=True)) as opened:
        _take(opened, journal)


def _take(archive: Archive, journal: Path) -> None:
    origin = origin_of(journal)
    if origin is None:
        return
    taken = take_origin(archive, READER, origin, archive.forgotten())
    if taken.trouble is not None:
        raise SourceTrouble(taken.trouble.message, taken.trouble.hint)
    for _ in project_dirty(archive, Silent(), alone=True):
        # Each is stored as it comes.
        continue


def find_in(archive: Path, journal: Path, query: str, limit: int) -> list[Hit]:
    """The messages of one history that answer a query, the best first."""
    from rireki.search.find import Search
    from rireki.search.results import Wish

    with closing(open_archive(archive, create=True)) as opened:
        _take(opened, journal)
        with closing(Search(opened)) as search:
            asked = f"({query}) id:{NAME}/{journal.stem}"
            found = search.find(asked, Wish(limit=MANY, hits=limit))
    talks = [talk for talk in found.talks if talk.conversation.native_id == journal.stem]
    return [hit for talk in talks for hit in talk.hits]
