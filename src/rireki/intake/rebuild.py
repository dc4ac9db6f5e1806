"""Making the projection anew from the records: after a better reader, or a doubt."""

from __future__ import annotations

from rireki.archive.base import Archive
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Progress, Silent
from rireki.intake.rules import note_current

__all__ = ["rebuild"]


def rebuild(archive: Archive, progress: Progress | None = None) -> int:
    """Interpret every conversation again; returns how many there are."""
    archive.mark_stale()
    note_current(archive)
    return sum(1 for _ in interpret_pending(archive, progress or Silent()))
