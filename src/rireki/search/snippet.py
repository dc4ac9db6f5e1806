"""A line of text around what was found, with the places to mark."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from rireki.search.match import Matcher, Span
from rireki.search.results import Snippet, Where

__all__ = ["beginning", "best_part", "snippet"]

#: Characters of a snippet; wide ones count twice on a screen, but a reader reads them as one.
WIDTH = 180
#: How much of a snippet may stand before the first mark.
LEAD = 50
#: Places that are looked at in one text.
ENOUGH = 6
_SPACE = re.compile(r"\s+")


def best_part(
    parts: Sequence[tuple[Where, str]], matcher: Matcher
) -> tuple[Where, str, list[Span]] | None:
    """The text of a message that says most about why it was found."""
    best: tuple[int, Where, str, list[Span]] | None = None
    for where, text in parts:
        spans, leaves = matcher.spans(text, ENOUGH)
        if spans and (best is None or leaves > best[0]):
            best = (leaves, where, text, spans)
    return best[1:] if best else None


def snippet(text: str, spans: Sequence[Span]) -> Snippet:
    """The stretch of a text with most marks in it, on one line."""
    start = _densest(spans)
    first, last = max(0, start - LEAD), min(len(text), start - LEAD + WIDTH)
    last = min(len(text), max(last, first + WIDTH))
    first = _word_start(text, first, start)
    return _on_one_line(text, first, last, spans)


def beginning(text: str) -> Snippet:
    """How a text begins, where nothing in it was asked for."""
    stripped = len(text) - len(text.lstrip())
    return _on_one_line(text, stripped, min(len(text), stripped + WIDTH), ())


def _densest(spans: Sequence[Span]) -> int:
    """Where a window should begin to show as many marks as can be."""
    reach = WIDTH - LEAD
    best, most = spans[0][0], 0
    for start, _ in spans:
        covered = bisect_right(spans, (start + reach, 0)) - bisect_left(spans, (start, 0))
        if covered > most:
            best, most = start, covered
    return best


def _word_start(text: str, first: int, mark: int) -> int:
    """Not in the middle of a word, if one ends soon."""
    if first == 0:
        return 0
    found = _SPACE.search(text, first, min(mark, first + LEAD // 2))
    return found.end() if found else first


def _on_one_line(text: str, first: int, last: int, spans: Sequence[Span]) -> Snippet:
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    length = 0
    at = first
    inside = [(max(a, first), min(b, last)) for a, b in spans if a < last and b > first]
    for start, end in [*inside, (last, last)]:
        between = _one_line(text[at:start])
        between = between.lstrip() if at == first else between
        found = _one_line(text[start:end])
        pieces += [between, found]
        length += len(between)
        if found:
            marks.append((length, length + len(found)))
        length += len(found)
        at = end
    line = "".join(pieces)
    kept = line.rstrip()
    before = first > 0 and not text[:first].isspace()
    after = last < len(text) and not text[last:].isspace()
    clipped = [(a, min(b, len(kept))) for a, b in marks if a < len(kept)]
    return Snippet(kept, clipped, before, after)


def _one_line(text: str) -> str:
    """Every stretch of white space as one space. Several times as fast as a pattern."""
    words = text.split()
    if not words:
        return " " if text else ""
    before, after = text[0].isspace(), text[-1].isspace()
    return " " * before + " ".join(words) + " " * after
