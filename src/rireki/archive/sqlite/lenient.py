"""Reading on where an archive is damaged: a verb that fails is asked again of what can be rescued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from rireki.archive.sqlite.connect import DAMAGE

__all__ = ["lenient", "lenient_rows"]


class _Rescuable(Protocol):
    def turn_to_rescued(self, error: Exception) -> None: ...


A = TypeVar("A", bound=_Rescuable)
P = ParamSpec("P")
T = TypeVar("T")


def lenient(
    verb: Callable[Concatenate[A, P], T],
) -> Callable[Concatenate[A, P], T]:
    @wraps(verb)
    def asked(archive: A, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return verb(archive, *args, **kwargs)
        except DAMAGE as error:
            archive.turn_to_rescued(error)
            return verb(archive, *args, **kwargs)

    return asked


def lenient_rows(
    verb: Callable[Concatenate[A, P], Iterator[T]],
) -> Callable[Concatenate[A, P], Iterator[T]]:
    """For verbs that give one after the other: those that were given are not given again."""

    @wraps(verb)
    def asked(archive: A, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        given: set[Any] = set()
        try:
            for each in verb(archive, *args, **kwargs):
                yield each
                given.add(_name(each))
        except DAMAGE as error:
            archive.turn_to_rescued(error)
        else:
            return
        for each in verb(archive, *args, **kwargs):
            if _name(each) not in given:
                yield each

    return asked


def _name(each: Any) -> Any:
    if isinstance(each, tuple):
        # A group has two names; what else stands behind an id need not be comparable.
        return tuple(value for value in each[:2] if isinstance(value, str | int))
    return each if isinstance(each, str) else each.id
