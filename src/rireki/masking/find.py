"""Where secrets stand in bytes, and what kind each is. Knows nothing of marks or messages.

One pass looks for all beginnings at once; only where one stands, the patterns that begin so are
tried. A second pass, with JSON's escapes taken out, is made only where some of them could hide a
secret: `\\/`, and `\\u002d` for a character that needed no escape.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from rireki.masking.named import COOKIES, NAMES, TOKENS, Value, cookies_at, token_at, value_at
from rireki.masking.pem import HEADS, private_key_at
from rireki.masking.shapes import SHAPES, Shape

try:
    import ahocorasick_rs
except ImportError:
    # There are machines it is not made for: the same search, slower.
    ahocorasick_rs = None  # type: ignore[assignment]

__all__ = ["FoundSecret", "Finder", "finder"]

Hits = Iterable[tuple[int, int, int]]
Rule = Callable[[bytes, int, int], Iterable[Value]]

#: Escapes of characters that a secret may have; not of a quote or a backslash.
_ESCAPES = (b"\\/", *[f"\\u00{high}".encode() for high in range(2, 8)])
_ESCAPE = re.compile(rb"\\+(?:(/)|u00([2-7][0-9a-fA-F])(?<!22)(?<!5[cC]))")


_CONTEXTS: tuple[tuple[tuple[bytes, ...], Rule], ...] = (
    (HEADS, private_key_at),
    (COOKIES, cookies_at),
    (NAMES, value_at),
    (TOKENS, token_at),
)


#: How far around an escape a secret may reach that it hides.
NEAR = 2048


class FoundSecret(NamedTuple):
    start: int
    end: int
    kind: str
    #: What is masked, without the escapes it was spelled with.
    secret: bytes


class Finder:
    """Finds what has the form of a secret, and the given values."""

    def __init__(self, values: dict[bytes, str]) -> None:
        rules: dict[bytes, list[Rule]] = {escape: [] for escape in _ESCAPES}
        for shape in SHAPES:
            for begin in shape.begins:
                rules.setdefault(begin, []).append(_shaped(shape))
        for begins, rule in _CONTEXTS:
            for begin in begins:
                rules.setdefault(begin, []).append(rule)
        for value, kind in values.items():
            rules.setdefault(value, []).append(_known(kind))
        # A beginning of another one stands for both.
        self._rules = [rules[begin] for begin in rules]
        self._escapes = len(_ESCAPES)
        self._hits = _searcher(list(rules))

    def find(self, data: bytes) -> list[FoundSecret]:
        """The secrets in it, in order, none inside another."""
        hits = self._hits(data)
        if not hits:
            return []
        found, escapes = self._found(data, hits)
        findings = [FoundSecret(*value, data[value.start : value.end]) for value in found]
        if escapes:
            findings += self._found_near(escapes, data)
        return _merged(findings) if findings else findings

    def _found(self, data: bytes, hits: Hits) -> tuple[list[Value], list[int]]:
        """What was found, and where escapes are that could hide more."""
        found: list[Value] = []
        escapes: list[int] = []
        for number, start, end in hits:
            if number < self._escapes:
                escapes.append(start)
            for rule in self._rules[number]:
                found += rule(data, start, end)
        return found, escapes

    def _found_near(self, escapes: list[int], data: bytes) -> Iterator[FoundSecret]:
        for first, last in _stretches(escapes, len(data)):
            view = _View(data, first, last)
            found, _ = self._found(view.data, self._hits(view.data))
            for start, end, kind in found:
                yield FoundSecret(view.place(start), view.place(end), kind, view.data[start:end])


def _stretches(places: list[int], size: int) -> Iterator[tuple[int, int]]:
    """What is near the places, each of it once."""
    first = last = 0
    for place in places:
        if place - NEAR > last:
            if last:
                yield first, last
            first = max(0, place - NEAR)
        last = min(size, place + NEAR)
    yield first, last


@lru_cache(maxsize=4)
def finder(values: tuple[tuple[bytes, str], ...] = ()) -> Finder:
    """Made once for the same values: it takes a few milliseconds."""
    return Finder(dict(values))


def _searcher(begins: list[bytes]) -> Callable[[bytes], list[tuple[int, int, int]]]:
    """Says which of the beginnings stand where: (its number, start, end)."""
    if ahocorasick_rs is not None:
        automaton = ahocorasick_rs.BytesAhoCorasick(
            begins, implementation=ahocorasick_rs.Implementation.DFA
        )
        return partial(automaton.find_matches_as_indexes, overlapping=True)
    numbers = {begin: number for number, begin in enumerate(begins)}
    pattern = re.compile(b"(?=(" + b"|".join(map(re.escape, begins)) + b"))")
    prefixes = {
        begin: [other for other in begins if begin.startswith(other) or other.startswith(begin)]
        for begin in begins
    }

    def search(data: bytes) -> list[tuple[int, int, int]]:
        return [
            (numbers[begin], match.start(), match.start() + len(begin))
            for match in pattern.finditer(data)
            for begin in prefixes[match[1]]
            if data.startswith(begin, match.start())
        ]

    return search


def _shaped(shape: Shape) -> Rule:
    match, check, back = shape.pattern.match, shape.check, shape.back
    group = "body" if "body" in shape.pattern.groupindex else "secret"

    def rule(data: bytes, start: int, end: int) -> Iterable[Value]:
        found = match(data, start - back) if start >= back else None
        if found and check(found[group]):
            return (Value(*found.span("secret"), shape.kind),)
        return ()

    return rule


def _known(kind: str) -> Rule:
    return lambda data, start, end: (Value(start, end, kind),)


#: Kinds that are known by what stands around them: of the same value its form says more.
_BY_PLACE = ("password", "secret", "token", "key", "credential", "dsn", "cookie", "url-password")


def _merged(findings: list[FoundSecret]) -> list[FoundSecret]:
    """Where some overlap, all of it is masked, named after the longest; of equals after the first."""
    merged: list[FoundSecret] = []
    for finding in sorted(findings, key=lambda one: (one.start, one.kind in _BY_PLACE)):
        if not merged or finding.start >= merged[-1].end:
            merged.append(finding)
            continue
        last = merged[-1]
        longest = max(last, finding, key=lambda one: one.end - one.start)
        end = max(last.end, finding.end)
        merged[-1] = longest._replace(start=last.start, end=end)
    return merged


class _View:
    """A stretch of data with its escapes taken out, which remembers where everything stood."""

    def __init__(self, data: bytes, first: int, last: int) -> None:
        pieces: list[bytes] = []
        #: From which place of the view on which place of the data is meant.
        self._seen, self._meant = [0], [first]
        size, end = 0, first
        for escape in _ESCAPE.finditer(data, first, last):
            character = escape[1] or bytes([int(escape[2], 16)])
            pieces += [data[end : escape.start()], character]
            size += escape.start() - end
            end = escape.end()
            self._seen += [size, size + 1]
            self._meant += [escape.start(), end]
            size += 1
        self.data = b"".join([*pieces, data[end:last]])

    def place(self, at: int) -> int:
        segment = bisect_right(self._seen, at) - 1
        return self._meant[segment] + at - self._seen[segment]
