"""Sentences with gaps, recognised when they are finished."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

__all__ = ["Sentences"]

_GAP = re.compile(r"\{(\w+)\}")


class Sentences:
    """One language: its sentences by the English ones. `fill` puts what stood in a gap into it."""

    def __init__(self, table: Mapping[str, str], fill: Callable[[str, str], str]) -> None:
        self._exact = {key: said for key, said in table.items() if not _GAP.search(key)}
        gapped = [(_ends(key), key, said) for key, said in table.items() if _GAP.search(key)]
        # The one that says most comes first: "{n} files" fits "nothing new in 3 files" as well.
        self._gapped = sorted(gapped, key=lambda each: len(_GAP.sub("", each[1])), reverse=True)
        self._fill = fill

    def find(self, sentence: str) -> str | None:
        if (said := self._exact.get(sentence)) is not None:
            # A brace that is no gap is written twice.
            return said.format()
        for (first, last), key, said in self._gapped:
            # Compiling takes a hundred times as long as looking at both ends.
            if not (sentence.startswith(first) and sentence.endswith(last)):
                continue
            if found := _pattern(key).fullmatch(sentence):
                return said.format(
                    **{name: self._fill(name, text) for name, text in found.groupdict().items()}
                )
        return None


def _ends(key: str) -> tuple[str, str]:
    pieces = _GAP.split(key)
    return pieces[0], pieces[-1]


def _gap(name: str) -> str:
    """`n` is a number: "{n} files" is not the end of a longer sentence about files."""
    return r"\S+?" if name == "n" else ".*?"


@lru_cache(maxsize=1024)
def _pattern(sentence: str) -> re.Pattern[str]:
    pieces = _GAP.split(sentence)
    spelled = [
        (f"(?P={piece})" if piece in pieces[1:place:2] else f"(?P<{piece}>{_gap(piece)})")
        if place % 2
        else re.escape(piece)
        for place, piece in enumerate(pieces)
    ]
    return re.compile("".join(spelled), re.DOTALL)
