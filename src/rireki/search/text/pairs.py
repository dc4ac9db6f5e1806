"""Which words stand side by side, roughly: by this a phrase passes over most texts that lack it.

Of a word only the kinds of its first and of its last letter are kept, together one
letter of an alphabet of sixty. So "We can not say" becomes four letters, and the
index keeps which of them stand next to each other, with nothing between them but white
space, a dot or a line as in `self.first_name`. All pairs of a phrase are among those of a
text that holds it; other texts may have them too.

Whole texts are turned into such letters at once: looking at every word would take
several times as long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = [
    "BETWEEN",
    "JOINTS",
    "KINDS",
    "LONGEST",
    "SPACES",
    "Letters",
    "letters_of_pairs",
    "pairs_in",
    "pairs_of",
]

#: Separates texts that are looked at together; it must not stand in one.
BETWEEN = b"\x02"
#: What may stand between two words of a phrase.
SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
#: And between two words of a name; other signs part words so often that their pairs would take too much.
JOINTS = "._"
#: Kinds of words are less than this; the last number stands for no word.
KINDS = 64
#: Longer words make no pairs: hardly one of them is so frequent that those would be needed.
LONGEST = 8
_LONGER = re.compile(b"[A-Za-z0-9]{%d,}" % (LONGEST + 1))
#: Letters that begin words, and those that end them, in kinds that are about equally frequent.
_FIRST = ("t", "i", "hs", "ag", "cmv", "opu", "kqrw", "efj", "blz", "dnxy")
_LAST = ("e", "apsz", "cjotu", "ghnvw", "bfilxy", "dkmqr")
#: The letters that stand for digits.
_DIGITS = b"qzjxvkywug"
_WORD = b"abcdefghijklmnopqrstuvwxyz0123456789"
_SIGN = b"|"


def _table(of: dict[bytes, int], other: int) -> bytes:
    return bytes(of.get(bytes([code]), other) for code in range(256))


def _kinds(groups: Sequence[str], times: int) -> dict[bytes, int]:
    """The kinds of capital letters, by their numbers."""
    return {
        letter.encode(): number * times
        for number, group in enumerate(groups)
        for letter in group.upper()
    }


#: A text as letters, spaces and signs. A byte of a space beyond ASCII counts as one, whatever it is
#: part of: that makes too many pairs, never too few.
_PLAIN = _table(
    {bytes([code]): 32 for code in (SPACES + JOINTS).encode()}
    | {bytes([code]): code for code in _WORD + _WORD.upper() + BETWEEN}
    | {b"%d" % digit: letter for digit, letter in enumerate(_DIGITS)},
    _SIGN[0],
)
_WORDS = len(_FIRST) * len(_LAST)
_BY_FIRST = _table(_kinds(_FIRST, len(_LAST)) | {_SIGN: _WORDS, BETWEEN: _WORDS + 1}, 0)
_BY_LAST = _table(_kinds(_LAST, 1), 0)
#: What is neither the beginning of a word nor a sign.
_REST = b"abcdefghijklmnopqrstuvwxyz "
_ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx" + _SIGN + BETWEEN
_WRITTEN = _ALPHABET.ljust(256, _SIGN)
#: For masks: all bits of a letter, none of what is none.
_IS_LETTER = _table({bytes([code]): 255 for code in _ALPHABET[:_WORDS]}, 0)
_ENDS = _table({BETWEEN: BETWEEN[0]}, 32)
_NOTHING_IS_SPACE = b" " + bytes(range(1, 256))


class Letters(NamedTuple):
    """What is written for words, for the one who looks at every word after all."""

    #: The shares of a word's first and last letter in its kind, by their codes.
    first: bytes
    last: bytes
    #: What is written for a word of each kind, and for none.
    alphabet: bytes


def letters_of_pairs() -> Letters:
    # What stands for a digit is a small letter as well.
    capitals = [_PLAIN[code] & ~32 for code in range(128)]
    first = bytes(_BY_FIRST[capital] for capital in capitals)
    last = bytes(_BY_LAST[capital] for capital in capitals)
    return Letters(first, last, _ALPHABET[:_WORDS].ljust(KINDS, _SIGN))


def pairs_in(texts: Sequence[bytes]) -> list[bytes]:
    """The pairs of each text, as often as they stand there, with spaces between them.

    The texts are ASCII, or UTF-8 of which nothing else than spaces and signs lies beyond it.
    """
    letters = _letters_for(BETWEEN.join(texts)) + BETWEEN
    first, second = BETWEEN + letters[:-1], letters
    # Nothing where one of both is no letter: a mask for all of them at once.
    words = _number(first.translate(_IS_LETTER)) & _number(second.translate(_IS_LETTER))
    spaced = bytearray(3 * len(letters))
    spaced[0::3] = _bytes(_number(first) & words, len(letters))
    spaced[1::3] = _bytes(_number(second) & words, len(letters))
    spaced[2::3] = second.translate(_ENDS)
    return bytes(spaced.translate(_NOTHING_IS_SPACE)).split(BETWEEN)[:-1]


def _letters_for(text: bytes) -> bytes:
    """The letters for the words of a text, and signs between those that are no neighbours."""
    plain = _LONGER.sub(_SIGN, text).translate(_PLAIN)
    first = plain.title().translate(_BY_FIRST, _REST)
    last = plain[::-1].title().translate(_BY_LAST, _REST)
    # All additions at once: no sum is larger than a byte.
    return _bytes(_number(first) + _number(last[::-1]), len(first)).translate(_WRITTEN)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _bytes(number: int, size: int) -> bytes:
    return number.to_bytes(size, "little")


def pairs_of(folded: str, *, begun: bool = False, goes_on: bool = False) -> set[str]:
    """The pairs of every text in which these letters stand, between whole words.

    The first word may be one that has `begun` before, the last one that `goes_on`: these tell nothing.
    """
    letters = folded.encode("ascii", "replace").replace(BETWEEN, _SIGN)
    letters = letters.lstrip(_WORD) if begun else letters
    letters = letters.rstrip(_WORD) if goes_on else letters
    return set(pairs_in([letters])[0].decode("ascii").split())
