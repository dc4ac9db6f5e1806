"""Regular expressions that come to an end, whatever the text.

Python's own cannot be stopped once they run, and nothing else runs meanwhile. The
library used here stops at a given time; what it understands beyond Python's syntax is
taken out of a pattern first, so that every pattern means what the index took it for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any, TypeAlias

from rireki.search.language.query import Regex

__all__ = ["Bounded", "TooSlow"]

Span: TypeAlias = tuple[int, int]

#: Seconds a pattern may take in any case, and characters it must get through in each further one.
PATIENCE, PACE = 2.0, 1_000_000
_PIECE = re.compile(
    r"""(?P<kept>\\N\{[^}]*\}|\\.|\(\?\#[^)]*\)|\{(?:\d+(?:,\d*)?|,\d*)\})
      |(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
      |(?P<brace>\{)""",
    re.DOTALL | re.VERBOSE,
)
#: With a dot, and without one.
_DOTS = {0x130: "i", 0x131: "i"}
_INSIDE = re.compile(r"\\.|\[", re.DOTALL)


class TooSlow(Exception):
    """A pattern that tries too many ways to match a text; its only argument is the pattern."""


class Bounded:
    """A pattern of a query, with the time it has left."""

    def __init__(self, leaf: Regex) -> None:
        # Imported late: few queries have one.
        import regex

        self.source = leaf.pattern
        flags = regex.VERSION0 | regex.MULTILINE | (regex.IGNORECASE if leaf.ignore_case else 0)
        self.ignores_case = leaf.ignore_case
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.pattern: Any = regex.compile(
                    self._evened(_in_pythons_words(leaf.pattern)), flags
                )
            except regex.error as error:
                raise ValueError(str(error)) from error
        self.left = PATIENCE

    def _evened(self, text: str) -> str:
        """Python takes Turkish letters for `i` where case does not matter, the library does not."""
        return text.translate(_DOTS) if self.ignores_case and not text.isascii() else text

    def spans(self, text: str) -> Iterator[Span]:
        """Where it matches something. Raises TooSlow."""
        text = self._evened(text)
        self.left += len(text) / PACE
        started = perf_counter()
        try:
            # Others may go on meanwhile.
            for found in self.pattern.finditer(text, timeout=max(self.left, 0.01), concurrent=True):
                if found[0]:
                    yield found.span()
        except TimeoutError as error:
            raise TooSlow(self.source) from error
        finally:
            self.left -= perf_counter() - started


def _in_pythons_words(pattern: str) -> str:
    """The same without what only the library understands: `{e}` behind a letter, `[:alpha:]`."""
    return _PIECE.sub(_plainly, pattern)


def _plainly(piece: re.Match[str]) -> str:
    if piece["set"]:
        return "[" + _INSIDE.sub(_unless_escaped, piece["set"][1:])
    return r"\{" if piece["brace"] else piece[0]


def _unless_escaped(found: re.Match[str]) -> str:
    return r"\[" if found[0] == "[" else found[0]
