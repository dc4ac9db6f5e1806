"""Importing and indexing as one, the way everybody who takes history in does it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.errors import ArchiveTrouble
from rireki.intake.sweep import import_history
from rireki.late import LateModule
from rireki.model.conversation import Trouble

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.intake.parallel.follow import Followed
    from rireki.intake.progress import Progress
    from rireki.intake.sweep import Report
    from rireki.search.index import index as indexes
    from rireki.search.index import update
    from rireki.search.index.update import Importing
    from rireki.sources.kit.places import Places
else:
    indexes = LateModule("rireki.search.index.index")
    update = LateModule("rireki.search.index.update")

__all__ = ["take_in"]


def take_in(
    archive: Archive,
    places: Places,
    *,
    paths: Sequence[Path] = (),
    sources: Sequence[str] = (),
    progress: Progress | None = None,
    index: bool = True,
    check: bool = False,
) -> Report:
    """Take in what is new, and bring it into the search index as far as that is worth it.

    Without `index` that is left to the next search. So it is where the index cannot be
    written: the report tells why.
    """
    follower = _Late(archive) if index else None
    number = archive.number()
    try:
        report = import_history(
            archive,
            places=places,
            paths=paths,
            sources=sources,
            progress=progress,
            follower=follower,
            check=check,
        )
    finally:
        if follower is not None:
            follower.close()
    if index and archive.number() != number:
        report.index = _catch_up(archive, progress)
    return report


def _catch_up(archive: Archive, progress: Progress | None) -> Trouble | None:
    try:
        update.catch_up(archive, progress, lazy=True)
    except ArchiveTrouble as trouble:
        return Trouble.of(str(indexes.index_folder(archive)), trouble)
    return None


class _Late:
    """The index's follower, imported only once there is something to follow."""

    digest = "rireki.search.text.blocks:packed_digest"

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.follower: Importing | None = None

    def take(self, conversations: Sequence[Followed], left: float) -> None:
        if self.follower is None:
            self.follower = update.Importing(self.archive)
        self.follower.take(conversations, left)

    def close(self) -> None:
        if self.follower is not None:
            self.follower.close()
