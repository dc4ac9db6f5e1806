"""Many texts cut at once: in C where tokenizer.c could be built, else as `tokens` does.

Both cut alike. Python tells the C side what every character is, as texts with new
ones come by, and cuts itself what that side leaves.
"""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from unicodedata import combining, normalize
from zlib import crc32

from rireki.search.text.tokens import BETWEEN, LONG, cut_all, fold, grows, is_joined, runs

__all__ = ["cut_many", "kind_of", "opened"]

#: What a character is, as tokenizer.c has it; one that is unknown was never asked about.
UNKNOWN, SIGN, SPACE, LETTER, JOINED, FOREIGN, LEFT = range(7)
_CHARACTERS = 0x110000
#: Letters beyond ASCII are left that come behind this one, or become more than this many bytes.
_LAST_FOREIGN, _FOLD = 0x7FF, 4
#: Bytes from which on it is worth to have the C side at all.
MUCH = 1 << 12
#: Room for more than this is given back.
KEPT = 4 << 20
#: Bytes behind texts, and room behind what becomes of them, that the C side touches without need.
SPARE = 8
#: Bytes that become of one at most: `aaBbCc` is a word and three pieces, each with a gap before it.
_GROWTH = 4
_SOURCE = Path(__file__).with_name("tokenizer.c")
_BUILT = _SOURCE.with_name("libtokenizer.so")


def cut_many(texts: Sequence[str], data: Sequence[bytes]) -> list[bytes]:
    """The words of texts, as `cut_all` has them; `data` is each of them in bytes."""
    tokenizer = opened() if sum(map(len, data)) >= MUCH else None
    if tokenizer is None:
        return cut_all(texts, data)
    return [words for some in _slices(data) for words in tokenizer.cut(texts[some], data[some])]


def _slices(data: Sequence[bytes]) -> Iterator[slice]:
    """As many texts at a time as there is room kept for: a long conversation takes no more of it."""
    start = size = 0
    for end, text in enumerate(data, 1):
        size += len(text)
        if _GROWTH * size > KEPT or end == len(data):
            yield slice(start, end)
            start, size = end, 0


@cache
def opened() -> Tokenizer | None:
    """The C side, if it was built from the source beside it and not from another version of that."""
    try:
        library = ctypes.CDLL(str(_BUILT))
        built_from = ctypes.c_uint32.in_dll(library, "rireki_tokenizer_source").value
        return Tokenizer(library) if built_from == crc32(_SOURCE.read_bytes()) else None
    except (OSError, ValueError):
        return None


def kind_of(character: str) -> int:
    """What a character is to the C side, wherever it stands; only then it may cut it."""
    folded = fold(character)
    if character.isascii() and character.isalnum():
        return LETTER
    # Some marks are one only once they are folded: the half-width ones of kana.
    if not folded or combining(folded[0]) or combining(character) or character in "\x01\x02\x03":
        return LEFT
    if is_joined(character):
        return JOINED if folded == character and not grows(character) else LEFT
    if runs(folded):
        return FOREIGN if _is_foreign(character, folded) else LEFT
    return SPACE if folded.isspace() else SIGN


def _is_foreign(character: str, folded: str) -> bool:
    """Whether it is a letter of a script with spaces, and no other way to write letters of ASCII."""
    return (
        ord(character) <= _LAST_FOREIGN
        and runs(folded) == [folded]
        and len(folded.encode()) <= _FOLD
        and not any(map(str.isascii, normalize("NFKC", character)))
    )


class _Rules(ctypes.Structure):
    _fields_ = (
        ("kinds", ctypes.c_void_p),
        ("folds", ctypes.c_void_p),
        ("longest", ctypes.c_int64),
    )


class _Room(threading.local):
    """Where the C side writes to: each thread has its own, and uses it again."""

    def __init__(self) -> None:
        self.words = bytearray()

    def for_texts(self, size: int) -> bytearray:
        """Room for the words of texts that are together of this size."""
        words = _GROWTH * size + SPARE
        if words > KEPT:
            return bytearray(words)
        if words > len(self.words):
            self.words = bytearray(words)
        return self.words


class Tokenizer:
    """The C side, and what it was told so far."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._call = library.rireki_cut
        self._call.restype = ctypes.c_int64
        address = ctypes.c_void_p
        self._call.argtypes = [address, ctypes.c_char_p, address, ctypes.c_int64, address, address]
        self._room = _Room()
        self.kinds = bytearray(_CHARACTERS)
        self._folds = bytearray(_FOLD * (_LAST_FOREIGN + 1))
        self._learn(map(chr, range(128)))
        tables = map(_place, (self.kinds, self._folds))
        self.rules = _Rules(*tables, LONG)

    def cut(self, texts: Sequence[str], data: Sequence[bytes]) -> list[bytes]:
        if not data:
            return []
        cuts, left = self._cut(data)
        news = [self._learn(texts[at]) for at in left]
        again = [at for at in left if any(news) and not self._leaves(texts[at])]
        if again:
            more, still = self._cut([data[at] for at in again])
            _put(cuts, again, more)
            left = sorted({*left}.difference(again).union(again[at] for at in still))
        if left:
            more = cut_all([texts[at] for at in left], [data[at] for at in left])
            _put(cuts, left, more)
        return cuts

    def _cut(self, data: Sequence[bytes]) -> tuple[list[bytes], list[int]]:
        """The words of the texts, and which ones are left."""
        texts = BETWEEN.join([*data, bytes(SPARE)])
        ends = array("q", accumulate(map(len, data), lambda end, size: end + 1 + size))
        words, left = self._room.for_texts(len(texts)), bytearray(len(data))
        room = map(_address, (words, left))
        size = self._call(ctypes.byref(self.rules), texts, _address(ends), len(data), *room)
        return _parted(words, size), [at for at, is_left in enumerate(left) if is_left]

    def _learn(self, characters: Iterable[str]) -> bool:
        """Whether some of them are new."""
        new = [c for c in set(characters) if self.kinds[ord(c)] == UNKNOWN]
        for character in new:
            kind = kind_of(character)
            if kind == FOREIGN:
                at = _FOLD * ord(character)
                self._folds[at : at + _FOLD] = fold(character).encode().ljust(_FOLD, b"\0")
            # Only now: another thread may be cutting.
            self.kinds[ord(character)] = kind
        return bool(new)

    def _leaves(self, text: str) -> bool:
        return any(self.kinds[ord(character)] == LEFT for character in set(text))


def _place(table: bytearray) -> int:
    """Where a table stands, for good: it cannot grow any more."""
    return ctypes.addressof((ctypes.c_char * len(table)).from_buffer(table))


def _address(room: bytearray | array[int]) -> object:
    return ctypes.byref(ctypes.c_char.from_buffer(room))


def _parted(written: bytearray, size: int) -> list[bytes]:
    """What stands between the separators; behind the last one nothing does."""
    return bytes(memoryview(written)[:size]).split(BETWEEN)[:-1]


def _put(cuts: list[bytes], places: Sequence[int], others: Sequence[bytes]) -> None:
    for place, words in zip(places, others, strict=True):
        cuts[place] = words
