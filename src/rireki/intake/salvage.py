"""Repair: all that can be read of a damaged archive, in a new one that is read and checked."""

from __future__ import annotations

from pathlib import Path

import msgspec

from rireki.archive.open import salvage_archive
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Progress, Silent
from rireki.intake.verify import verify
from rireki.model.conversation import Trouble

__all__ = ["Salvaged", "salvage"]


class Salvaged(msgspec.Struct):
    archive: str
    conversations: int
    #: What could not be saved, by conversation or table.
    lost: list[Trouble]
    #: What is wrong with the new archive: nothing.
    troubles: list[Trouble]


def salvage(old: Path, new: Path, progress: Progress | None = None) -> Salvaged:
    """Raises RirekiError where there is something at `new` already, or nothing in `old`."""
    progress = progress or Silent()
    archive, lost = salvage_archive(old, new)
    try:
        for _ in interpret_pending(archive, progress):
            pass
        troubles = verify(archive, progress)
        archive.settle()
        return Salvaged(str(new), archive.count(), lost, troubles)
    finally:
        archive.close()
