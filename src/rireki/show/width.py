"""How many columns text takes in a terminal, and how to cut and wrap it by columns.

Japanese and emoji take two columns, combining marks none. What looks like one
character is never cut apart. Knows no colours: measure first, paint afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import category, east_asian_width

from rireki.model.clusters import goes_on

__all__ = ["clusters", "pad", "truncate", "width", "wrap"]

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
# A line does not begin with these, nor end with those (kinsoku).
_CLOSING = frozenset(
    "、。，．・：；！？」』）］｝〉》】〕〟’”ー～…‥っゃゅょァィゥェォッャュョ々,.!?)]}%"
)
_OPENING = frozenset("「『（［｛〈《【〔〝‘“([{")
_WORDS = re.compile(" +|[^ ]+")


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
