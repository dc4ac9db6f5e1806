"""The shortest beginning of an id that means one conversation only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rireki.archive.base import Archive, Neighbours

__all__ = ["short_ids"]

#: Shorter ones would soon stop being unambiguous.
SHORTEST = 8


def short_ids(archive: Archive, ids: Sequence[str]) -> dict[str, str]:
    """For each of these ids what to type for it. The beginning of an id means it, not what it started."""
    natives = {id: id.partition("/")[2] for id in ids}
    beside = archive.neighbours(set(natives.values()))
    return {id: _short(id, native, beside.get(native)) for id, native in natives.items()}


def _short(id: str, native: str, beside: Neighbours | None) -> str:
    if beside is None or beside.same != 1:
        # Two sources have the same; in a damaged archive there may be one that its index does not know.
        return id
    rivals = [each for each in (beside.before, beside.after) if each is not None]
    shared = max((_shared(native, rival) for rival in rivals), default=0)
    return native[: max(shared + 1, SHORTEST)]


def _shared(left: str, right: str) -> int:
    """How many letters two ids begin with in common; nearly always fewer than matter."""
    if left[:SHORTEST] != right[:SHORTEST]:
        return 0
    pairs = zip(left, right, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(right))
