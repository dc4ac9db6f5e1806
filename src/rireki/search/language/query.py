"""The query language as a tree: words, filters, and how they combine.

Pure values. `parse` reads what a person types; docs/search.md tells people the rules.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from rireki.errors import RirekiError

__all__ = [
    "And",
    "Exact",
    "FilterNode",
    "FilterName",
    "Leaf",
    "Node",
    "Not",
    "Or",
    "Phrase",
    "Query",
    "QueryError",
    "Regex",
    "Word",
    "all_of",
    "any_of",
    "none_of",
]

FilterName: TypeAlias = Literal[
    "source",
    "project",
    "author",
    "tool",
    "since",
    "before",
    "has",
    "is",
    "model",
    "id",
    "tag",
    "note",
    "machine",
]


class Word(msgspec.Struct, frozen=True, tag_field="kind", tag="word"):
    """A word as it was typed; with `prefix` the beginning of one."""

    text: str
    prefix: bool = False


class Phrase(msgspec.Struct, frozen=True, tag_field="kind", tag="phrase"):
    text: str


class Exact(msgspec.Struct, frozen=True, tag_field="kind", tag="exact"):
    text: str


class Regex(msgspec.Struct, frozen=True, tag_field="kind", tag="regex"):
    pattern: str
    ignore_case: bool = True

    def compiled(self) -> re.Pattern[str]:
        """The pattern, with `^` and `$` at every line, as people know it from grep."""
        with warnings.catch_warnings():
            # What Python may read differently one day is no news for a person who searches.
            warnings.simplefilter("ignore")
            return re.compile(
                self.pattern, re.MULTILINE | (re.IGNORECASE if self.ignore_case else 0)
            )


class FilterNode(msgspec.Struct, frozen=True, tag_field="kind", tag="filter"):
    """A condition on the message or its conversation; `value` is in our spelling."""

    name: FilterName
    value: str


class Not(msgspec.Struct, frozen=True, tag_field="kind", tag="not"):
    child: Node


class And(msgspec.Struct, frozen=True, tag_field="kind", tag="and"):
    children: tuple[Node, ...]


class Or(msgspec.Struct, frozen=True, tag_field="kind", tag="or"):
    children: tuple[Node, ...]


Leaf: TypeAlias = Word | Phrase | Exact | Regex
Node: TypeAlias = Leaf | FilterNode | Not | And | Or


class Query(msgspec.Struct, frozen=True):
    """A query and what it means; no `root` when it asks for nothing."""

    text: str
    root: Node | None = None

    def leaves(self) -> Iterator[Leaf]:
        """The text that is looked for, not the text that must be absent."""
        for node, wanted in _ends(self.root):
            if wanted and not isinstance(node, FilterNode):
                yield node

    def filters(self) -> Iterator[FilterNode]:
        """All filters, wherever they stand, negated ones too."""
        for node, _ in _ends(self.root):
            if isinstance(node, FilterNode):
                yield node

    @property
    def has_words(self) -> bool:
        """Whether text is asked about at all, be it wanted or not."""
        return any(not isinstance(node, FilterNode) for node, _ in _ends(self.root))


class QueryError(RirekiError):
    """What is wrong with a query; `position` (from 0) and `length` are in characters of it."""

    def __init__(self, code: str, position: int = 0, length: int = 0, **values: object) -> None:
        super().__init__(code, at=position + 1, **values)
        self.position = position
        self.length = length


def _ends(node: Node | None, wanted: bool = True) -> Iterator[tuple[Leaf | FilterNode, bool]]:
    if isinstance(node, Not):
        yield from _ends(node.child, not wanted)
    elif isinstance(node, And | Or):
        for child in node.children:
            yield from _ends(child, wanted)
    elif node is not None:
        yield node, wanted


def all_of(terms: list[Node]) -> Node | None:
    flat: list[Node] = []
    for term in terms:
        flat.extend(term.children if isinstance(term, And) else (term,))
    return And(tuple(flat)) if len(flat) > 1 else next(iter(flat), None)


def any_of(*terms: Node) -> Node:
    flat: list[Node] = []
    for term in terms:
        flat.extend(term.children if isinstance(term, Or) else (term,))
    return Or(tuple(flat))


def none_of(term: Node) -> Node:
    return term.child if isinstance(term, Not) else Not(term)
