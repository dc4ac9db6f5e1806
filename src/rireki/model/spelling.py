"""What somebody may have meant who typed something else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rireki.errors import NotFound, Wording

__all__ = ["distance", "ensure_among", "nearest"]


def nearest(typed: str, known: Iterable[str]) -> str | None:
    """The one name that is only a slip away; of long names a slip may be larger."""
    allowed = 1 if len(typed) < 5 else 2
    ranked = sorted((distance(typed.lower(), name.lower()), name) for name in known)
    begun = [name for name in known if len(typed) > 2 and name.startswith(typed.lower())]
    if ranked and ranked[0][0] <= allowed:
        return ranked[0][1]
    return begun[0] if len(begun) == 1 else None


def ensure_among(source: str, known: Sequence[str]) -> None:
    """Raise NotFound for a source that is none of these, and say which may have been meant."""
    if source not in known:
        near = nearest(source, known)
        hint = Wording("maybe-source", near=near, names=known) if near else None
        raise NotFound("no-source", name=source, names=known, hint=hint)


def distance(one: str, other: str) -> int:
    """How many letters have to be added, left out, changed, or swapped with their neighbour."""
    before: Sequence[int] = ()
    row: Sequence[int] = range(len(other) + 1)
    for place, letter in enumerate(one, 1):
        new = [place]
        for index, against in enumerate(other):
            best = min(row[index] + (letter != against), row[index + 1] + 1, new[index] + 1)
            if place > 1 and index and one[place - 2 : place] == other[index - 1 : index + 1][::-1]:
                best = min(best, before[index - 1] + 1)
            new.append(best)
        before, row = row, new
    return row[-1]
