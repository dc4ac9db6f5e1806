"""What the pieces of one block share while it is made: language, names of blocks, how much to show."""

from __future__ import annotations

from typing import NamedTuple

from rireki.show.catalogue.readings import reading_in_japanese
from rireki.show.html.markup import EMPTY, Markup, tag
from rireki.show.html.options import RenderOptions
from rireki.show.html.words import say

__all__ = ["LINES", "SIZE", "Cut", "Page", "cut"]

#: How much of one output is shown before it is cut.
LINES, SIZE = 200, 64_000


class Cut(NamedTuple):
    text: str
    #: What was left out: whole lines, or the rest of a line that is too long.
    lines: int = 0
    characters: int = 0


def cut(text: str, lines: int = LINES, size: int = SIZE) -> Cut:
    """The first lines of a text, within a size."""
    end, room = -1, lines
    while room and (found := text.find("\n", end + 1, size)) >= 0:
        end, room = found, room - 1
    if room and len(text) <= size:
        return Cut(text)
    if room and end < size // 2:
        # A line so long that whole lines alone would show little: a piece of it too.
        return Cut(text[:size], characters=len(text) - size)
    left = text.count("\n", end + 1) + (not text.endswith("\n"))
    return Cut(text[:end], lines=left) if left else Cut(text)


class Page:
    """One block of the page: knows its message and gives names to what stands inside it."""

    def __init__(self, look: RenderOptions, anchor: str, message: str, level: int = 2) -> None:
        self.look = look
        self.anchor = anchor
        self.message = message
        #: Of the block's own heading; headings inside it stand below.
        self.level = level
        self._blocks = 0

    def say(self, text: str, **values: object) -> str:
        return say(self.look.locale, text, **values)

    def say_reading(self, words: str) -> str:
        """What a reader said, which may have gaps."""
        return reading_in_japanese(words) if self.look.locale == "ja" else words

    def count(self, number: int, one: str, many: str) -> str:
        return self.say(one) if number == 1 else self.say(many, n=f"{number:,}")

    def block(self) -> str:
        """A name for the next block inside this one; no message has one like it."""
        self._blocks += 1
        return f"c{self._blocks}-{self.anchor}"

    def copy(self, block: str) -> Markup:
        """The button that copies a block, where a script can make it work."""
        if not self.look.copy:
            return EMPTY
        return tag("button", self.say("Copy"), type="button", class_="copy", data_copy=block)

    def cut(self, text: str, lines: int = LINES) -> Cut:
        return Cut(text) if self.look.full else cut(text, lines)

    def more(self, left: Cut) -> Markup:
        """What a cut left out, and where all of it is."""
        if left.lines:
            words = self.count(left.lines, "1 more line", "{n} more lines")
        elif left.characters:
            words = self.say("{n} more characters", n=f"{left.characters:,}")
        else:
            return EMPTY
        return tag("p", f"… {words} ", self.raw(), class_="more")

    def raw(self) -> Markup:
        if self.look.raw_url is None:
            return EMPTY
        return tag("a", self.say("raw"), href=self.look.raw_url(self.message), class_="raw")
