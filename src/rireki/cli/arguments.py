"""What was typed, as the archive spells it: sources, times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rireki.cli.options import ensure_among, source_names
from rireki.cli.output import now
from rireki.model.when import when

if TYPE_CHECKING:
    from rireki.archive.base import Archive

__all__ = ["ensure_known", "time_of"]


def ensure_known(source: str | None, archive: Archive) -> None:
    """Raise NotFound for a source that neither a reader nor the archive knows.

    What a plug-in read is still there when the plug-in is not.
    """
    if source is not None and source not in source_names():
        kept = {heading.source for heading in archive.headings()}
        ensure_among(source, sorted({*source_names(), *kept}))


def time_of(text: str | None, end_of_day: bool = False) -> str | None:
    """A time as it was typed, in the archive's spelling."""
    return None if text is None else when(text, now(), end_of_day)
