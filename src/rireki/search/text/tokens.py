"""Text as the index sees it: folded, then cut into the words a query may ask for.

The words are in the order of the text, with a gap between two that have more than white
space between them: so the index knows by their positions where a phrase is. One pure
function cuts for the index; queries are cut by the same rules. Change anything here
and VERSION has to change with it: the index is then made anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from operator import add
from unicodedata import combining, decomposition, is_normalized, normalize

__all__ = [
    "BETWEEN",
    "GAP",
    "LONG",
    "VARIANTS",
    "VERSION",
    "cut_all",
    "fold",
    "grows",
    "in_bytes",
    "is_joined",
    "is_letter",
    "is_named",
    "is_plain",
    "piece_spans",
    "pieces",
    "runs",
    "spelled",
    "stretches",
    "terms",
]

VERSION = 6

#: Separates texts that are cut together; it must not be in one.
BETWEEN = b"\x02"
#: Takes a position between two words that have signs between them, or nothing (`linuxカーネル`). It is
#: a sign itself, so no word is spelled like that.
GAP = "|"

#: Scripts that write words without spaces between them: found by any piece, so cut into pairs.
JOINED = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"  # Chinese, Japanese
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"  # Korean
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
#: The same as first and last characters, in order.
_RANGES = sorted((JOINED[at], JOINED[at + 2]) for at in range(0, len(JOINED), 3))
#: Of these, letters that become syllables, or another letter, beside each other.
_GROWING = re.compile("[\u1000-\u109f\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff]")
_ASCII_RUN = re.compile("[a-z0-9]+")
_PIECE = re.compile(r"(?:[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+)[0-9]*")

#: Longer words (hashes, encoded data) are kept as overlapping parts of this size.
LONG = 1000

#: ASCII lower-cased, with a space for all white space and a gap for every sign.
_PLAIN = bytes(
    ord(chr(code).lower())
    if code < 128 and (chr(code).isalnum() or code == BETWEEN[0])
    else 32
    if code < 128 and chr(code).isspace()
    else ord(GAP)
    for code in range(256)
)
_SIGNS = re.compile(rb"\|[| ]*")
#: What kind of character stands where: upper case, another letter or digit, or none of them.
_KINDS = bytes(
    ord("U")
    if 65 <= code <= 90
    else ord("l")
    if code == 3 or (code < 128 and chr(code).isalnum())
    else 32
    for code in range(256)
)
#: Where a word made of several begins anew: `camelCase`, `utf8Text`, `HTTPServer`.
_SEAMS = (b"lU", b"UUll")
#: The same in one word: `IDs` has none.
_SEAM = re.compile("[a-z0-9][A-Z]|[A-Z]{2}[a-z0-9]{2}")
#: By far the most frequent stranger among ASCII: Claude Code sets an arrow behind line numbers.
_ARROW, _STAND_IN = "→", "\x00"
#: Stands for a letter beyond ASCII in a word: what touches it is no piece.
_OTHER = "\x03"
#: What Turkish capitals become in lower case, and its own small letter: whoever types `istanbul` or
#: `ISTANBUL` means them all, and so do patterns that do not tell capitals from small letters.
_DOTTED, _DOTLESS = "i\u0307", "\u0131"
#: Letters that fold into two, and those with a mark, which may become one only in lower case.
_LONGER = (
    "ßẞ\u1f80-\u1faf\u1fb2-\u1fb4\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc7\u1fcc\u1ff2-\u1ff4\u1ff7\u1ffc"
)
#: Say how the character before is drawn, not which one it is: `葛` of a town, `✔` in colour.
VARIANTS = "\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_VARIANTS = re.compile(f"[{VARIANTS}]+")
_UNEVEN = re.compile(f"[{_LONGER}][\u0300-\u036f]*|.[\u0300-\u036f]+", re.DOTALL)
_ASCII = bytes(range(128))


def fold(text: str) -> str:
    """The same for all spellings of a text: case, width and composition of letters."""
    if text.isascii():
        return text.lower()
    plain = text.replace(_ARROW, _STAND_IN)
    if plain.isascii() and _STAND_IN not in text:
        # Lower case of ASCII is many times as fast, and the arrow has no other spelling.
        return plain.lower().replace(_STAND_IN, _ARROW)
    text = _VARIANTS.sub("", text)
    if _single_jamo().search(text):
        pieces = _single_jamo().split(text)
        return "".join(_as_typed(p) if at % 2 else fold(p) for at, p in enumerate(pieces))
    if not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    folded = text.casefold()
    if _DOTTED in folded or _DOTLESS in folded:
        folded = folded.replace(_DOTTED, "i").replace(_DOTLESS, "i")
    return folded if is_normalized("NFKC", folded) else normalize("NFKC", folded)


@cache
def _single_jamo() -> re.Pattern[str]:
    """Korean letters that stand for themselves, as in laughter: composition would make syllables."""
    return re.compile("([\u3131-\u318e\uffa0-\uffdc]+)")


def grows(character: str) -> bool:
    """Whether a character of a joined script may become one with those beside it."""
    return _GROWING.match(character) is not None


def spelled(text: str, folded: str) -> str:
    """A folded text with its capitals, letter by letter: what identifiers are taken apart by.

    Letters beyond ASCII are all the same here.
    """
    if is_plain(text):
        return text
    pieces = _single_jamo().split(_VARIANTS.sub("", text))
    composed = (_as_typed(p) if at % 2 else normalize("NFKC", p) for at, p in enumerate(pieces))
    even = _UNEVEN.sub(_evened, "".join(composed))
    capitals = _foreign().sub(_OTHER, even)
    return capitals if len(capitals) == len(folded) else folded


def _evened(uneven: re.Match[str]) -> str:
    """Something of which capitals are more or less letters than it folds into."""
    size = len(fold(uneven[0]))
    return uneven[0] if size == len(uneven[0]) else _OTHER * size


def _as_typed(jamo: str) -> str:
    """In full width; what only fills space stays as it is."""
    wide = (decomposition(letter).rpartition(" ")[2] for letter in jamo)
    return "".join(
        chr(int(code, 16)) if letter >= "\uffa0" and code else letter
        for letter, code in zip(jamo, wide, strict=True)
    )


def is_plain(text: str) -> bool:
    """Whether a text is ASCII but for arrows, as files are that an agent read."""
    return text.replace(_ARROW, " ").isascii()


@cache
def _foreign() -> re.Pattern[str]:
    """Letters beyond ASCII of scripts that have spaces."""
    return re.compile(f"[^\\W{JOINED}\x00-\x7f]")


@cache
def _run() -> re.Pattern[str]:
    """Made when it is needed: a set of so many characters takes long to compile."""
    return re.compile(f"([{JOINED}]+)|([^\\W_{JOINED}]+)")


def is_joined(run: str) -> bool:
    """Whether a run, or a single character, is of a script without spaces."""
    if run.isascii():
        return False
    at = bisect_right(_RANGES, (run[0], "\U0010ffff")) - 1
    return at >= 0 and run[0] <= _RANGES[at][1]


def is_letter(character: str) -> bool:
    """Whether a character is a letter or digit of a script that has spaces."""
    return character.isalnum() and (character.isascii() or not is_joined(character))


def is_named(word: str) -> bool:
    """Whether numbers are given to it: `python` is also looked for as `python3`, `a` is not as `a4`."""
    return len(word) > 1 and word.isascii() and word.isalpha()


def runs(folded: str) -> list[str]:
    """The words of a folded text, and its stretches of joined script."""
    if folded.isascii():
        return _ASCII_RUN.findall(folded)
    return [joined or word for joined, word in _run().findall(folded)]


def stretches(folded: str) -> Iterator[tuple[bool, re.Match[str]]]:
    """The runs of a folded text, each with whether there is a gap before it."""
    end = 0
    for run in (_ASCII_RUN if folded.isascii() else _run()).finditer(folded):
        start = run.start()
        yield start > 0 and not folded[end:start].isspace(), run
        end = run.end()


def in_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def cut_all(texts: Sequence[str], data: Sequence[bytes]) -> list[bytes]:
    """The words of each text in its order, with spaces and gaps between them; behind them the pieces of
    its identifiers. Many at once take half the time; `data` is each text in bytes.
    """
    plains = list(map(_as_ascii, texts, data))
    careful = {at: fold(texts[at]) for at, plain in enumerate(plains) if plain is None}
    ready = [_apart(plain or b"") for plain in plains]
    for at, folded in careful.items():
        # Only for the pieces of identifiers, which need upper case.
        ready[at] = _apart(spelled(texts[at], folded).encode("ascii", "replace"))
    words, extra = _cut_plain(ready)
    for at, folded in careful.items():
        words[at] = in_bytes(_cut_folded(folded))
    for at, more in extra.items():
        # No phrase goes from one piece to another.
        words[at] += in_bytes("".join(f" {GAP} {piece}" for piece in more))
    return words


def _apart(text: bytes) -> bytes:
    """Without the byte that separates texts, which is a sign like another."""
    return text.replace(BETWEEN, GAP.encode())


def _as_ascii(text: str, data: bytes) -> bytes | None:
    """The text as bytes, if everything beyond ASCII in it is signs.

    Those bytes are then taken for signs, one by one.
    """
    # An arrow is two bytes longer than a letter: so is the text by each, if there is nothing else.
    if len(data) == len(text) or len(data) == len(text) + 2 * text.count(_ARROW):
        return data
    # Taking away the plain bytes is the fastest way to see what else there is.
    strange = "".join(set(data.translate(None, _ASCII).decode()))
    folded = fold(strange)
    is_signs = not _run().search(folded) and not any(map(str.isspace, folded))
    return data if is_signs and not any(map(_is_mark, strange)) else None


def _is_mark(character: str) -> bool:
    """Whether the character before it is another one with it, or goes on behind it."""
    return combining(character) > 0 or _VARIANTS.match(character) is not None


def _cut_plain(texts: Sequence[bytes]) -> tuple[list[bytes], dict[int, list[str]]]:
    """The words of each text, and the pieces of its identifiers."""
    if not texts:
        return [], {}
    whole = BETWEEN.join(texts)
    plain = _SIGNS.sub(b" | ", whole.translate(_PLAIN))
    words = [each.rstrip(b" |") for each in plain.split(BETWEEN)]
    if _has_long_word(plain):
        words = [_with_short_words(each) for each in words]
    return words, _pieces_in(whole, texts)


def _with_short_words(words: bytes) -> bytes:
    return " ".join(t for word in words.decode("ascii").split() for t in terms(word)).encode()


def _cut_folded(text: str) -> str:
    found: list[str] = []
    for gap, run in stretches(text):
        if gap:
            found.append(GAP)
        # Asked here, because `terms` takes longer to see it.
        if run.lastindex == 2 and len(run[0]) <= LONG:
            found.append(run[0])
        else:
            found += terms(run[0])
    return " ".join(found)


def _has_long_word(words: bytes) -> bool:
    """Whether some word is too long: from some space on, none follows soon enough."""
    at = -1
    while len(words) - at - 1 > LONG:
        following = words.rfind(b" ", at + 1, at + LONG + 2)
        if following < 0:
            return True
        at = following
    return False


def terms(run: str) -> list[str]:
    """What one run is found by: pairs of joined script and its last character, or the word."""
    if is_joined(run):
        return [*map(add, run, run[1:]), run[-1]]
    if len(run) <= LONG:
        return [run]
    # The mark keeps what is no beginning of a word from being taken for one.
    rest = range(LONG // 2, len(run) - LONG // 2, LONG // 2)
    return [run[:LONG], *(f"\x01{run[at : at + LONG]}" for at in rest)]


def _pieces_in(whole: bytes, texts: Sequence[bytes]) -> dict[int, list[str]]:
    """The pieces of the identifiers in each text; `whole` is the texts joined."""
    kinds = whole.translate(_KINDS)
    ends = list(accumulate(len(text) + 1 for text in texts))
    found: dict[int, set[bytes]] = {}
    for seam in _SEAMS:
        end = 0
        for at in _places_of(seam, kinds):
            if at >= end:
                end = kinds.find(b" ", at)
                end = end if end >= 0 else len(kinds)
                word = whole[kinds.rfind(b" ", 0, at) + 1 : end]
                found.setdefault(bisect_right(ends, at), set()).add(word)
    return {
        place: pieces
        for place, words in found.items()
        if (pieces := [piece for word in words for piece in _pieces(word)])
    }


def _places_of(wanted: bytes, data: bytes) -> Iterator[int]:
    """Where some bytes stand. Cutting there is several times faster than searching with a pattern."""
    between = map(len, data.split(wanted))
    return (at + turn * len(wanted) for turn, at in enumerate(list(accumulate(between))[:-1]))


@lru_cache(maxsize=20_000)
def _pieces(word: bytes) -> list[str]:
    """The same few identifiers come again and again."""
    return [term for piece in pieces(word.decode("ascii")) for term in terms(piece)]


def pieces(word: str) -> list[str]:
    """What an identifier is made of, folded: `camelCaseNeedle` → camel, case, needle.

    Empty when it is one piece; single letters and numbers do not count.
    """
    found = [word[start:end].lower() for start, end in piece_spans(word)]
    return [piece for piece in found if len(piece) > 1 and piece != word.lower()]


def piece_spans(word: str) -> list[tuple[int, int]]:
    """Where the pieces of an identifier stand; none in what is no identifier."""
    if word.isupper() or not _SEAM.search(word):
        return []
    found = [piece.span() for piece in _PIECE.finditer(word)]
    if _OTHER not in word:
        return found
    # What touches a letter beyond ASCII is no piece.
    return [(a, b) for a, b in found if _OTHER not in word[max(a - 1, 0) : b + 1]]
