"""The shortest beginning of an id that means one conversation only."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["short_ids"]

#: Shorter ones would soon stop being unambiguous.
SHORTEST = 8


class _Names(dict[str, str]):
    def __missing__(self, id: str) -> str:
        """In a damaged archive there may be one that the list of all does not know."""
        return id


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """For every id what to type for it. The beginning of an id means it, not what it started."""
    known = sorted((id.partition("/")[2], id) for id in ids)
    natives = [native for native, _ in known]
    short = _Names()
    for place, (native, id) in enumerate(known):
        rivals = [natives[place - 1]] if place else []
        after = place + 1
        while after < len(known) and natives[after].startswith(native) and natives[after] != native:
            after += 1
        rivals += natives[after : after + 1]
        if native in rivals:
            short[id] = id
            continue
        shared = max((_shared(native, rival) for rival in rivals), default=0)
        short[id] = native[: max(shared + 1, SHORTEST)]
    return short


def _shared(left: str, right: str) -> int:
    """How many letters two ids begin with in common; nearly always fewer than matter."""
    if left[:SHORTEST] != right[:SHORTEST]:
        return 0
    pairs = zip(left, right, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(right))
