"""Making the projection anew from the records: after a better reader, or a doubt."""

from __future__ import annotations

from rireki.archive.base import Archive
from rireki.intake.pending import project_dirty
from rireki.intake.progress import Progress, Silent
from rireki.intake.rules import note_current

__all__ = ["rebuild"]


def rebuild(archive: Archive, progress: Progress | None = None) -> int:
    """Interpret every conversation again; returns how many there are."""
    archive.soil()
    note_current(archive)
    return sum(1 for _ in project_dirty(archive, progress or Silent()))
