"""What a reader sees as one character, though it is written as several: where a text may be cut."""

from __future__ import annotations

import re
from unicodedata import category

__all__ = ["beginning", "goes_on", "seam", "whole"]

#: Marks of all kinds, and what is not seen but works on its neighbours: joiners, tags of flags.
_MARKS = frozenset(["Mn", "Mc", "Me", "Cf"])
#: Two characters that belong together: what follows a joiner; skin tones, half-width sound marks,
#: Korean vowels and endings, two vowels of Thai and Lao; Korean beginnings with what follows
#: them; halves of a character.
_PAIR = re.compile(
    "\u200d.|.[\U0001f3fb-\U0001f3ff\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7ff\u0e33\u0eb3]"
    "|[\u1100-\u115f\ua960-\ua97f][\u1100-\u115f\ua960-\ua97f\uac00-\ud7a3]"
    "|[\ud800-\udbff][\udc00-\udfff]",
    re.DOTALL,
)
#: Two of them make a flag.
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
#: No character that means something is longer; marks heaped upon each other may be without end.
_LONGEST = 64
#: How far back a row of flags is counted.
_FAR = 1000


def goes_on(before: str, character: str) -> bool:
    """Whether a character belongs to the one at the end of what stands before it."""
    if character.isascii() or not before:
        return False
    if category(character) in _MARKS or _PAIR.match(before[-1] + character):
        return True
    return character in _FLAG_LETTERS and (len(before) - len(before.rstrip(_FLAG_LETTERS))) % 2 == 1


def seam(text: str, at: int) -> int:
    """The last place, not behind this one, where a cut parts no character."""
    if at >= len(text) or text[at].isascii():
        return at
    for place in range(at, max(0, at - _LONGEST), -1):
        if not goes_on(text[max(0, place - _FAR) : place], text[place]):
            return place
    return at if at > _LONGEST else 0


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch of a text with all of its first and of its last character."""
    while end < len(text) and seam(text, end) < end:
        end += 1
    return seam(text, start), end


def beginning(text: str, size: int) -> str:
    """So many characters of a text at most, the last one whole."""
    return text if len(text) <= size else text[: seam(text, size)]
