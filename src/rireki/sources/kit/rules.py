"""Texts in a person's place that no person typed: told by how they begin and end, by a table per source.

A rule has the name that `explain` shows; `reasons` of the reader may put it in words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rireki.model.message import Author, Display

__all__ = ["TextRule", "rule_of", "tagged", "unwrapped"]


class TextRule(NamedTuple):
    """Whose a text is that begins with `opens` and ends with `closes`, and how it is shown."""

    name: str
    label: str
    opens: str
    closes: str = ""
    #: The text is `opens` and nothing else.
    exact: bool = False
    #: A person chose the text by a key, as with a denial: that is still their turn.
    author: Author = "harness"
    display: Display = "chip"

    def hits(self, text: str) -> bool:
        """Where both ends are told, neither white space around them counts nor capitals."""
        if self.exact:
            return text.strip() == self.opens
        if not self.closes:
            return text.startswith(self.opens)
        bare = text.strip().lower()
        return bare.startswith(self.opens.lower()) and bare.endswith(self.closes.lower())


def tagged(name: str, label: str, tag: str, display: Display = "chip") -> TextRule:
    """The rule of a text that stands in `<tag>…</tag>`, whatever attributes the tag has."""
    return TextRule(name, label, f"<{tag}", f"</{tag}>", display=display)


def rule_of(text: str, rules: Sequence[TextRule]) -> TextRule | None:
    """The first rule that hits; None for what a person typed."""
    return next((rule for rule in rules if rule.hits(text)), None)


def unwrapped(text: str, *tags: str) -> str:
    """What a person typed inside `<tag …>` and `</tag>`, where the whole text stands in them."""
    for tag in tags:
        found = re.fullmatch(
            rf"\s*<{re.escape(tag)}\b[^>]*>\n?(.*?)\n?</{re.escape(tag)}>\s*", text, re.DOTALL
        )
        if found:
            return found[1]
    return text
