"""What the pieces of one block share while it is made: its language, where it will stand, how much to show.

The English text is the key of its translation. What was said in a conversation is never translated,
and a text that has no translation is shown in English.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from rireki.model.parts import Attachment
from rireki.show.catalogue.readings import reading_in_japanese
from rireki.show.html.markup import EMPTY, Markup, tag
from rireki.show.spent import Spent

__all__ = [
    "JAPANESE",
    "LINES",
    "LOCALES",
    "SIZE",
    "Cut",
    "Page",
    "RenderOptions",
    "cut",
    "read_table",
    "say",
]

#: How much of one output is shown before it is cut.
LINES, SIZE = 200, 64_000


def read_table(file: Path) -> dict[str, str]:
    """The translations in a file, which has them by the place where they are said."""
    places = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str]])
    return {text: told for table in places.values() for text, told in table.items()}


JAPANESE = read_table(Path(__file__).with_name("ja.json"))
_TABLES = {"ja": JAPANESE}
LOCALES = ("en", *_TABLES)


def say(locale: str, text: str, **values: object) -> str:
    """The text in that language, with its values in place."""
    told = _TABLES.get(locale, {}).get(text, text)
    # Without values nothing is formatted: a label out of a transcript may hold braces.
    return told.format(**values) if values else told


class RenderOptions(NamedTuple):
    """Without any address nothing is linked but what stands in the same document."""

    #: The language of the interface: "en" or "ja". What was said stays as it was said.
    locale: str = "en"
    #: The address of another conversation, by its id.
    conversation_url: Callable[[str], str] | None = None
    #: The address of a message of this one.
    message_url: Callable[[str], str] | None = None
    #: Where the records of a message are shown as they are.
    raw_url: Callable[[str], str] | None = None
    #: Where a picture or file lies; None for one that is told by its name only.
    attachment_url: Callable[[Attachment], str | None] | None = None
    #: The bytes of a picture, to be put into the document itself where there is no address.
    attachment_bytes: Callable[[Attachment], bytes | None] | None = None
    #: What each turn took; where nobody says so, what its messages carry.
    spent: Mapping[int, Spent] | None = None
    #: Nothing is cut, however long.
    full: bool = False
    #: Buttons that copy a block; they need a script beside them.
    copy: bool = True


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
