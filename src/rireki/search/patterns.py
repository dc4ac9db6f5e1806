"""Regular expressions that a text could keep busy for ever: told before they are tried.

Nothing can stop a match once it runs, and nothing else runs meanwhile.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

__all__ = ["repeats_a_repetition"]

#: From here on a repetition counts as one without an end.
MANY = 20
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")


def repeats_a_repetition(pattern: str) -> bool:
    """Whether it repeats something that may consist of a repetition alone, as `(a+)+` does.

    Then there are as many ways to take a text apart as there are subsets of its letters.
    """
    # By its name: type checkers do not agree whether this module is there.
    parser: Any = import_module("re._parser")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _in_sequence(parser.parse(pattern))


def _in_sequence(sequence: Iterable[Any]) -> bool:
    return any(_in_item(*item) for item in sequence)


def _in_item(kind: Any, value: Any) -> bool:
    if str(kind) in _REPEATS:
        most, body = value[1], value[2]
        return (int(most) >= MANY and any(map(_may_be_one, _ways(body)))) or _in_sequence(body)
    return any(map(_in_sequence, _inside(str(kind), value)))


def _ways(body: Any) -> list[list[Any]]:
    """What a group may be: a sequence, or one of several."""
    items = list(body)
    if len(items) == 1:
        kind, value = str(items[0][0]), items[0][1]
        if kind in ("SUBPATTERN", "BRANCH"):
            return [way for inner in _inside(kind, value) for way in _ways(inner)]
    return [items]


def _may_be_one(items: list[Any]) -> bool:
    """Whether a repetition without an end is all that has to be there."""
    needed = [item for item in items if not _may_be_nothing(*item)]
    endless = [item for item in items if _is_endless(*item)]
    return bool(endless) and all(_is_endless(*item) for item in needed) and len(needed) <= 1


def _is_endless(kind: Any, value: Any) -> bool:
    return str(kind) in _REPEATS and int(value[1]) >= MANY


def _may_be_nothing(kind: Any, value: Any) -> bool:
    if str(kind) in _REPEATS:
        return bool(value[0] == 0)
    return str(kind) in ("AT", "ASSERT", "ASSERT_NOT")


def _inside(kind: str, value: Any) -> list[Any]:
    """The sequences in an item."""
    if kind == "SUBPATTERN":
        return [value[-1]]
    if kind == "BRANCH":
        return list(value[1])
    return [value[1]] if kind in ("ASSERT", "ASSERT_NOT") else []
