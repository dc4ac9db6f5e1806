"""Values out of rows: what rireki wrote there, or a row that is damaged. Knows no table."""

from __future__ import annotations

from typing import TypeVar

from rireki.errors import ArchiveTrouble

__all__ = ["BadValue", "value_of"]

T = TypeVar("T")


class BadValue(ArchiveTrouble):
    """A row holds something that rireki never writes there."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"{place} is damaged: {why}",
            "'rireki verify' tells what is affected; 'rireki verify --salvage NEW' saves all that"
            " can be read into a new archive.",
        )


def value_of(kind: type[T], value: object, place: str) -> T:
    """The value, which is of this kind unless its row is damaged; raises BadValue then."""
    if not isinstance(value, kind):
        raise BadValue(place, f"{type(value).__name__} in place of {kind.__name__}")
    return value
