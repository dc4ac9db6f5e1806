"""Whether a message answers a query, and where: the exact meaning of every form.

The index only proposes; what stands here decides. It knows texts and facts, not
where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from string import ascii_letters, digits
from typing import Any, Protocol, TypeAlias

import msgspec

from rireki.model.conversation import Curation
from rireki.search.language.patterns import Bounded
from rireki.search.language.query import (
    And,
    Exact,
    FilterNode,
    Node,
    Not,
    Or,
    Phrase,
    Query,
    Regex,
    Word,
)
from rireki.search.results import Where
from rireki.search.text.normalized import Folded
from rireki.search.text.tokens import (
    fold,
    is_joined,
    is_letter,
    is_named,
    piece_spans,
    pieces,
    runs,
    spelled,
)

__all__ = [
    "Doc",
    "ConversationFacts",
    "Finder",
    "Matcher",
    "Span",
    "fact_test",
    "finder_of",
    "merged",
    "talk_test",
]

Span: TypeAlias = tuple[int, int]
#: Finds one leaf of the query in a text, as [start, end) of the text as it was written.
Finder: TypeAlias = Callable[[Folded], Iterator[Span]]

#: More occurrences of a word than this in one text make a message hardly better.
MOST_COUNTED = 100
_DIGITS = re.compile("[0-9]*")
_SPACE = re.compile(r"\s")
#: Letters beyond ASCII are all the same there.
_IDENTIFIER = re.compile("[A-Za-z0-9\x03]+")
_IN_IDENTIFIERS = frozenset(ascii_letters + digits + "\x03")


class ConversationFacts(Protocol):
    """What a query may ask about a conversation as a whole."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def project(self) -> str | None: ...
    @property
    def nature(self) -> str: ...
    @property
    def finished(self) -> bool: ...
    @property
    def added(self) -> Curation: ...
    @property
    def notes(self) -> Sequence[tuple[str, str, str]]: ...
    @property
    def machines(self) -> Sequence[str]: ...


class Doc(msgspec.Struct):
    """A message as a query sees it: its texts, each with what it is, and facts such as `tool:bash`."""

    #: None for the conversation's own title and project.
    message: str | None
    at: str | None
    facts: list[str]
    parts: list[tuple[Where, str]]


class Matcher:
    """A query made ready to be held against many messages."""

    def __init__(self, query: Query) -> None:
        self.root = query.root
        self.finders = [finder_of(leaf) for leaf in query.leaves()]
        self._ready: dict[int, Any] = {}

    def matches(self, talk: ConversationFacts, doc: Doc) -> bool:
        if self.root is None:
            return True
        texts = [Folded(text) for _, text in doc.parts]
        return self._holds(self.root, talk, doc, texts)

    def finding(self, text: str) -> list[Iterator[Span]]:
        """For each wanted word, where it stands, found as it is asked for."""
        folded = Folded(text)
        return [finder(folded) for finder in self.finders]

    def spans(self, text: str, limit: int) -> list[Span]:
        """Where the wanted words stand, in order, merged where they overlap. At most `limit`
        places each."""
        found = (islice(finding, limit) for finding in self.finding(text))
        return merged(sorted(chain.from_iterable(found)))

    def score(self, doc: Doc, weights: Sequence[float], usual: float) -> float:
        """How well a message answers, on the scale the index uses (BM25); a weight per wanted leaf.

        `usual` is how many characters messages have on average.
        """
        texts = [Folded(text) for _, text in doc.parts]
        length = sum(len(text.original) for text in texts) / usual
        total = 0.0
        for finder, weight in zip(self.finders, weights, strict=True):
            count = sum(1 for text in texts for _ in islice(finder(text), MOST_COUNTED))
            total += weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))
        return total

    def _holds(
        self, node: Node, talk: ConversationFacts, doc: Doc, texts: Sequence[Folded]
    ) -> bool:
        if isinstance(node, And):
            return all(self._holds(child, talk, doc, texts) for child in node.children)
        if isinstance(node, Or):
            return any(self._holds(child, talk, doc, texts) for child in node.children)
        if isinstance(node, Not):
            return not self._holds(node.child, talk, doc, texts)
        if isinstance(node, FilterNode):
            return self._passes(node, talk, doc)
        finder = self._made(node, finder_of)
        return any(next(finder(text), None) is not None for text in texts)

    def _passes(self, node: FilterNode, talk: ConversationFacts, doc: Doc) -> bool:
        if node.name in ("since", "before"):
            return doc.at is not None and (doc.at >= node.value) == (node.name == "since")
        about_conversation = self._made(node, talk_test)
        if about_conversation is not None:
            return bool(about_conversation(talk))
        return any(map(self._made(node, fact_test), map(fold, doc.facts)))

    def _made(self, node: Any, make: Callable[[Any], Any]) -> Any:
        key = hash((id(node), make))
        if key not in self._ready:
            self._ready[key] = make(node)
        return self._ready[key]


# ── filters ──


def talk_test(node: FilterNode) -> Callable[[ConversationFacts], bool] | None:
    """The test of a filter about whole conversations; None when it is about messages."""
    value = node.value
    if node.name == "source":
        return lambda talk: talk.source == value
    if node.name == "id":
        return lambda talk: _is_called(talk.id, value)
    if node.name == "project":
        return _project_test(value)
    if node.name == "machine":
        machine = fold(value)
        return lambda talk: any(fold(name) == machine for name in talk.machines)
    if (node.name, value) == ("is", "unfinished"):
        return lambda talk: not talk.finished
    if (node.name, value) == ("is", "subagent"):
        return lambda talk: talk.nature == "subagent"
    return _added_test(node)


def _is_called(id: str, beginning: str) -> bool:
    if "\n" in id:
        # Among those of several archives, where lines before and behind say whose it is.
        id = id.split("\n")[1]
    return id.startswith(beginning) or id.partition("/")[2].startswith(beginning)


def _added_test(node: FilterNode) -> Callable[[ConversationFacts], bool] | None:
    """The test of a filter about what a person added; None for other filters."""
    tests: dict[tuple[str, str], Callable[[ConversationFacts], bool]] = {
        ("is", "starred"): lambda talk: talk.added.starred,
        ("is", "hidden"): lambda talk: talk.added.hidden,
        ("has", "tag"): lambda talk: bool(talk.added.tags),
        ("has", "note"): lambda talk: talk.added.notes > 0,
    }
    wanted = fold(node.value)
    if node.name == "tag" and wanted.endswith("*"):
        return lambda talk: any(fold(tag).startswith(wanted[:-1]) for tag in talk.added.tags)
    if node.name == "tag":
        return lambda talk: any(fold(tag) == wanted for tag in talk.added.tags)
    if node.name == "note":
        return lambda talk: any(wanted in fold(text) for _, text, _ in talk.notes)
    return tests.get((node.name, node.value))


def _project_test(value: str) -> Callable[[ConversationFacts], bool]:
    """A whole path means it and what lies below; anything else a part of the path's names."""
    wanted = fold(value)
    if value.startswith("/") or re.match(r"[A-Za-z]:[\\/]", value):
        whole = wanted.rstrip("/\\")
        below = (whole + "/", whole + "\\")

        def lies_in(talk: ConversationFacts) -> bool:
            path = _folded_path(talk.project or "")
            return path == whole or path.startswith(below)

        return lies_in
    return lambda talk: wanted in _folded_path(talk.project or "")


@lru_cache(maxsize=1000)
def _folded_path(path: str) -> str:
    """Thousands of conversations took place in a few projects."""
    return fold(path)


def fact_test(node: FilterNode) -> Callable[[str], bool]:
    """The test of a filter against one fact of a message, folded."""
    # A space would end a fact where the index is concerned.
    value = _SPACE.sub("_", fold(node.value))
    start = f"{node.name}:"
    if node.name == "model":
        return lambda fact: fact.startswith(start) and value in fact.removeprefix(start)
    if node.name == "tool" and value.endswith("*"):
        return lambda fact: fact.startswith(start + value[:-1])
    if node.name == "tool":
        # Tools of MCP servers are called mcp__SERVER__NAME.
        return lambda fact: (
            fact.startswith(start) and (fact == start + value or fact.endswith(f"__{value}"))
        )
    return lambda fact: fact == start + value


# ── words ──


def finder_of(leaf: Node) -> Finder:
    """How to find one word, phrase, substring or pattern in a text."""
    if isinstance(leaf, Exact):
        return _exact_finder(leaf.text)
    if isinstance(leaf, Regex):
        return _pattern_finder(leaf)
    if isinstance(leaf, Phrase):
        return _written_finder(fold(leaf.text))
    assert isinstance(leaf, Word)
    folded = fold(leaf.text)
    found = runs(folded)
    if found != [folded] or is_joined(folded):
        return _written_finder(folded, leaf.prefix)
    return _identifier_finder(folded, spelled(leaf.text, folded), prefix=leaf.prefix)


def _written_finder(folded: str, prefix: bool = False) -> Finder:
    """The letters as they stand, white space alike, not in the middle of a word."""
    if not folded.strip():
        # What only says how another character is drawn stands nowhere by itself.
        return lambda text: iter(())
    pattern = re.compile(r"\s+".join(re.escape(piece) for piece in folded.split()))
    places = _places_of(pattern, " ".join(folded.split()))

    def find(text: Folded) -> Iterator[Span]:
        behind = 0
        for start, end in places(text.text):
            whole = _begins(text.text, start) and (prefix or _ends(text.text, end))
            if end > start >= behind and whole:
                yield text.span(start, end)
                behind = end

    return find


def _places_of(pattern: re.Pattern[str], wanted: str) -> Callable[[str], Iterator[Span]]:
    """Finds all places of what is wanted, also those that begin in another one: `0.0` in `10.0.0`."""

    def all_places(text: str) -> Iterator[Span]:
        found = pattern.search(text)
        while found:
            yield found.span()
            found = pattern.search(text, found.start() + 1)

    if any(wanted.endswith(wanted[:size]) for size in range(1, len(wanted))):
        return all_places
    return lambda text: (found.span() for found in pattern.finditer(text))


def _begins(text: str, at: int) -> bool:
    """Whether no word goes on here from before."""
    return at == 0 or not (is_letter(text[at]) and is_letter(text[at - 1]))


def _ends(text: str, at: int) -> bool:
    return at == len(text) or not (is_letter(text[at - 1]) and is_letter(text[at]))


def _identifier_finder(word: str, typed: str, *, prefix: bool = False) -> Finder:
    """A word as a whole, with a number behind it, or as a piece of an identifier.

    It may be made of pieces itself, which `typed`, with its capitals, tells.
    """
    places = _places_of(re.compile(re.escape(word)), word)
    numbered = is_named(word)
    seams = frozenset(start for start, _ in piece_spans(typed)) if pieces(typed) else None

    def is_numbered(text: str, end: int) -> bool:
        return numbered and _ends(text, _DIGITS.match(text, end).end())  # type: ignore[union-attr]

    def find(text: Folded) -> Iterator[Span]:
        folded = text.text
        if word not in folded:
            return
        written = text.written
        identifiers = _Pieces(written)
        is_one = str.isalnum if folded.isascii() else is_letter
        size, behind = len(folded), 0
        for start, end in places(folded):
            inside = start > 0 and is_one(folded[start - 1])
            if inside and not _may_begin(written, start):
                # In the middle of a word, and no piece begins there: by far the most frequent.
                continue
            goes_on = not prefix and end < size and is_one(folded[end])
            whole = not inside and (not goes_on or is_numbered(folded, end))
            if start >= behind and (whole or identifiers.has(start, end, prefix, seams)):
                yield text.span(start, end)
                behind = end

    return find


def _may_begin(text: str, at: int) -> bool:
    """Whether a piece of an identifier may begin there: `camelCase`, `h264encode`."""
    return text[at].isupper() or text[at - 1].isdigit()


class _Pieces:
    """The identifiers of a text, such as `camelCase`, each taken apart once when it is met."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = self.end = 0
        #: Where pieces of the identifier met last begin, with their ends.
        self.ends: dict[int, int] = {}
        self.stops: frozenset[int] = frozenset()

    def meet(self, at: int) -> None:
        """The identifier around a place; places come in order."""
        if at < self.end:
            return
        self.start, before = at, self.end
        while self.start > before and self.text[self.start - 1] in _IN_IDENTIFIERS:
            self.start -= 1
        found = _IDENTIFIER.match(self.text, self.start)
        self.end = found.end() if found else at
        spans = piece_spans(self.text[self.start : self.end])
        self.ends = {self.start + first: self.start + last for first, last in spans}
        self.stops = frozenset(self.ends.values())

    def has(self, first: int, last: int, prefix: bool, seams: frozenset[int] | None) -> bool:
        """Whether a piece stands just there, or those that begin at `seams`, counted from `first`."""
        self.meet(first)
        if not self.ends or last > self.end:
            return False
        end = self.ends.get(first, -1)
        if seams is not None and not self._parts(first, last, prefix, seams):
            return False
        if prefix:
            # Only what is written in pieces itself goes over the end of one.
            return end > first + 1 and (seams is not None or last <= end)
        # A number behind the last piece may be left out, as behind any word.
        ends = {last, _DIGITS.match(self.text, last).end()}  # type: ignore[union-attr]
        if seams is not None:
            begins = first == self.start or first in self.ends
            return begins and not ends.isdisjoint(self.stops)
        named = last == end or is_named(self.text[first:last])
        return last - first > 1 and named and end in ends

    def _parts(self, first: int, last: int, prefix: bool, seams: frozenset[int]) -> bool:
        """Whether what stands there is made of just these pieces."""
        found = {start - first for start in self.ends if first <= start < last}
        if prefix:
            # What `isAC` ends with may begin another piece: `isACat`.
            found.discard(last - first - 1)
            seams = seams - {last - first - 1}
        return found == seams


def _exact_finder(wanted: str) -> Finder:
    """The letters as they were really written."""
    pattern = re.compile(re.escape(wanted))
    return lambda text: (found.span() for found in pattern.finditer(text.original))


def _pattern_finder(leaf: Regex) -> Finder:
    bounded = Bounded(leaf)
    return lambda text: bounded.spans(text.original)


def merged(spans: list[Span]) -> list[Span]:
    """Stretches in order, those that overlap or touch made one."""
    apart: list[Span] = []
    for start, end in spans:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart
