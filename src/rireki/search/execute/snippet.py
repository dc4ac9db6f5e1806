"""A line of text around what was found, with the places to mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice, takewhile
from typing import NamedTuple

from rireki.model.clusters import seam, whole
from rireki.search.language.match import Matcher, Span, merged
from rireki.search.results import Snippet, Where
from rireki.search.text.tokens import is_letter

__all__ = ["beginning", "best_snippet", "marks_in"]

#: Characters of a snippet; wide ones count twice on a screen, but a reader reads them as one.
WIDTH = 180
#: How much of a snippet may stand before the first mark, and what is always left for that.
LEAD, SHORTEST_LEAD = 50, 20
#: How far away a better place for a cut may be.
NEAR = 25
#: Places of a word that are looked at; and at most, where it is not seen beside the others so far.
ENOUGH, PLENTY = 6, 500
#: Columns that a line is said to be indented by at most.
DEEPEST = 24
#: White space, and the word behind it.
_WORDS = re.compile(r"(\s*)(\S+)")
#: Within joined script, these make words that can be told from their neighbours.
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc\uff66-\uff9f]{2}")


class _Window(NamedTuple):
    """From the first to the last mark of a snippet."""

    start: int
    end: int
    #: How many of the wanted words stand there.
    words: int


class _Sight:
    """The wanted words in one text, looked for no further than needed."""

    def __init__(self, text: str, matcher: Matcher) -> None:
        self.text = text
        self._finding = matcher.finding(text)
        self._places = [list(islice(finding, ENOUGH)) for finding in self._finding]
        self.words = sum(map(bool, self._places))

    def window(self) -> _Window:
        """Where most of the words stand together."""
        found = _best_window(self._places)
        if found.words == self.words:
            return found
        for places, finding in zip(self._places, self._finding, strict=True):
            places += islice(finding, PLENTY)
        return _best_window(self._places)

    def snippet(self, window: _Window) -> Snippet:
        start, end, _ = window
        lead = max(0, min(LEAD, WIDTH - (end - start)))
        first = max(0, start - lead)
        last = min(len(self.text), first + WIDTH)
        marks = self._marks(first - NEAR, max(last, end) + NEAR)
        # A mark may have grown by what it overlaps.
        start = next(a for a, b in marks if a <= start < b)
        end = next(b for a, b in marks if a < end <= b)
        first = _first(self.text, min(first, start), start, marks)
        return _on_one_line(self.text, first, _last(self.text, last, end, marks), marks)

    def _marks(self, first: int, last: int) -> list[Span]:
        """All that is to be marked in a stretch of the text."""
        for places, finding in zip(self._places, self._finding, strict=True):
            if places and places[-1][0] < last:
                places += takewhile(lambda span: span[0] < last, islice(finding, PLENTY))
        near = [(a, b) for a, b in chain(*self._places) if a < last and b > first]
        return _whole(self.text, near)


def best_snippet(
    parts: Sequence[tuple[Where, str]], matcher: Matcher
) -> tuple[Where, Snippet] | None:
    """The place in the texts of a message that says most about why it was found."""
    best: tuple[Where, _Sight, _Window] | None = None
    for where, text in parts:
        sight = _Sight(text, matcher)
        most = best[2].words if best else 0
        if sight.words > most and (window := sight.window()).words > most:
            best = where, sight, window
    return (best[0], best[1].snippet(best[2])) if best else None


def beginning(text: str) -> Snippet:
    """How a text begins, where nothing in it was asked for."""
    first = len(text) - len(text.lstrip())
    last = min(len(text), first + WIDTH)
    return _on_one_line(text, first, _last(text, last, first, ()), ())


def marks_in(text: str, matcher: Matcher) -> list[Span]:
    """Where the wanted words stand in a short text."""
    return _whole(text, matcher.spans(text, ENOUGH))


def _whole(text: str, spans: Iterable[Span]) -> list[Span]:
    """The same, in order, apart from each other, and no character marked by half."""
    return merged(sorted(whole(text, *span) for span in spans))


# ── which stretch to show ──


def _best_window(places: Sequence[Sequence[Span]]) -> _Window:
    """The stretch with most different words in it, then with most of them, then the first."""
    found = sorted((*span, word) for word, spans in enumerate(places) for span in spans)
    counts = [0] * len(places)
    best, most, behind = _Window(0, 0, 0), (0, 0), 0
    for at, (start, _, word) in enumerate(found):
        reach = start + WIDTH - SHORTEST_LEAD
        while behind < len(found) and (behind == at or found[behind][1] <= reach):
            counts[found[behind][2]] += 1
            behind += 1
        shown = (len(counts) - counts.count(0), behind - at)
        if shown > most:
            end = max(end for _, end, _ in found[at:behind])
            best, most = _Window(start, end, shown[0]), shown
        counts[word] -= 1
    return best


# ── where to cut ──


def _first(text: str, at: int, start: int, marks: Sequence[Span]) -> int:
    """Where a snippet should begin: about there, and not behind its first mark."""
    at = next((b for a, b in marks if a < at < b), at)
    onwards = range(at, min(start, at + NEAR) + 1)
    return _cut(text, (onwards, range(at - 1, max(0, at - NEAR) - 1, -1)), marks)


def _last(text: str, at: int, end: int, marks: Sequence[Span]) -> int:
    """Where a snippet should end: about there, and not before the end of its last mark."""
    if at < end:
        # There is no room for a mark as long as that.
        return _cut(text, (range(at, at - NEAR, -1),), ())
    for a, b in marks:
        if a < at < b:
            at = b if b <= at + NEAR else a
    back = range(at, max(end, at - NEAR) - 1, -1)
    return _cut(text, (back, range(at + 1, min(len(text), at + NEAR) + 1)), marks)


def _cut(text: str, places: Sequence[range], marks: Sequence[Span]) -> int:
    """The first place where white space is; if there is none, where no word is parted; if there is
    none, where at least no character is."""
    for is_good in (_is_gap, _is_edge):
        for place in chain.from_iterable(places):
            if (
                is_good(text, place)
                and not any(a < place < b for a, b in marks)
                and seam(text, place) == place
            ):
                return place
    return seam(text, places[0][0])


def _is_gap(text: str, at: int) -> bool:
    return at in (0, len(text)) or text[at].isspace() or text[at - 1].isspace()


def _is_edge(text: str, at: int) -> bool:
    in_word = is_letter(text[at - 1]) and is_letter(text[at])
    return not in_word and not _KATAKANA.match(text, at - 1)


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
    return Snippet(kept, clipped, before, after, _breaks(text[first:last], kept))


def _breaks(text: str, line: str) -> list[tuple[int, int]]:
    """Where a text, told on one line, had its lines."""
    found: list[tuple[int, int]] = []
    place = 0
    for gap, word in _WORDS.findall(text) if "\n" in text.strip() else ():
        place = line.find(word, place)
        if place < 0:
            break
        if "\n" in gap and place > 0:
            indent = gap.rpartition("\n")[2].expandtabs(4)
            found.append((place - 1, min(len(indent), DEEPEST)))
        place += len(word)
    return found


def _one_line(text: str) -> str:
    """Every stretch of white space as one space. Several times as fast as a pattern."""
    words = text.split()
    if not words:
        return " " if text else ""
    before, after = text[0].isspace(), text[-1].isspace()
    return " " * before + " ".join(words) + " " * after
