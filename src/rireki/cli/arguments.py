"""What was typed, as the archive spells it."""

from __future__ import annotations

from rireki.cli.output import now
from rireki.model.when import when

__all__ = ["time_of"]


def time_of(text: str | None, end_of_day: bool = False) -> str | None:
    """A time as it was typed, in the archive's spelling."""
    return None if text is None else when(text, now(), end_of_day)
