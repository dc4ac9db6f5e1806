"""A text beside its folded form, so that what is found in one can be marked in the other."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias
from unicodedata import category, combining, normalize

from rireki.search.text.tokens import VARIANTS, fold, is_plain, spelled

__all__ = ["Folded", "melts"]

Span: TypeAlias = tuple[int, int]
_STRANGE = re.compile("[^\x00-\x7f]+")

#: Where characters may be that melt into the one before them: marks, half-width sound marks,
#: Korean vowels, and the letters of scripts that have such marks.
_MELTING = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0dff"
    "\u102e\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f\uff9e\uff9f"
    f"{VARIANTS}]"
)


class Folded:
    """`text` is the folded form; `place` and `span` lead back to the characters it came from."""

    __slots__ = ("_alike", "_lines", "_places", "_starts", "_written", "original", "text")

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = fold(original)
        self._alike: bool | None = None
        self._written: str | None = None
        #: Where lines of another length begin, in the folded text; None when both run alike.
        self._starts: list[int] | None = None
        self._lines: list[tuple[int, str]] = []
        self._places: dict[int, list[int]] = {}

    def place(self, at: int) -> int:
        """The original character behind a place in the folded text."""
        if self.runs_alike:
            return at
        if self._starts is None:
            self._take_lines()
        assert self._starts is not None
        line = bisect_right(self._starts, at) - 1
        begin, text = self._lines[line]
        if line not in self._places:
            self._places[line] = _places(text)
        return begin + self._places[line][at - self._starts[line]]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original characters behind a stretch of the folded text, whole characters only."""
        if self.runs_alike:
            return start, max(start, end)
        if end <= start:
            return self.place(start), self.place(start)
        inside = self.place(end - 1)
        # The stretch may end inside what one character was unfolded into.
        while end < len(self.text) and self.place(end) <= inside:
            end += 1
        return self.place(start), self.place(end)

    @property
    def written(self) -> str:
        """`text` with its capitals, letter by letter."""
        if self._written is None:
            self._written = spelled(self.original, self.text)
        return self._written

    @property
    def runs_alike(self) -> bool:
        """Whether each character was folded into one, in its place."""
        if self._alike is None:
            same = len(self.text) == len(self.original)
            self._alike = same and (is_plain(self.original) or not _MELTING.search(self.original))
        return self._alike

    def _take_lines(self) -> None:
        self._starts = []
        folded = original = 0
        for line in self.original.split("\n"):
            self._starts.append(folded)
            self._lines.append((original, line))
            folded += len(fold(line)) + 1
            original += len(line) + 1


def _places(line: str) -> list[int]:
    """For each character of the folded line, and its end, where it came from."""
    places: list[int] = []
    for start, end in _stretches(line):
        piece = line[start:end]
        if piece.isascii() or (len(fold(piece)) == len(piece) and not _MELTING.search(piece)):
            places.extend(range(start, end))
        else:
            places += _places_by_cluster(piece, start)
    return [*places, len(line)]


def _stretches(line: str) -> Iterator[Span]:
    """Plain and other characters in turn; a letter whose mark follows goes with the mark."""
    start = 0
    for strange in _STRANGE.finditer(line):
        first = strange.start()
        if first > start and melts(line[first]):
            first -= 1
        if first > start:
            yield start, first
        yield first, strange.end()
        start = strange.end()
    if start < len(line):
        yield start, len(line)


def _places_by_cluster(piece: str, offset: int) -> list[int]:
    starts = [at for at, character in enumerate(piece) if at == 0 or not melts(character)]
    places: list[int] = []
    for start, end in zip(starts, [*starts[1:], len(piece)], strict=True):
        places += [offset + start] * len(fold(piece[start:end]))
    return places


def melts(character: str) -> bool:
    """Whether a character becomes a part of the one before it."""
    if character.isascii():
        return False
    if category(character) in ("Mn", "Mc", "Me") or "\u1160" <= character <= "\u11ff":
        return True
    return character in "\uff9e\uff9f" or combining(normalize("NFKC", character)[0]) > 0
