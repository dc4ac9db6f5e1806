"""How many columns text takes in a terminal, and how to cut and wrap it by columns, marks included.

Japanese and emoji take two columns, combining marks none. What looks like one
character is never cut apart. Knows no colours: measure first, paint afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias
from unicodedata import category, east_asian_width

from rireki.model.clusters import goes_on
from rireki.show.safe import safe

__all__ = [
    "Mark",
    "Marked",
    "Painter",
    "around",
    "clusters",
    "cut",
    "marked",
    "moved",
    "pad",
    "painted",
    "truncate",
    "width",
    "wrap",
    "wrapped",
]

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
# A line does not begin with these, nor end with those (kinsoku).
_CLOSING = frozenset(
    "、。，．・：；！？」』）］｝〉》】〕〟’”ー～…‥っゃゅょァィゥェォッャュョ々,.!?)]}%"
)
_OPENING = frozenset("「『（［｛〈《【〔〝‘“([{")
_WORDS = re.compile(" +|[^ ]+")
_SPACE = re.compile(r"\s+")

Painter: TypeAlias = Callable[[str], str]
Mark: TypeAlias = tuple[int, int]


def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _added(cluster: str, character: str) -> int:
    """The columns a cluster grows by: emoji that are joined or coloured take no more room."""
    if cluster.endswith(_JOINER) or "\U0001f3fb" <= character <= "\U0001f3ff":
        return 0
    return _columns(character)


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """What a reader sees as one character, with its columns."""
    cluster, columns = "", 0
    for character in text:
        if goes_on(cluster, character):
            columns = 2 if character == _EMOJI_STYLE else columns + _added(cluster, character)
            cluster += character
            continue
        if cluster:
            yield cluster, columns
        cluster, columns = character, _columns(character)
    if cluster:
        yield cluster, columns


def width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(columns for _, columns in clusters(text))


def _fits(text: str, columns: int) -> bool:
    """Looks no further than it must: a line may be megabytes long."""
    if text.isascii() or len(text) * 2 <= columns:
        return len(text) <= columns
    for _, taken in clusters(text):
        columns -= taken
        if columns < 0:
            return False
    return True


def truncate(text: str, columns: int) -> str:
    """At most this many columns; what was cut is told by an ellipsis."""
    if _fits(text, columns):
        return text
    return _head(text, columns - 1).rstrip() + "…" if columns > 0 else ""


def _head(text: str, columns: int) -> str:
    kept: list[str] = []
    for cluster, taken in clusters(text):
        if taken > columns:
            break
        columns -= taken
        kept.append(cluster)
    return "".join(kept)


def pad(text: str, columns: int, right: bool = False) -> str:
    """Exactly this many columns: cut or filled with spaces, on the left when `right`-aligned."""
    if text.isascii() and len(text) <= columns:
        return text.rjust(columns) if right else text.ljust(columns)
    text = truncate(text, columns)
    space = " " * (columns - width(text))
    return space + text if right else text + space


def wrap(text: str, columns: int) -> list[str]:
    """One line as several, each within the columns; continuations keep the line's indentation."""
    text = text.expandtabs(4).rstrip()
    if _fits(text, columns):
        return [text]
    body = text.lstrip(" ")
    indent = " " * max(min(len(text) - len(body), columns // 2, columns - 2), 0)
    return [indent + line for line in _fill(body, columns - len(indent))]


def _fill(text: str, columns: int) -> Iterator[str]:
    line, taken = "", 0
    for piece in _pieces(text):
        size = width(piece)
        if taken + size > columns and not piece.isspace():
            if line:
                yield line.rstrip()
            if size > columns:
                *whole, piece = _cut(piece, columns)
                yield from whole
                size = width(piece)
            line, taken = "", 0
        line, taken = line + piece, taken + size
    if line.strip():
        yield line.rstrip()


def _cut(word: str, columns: int) -> Iterator[str]:
    """A word that is longer than a line, in lines."""
    line: list[str] = []
    taken = 0
    for cluster, size in clusters(word):
        if line and taken + size > columns:
            yield "".join(line)
            line, taken = [], 0
        line.append(cluster)
        taken += size
    yield "".join(line)


def _pieces(text: str) -> Iterator[str]:
    """What may stand on a line of its own: words, spaces, wide characters with their punctuation."""
    if text.isascii():
        yield from _WORDS.findall(text)
        return
    # A list: adding to a word of megabytes would copy it each time.
    piece: list[str] = []
    kind = ""
    for cluster, columns in clusters(text):
        new = "space" if cluster == " " else "wide" if columns == 2 else "narrow"
        if piece and not _joined(piece[-1], kind, cluster, new):
            yield "".join(piece)
            piece = []
        piece.append(cluster)
        kind = new
    if piece:
        yield "".join(piece)


def _joined(last: str, kind: str, cluster: str, new: str) -> bool:
    if "space" in (kind, new):
        return kind == new
    if cluster in _CLOSING or last[-1] in _OPENING:
        return True
    return kind == new == "narrow"


# ── Text with marks ──


class Marked(NamedTuple):
    """One line, fit for a terminal, and where the matches stand in it."""

    text: str
    marks: Sequence[Mark] = ()


def marked(text: str, marks: Sequence[Mark]) -> Marked:
    """The text on one clean line, with its marks where they belong then."""
    line = ""
    placed: list[Mark] = []
    for piece, found in _marked_pieces(text, marks):
        clean = _SPACE.sub(" ", safe(piece))
        if not line or line.endswith(" "):
            clean = clean.lstrip(" ")
        if found and clean:
            placed.append((len(line), len(line) + len(clean)))
        line += clean
    return Marked(line, placed)


def painted(line: Marked, mark: Painter, rest: Painter = str) -> str:
    return "".join((mark if found else rest)(piece) for piece, found in _marked_pieces(*line))


def cut(line: Marked, columns: int) -> Marked:
    """At most this many columns, with an ellipsis where it ends."""
    text = truncate(line.text, columns)
    if text == line.text:
        return line
    return Marked(text, _within(line.marks, 0, len(text) - 1))


def around(line: Marked, columns: int) -> Marked:
    """At most this many columns, with the first match among them."""
    if not line.marks or width(line.text[: line.marks[0][1]]) < columns:
        return cut(line, columns)
    start, room = line.marks[0][0], columns // 3
    for cluster, taken in reversed(list(clusters(line.text[max(start - columns, 0) : start]))):
        room -= taken
        if room < 0:
            break
        start -= len(cluster)
    rest = Marked("…" + line.text[start:], _within(line.marks, start, len(line.text)))
    return cut(moved(rest, 1), columns)


def wrapped(line: Marked, columns: int) -> Iterator[Marked]:
    """The line, which has no tabs, as several, none longer than the columns."""
    at = 0
    for text in wrap(line.text, columns):
        # Continuations are indented as the line itself is.
        body = text.lstrip(" ")
        at = line.text.index(body, at)
        part = Marked(text, _within(line.marks, at, at + len(body)))
        yield moved(part, len(text) - len(body))
        at += len(body)


def _marked_pieces(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is marked."""
    at = 0
    for start, end in marks:
        start, end = max(start, at), min(end, len(text))
        if start < end:
            yield text[at:start], False
            yield text[start:end], True
            at = end
    yield text[at:], False


def _within(marks: Sequence[Mark], first: int, last: int) -> list[Mark]:
    """The marks of a part of a text, as places in that part."""
    return [
        (max(start, first) - first, min(end, last) - first)
        for start, end in marks
        if start < last and end > first
    ]


def moved(line: Marked, by: int) -> Marked:
    return Marked(line.text, [(start + by, end + by) for start, end in line.marks])
