"""Which rules the conversations of an archive were interpreted by.

Readers get better. What they make of the same records is stored, so an archive
has to be interpreted again once they say something else: by itself, when
something is next taken in. What is stored is shown until then.
"""

from __future__ import annotations

from rireki.archive.base import Archive

__all__ = ["RULES", "ensure_current", "is_current", "note_current"]

#: To be raised whenever a reader makes something else of the same records.
RULES = "8"
_NOTE = "rules"


def is_current(archive: Archive) -> bool:
    """Whether what is stored was interpreted by the rules of this version."""
    return archive.note_of(_NOTE) == RULES


def ensure_current(archive: Archive) -> None:
    """Mark everything for a new interpretation if other rules made what is stored."""
    if not is_current(archive):
        archive.mark_stale(drop=False)
        note_current(archive)


def note_current(archive: Archive) -> None:
    archive.set_note(_NOTE, RULES)
