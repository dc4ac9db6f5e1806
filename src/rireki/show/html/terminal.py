"""What a command printed, in the colours of its terminal, as classes.

Colours and weights are kept, every other sequence is dropped, and of a line that
was overwritten in place only what stayed visible is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rireki.show.html.markup import EMPTY, Markup, exact

__all__ = ["is_coloured", "paint", "settled"]

#: Of a progress line that was written over and over only the last writings matter.
_WRITINGS = 20
#: A cursor is not moved further right than this.
_WIDEST = 1000
_PIECE = re.compile(
    r"\x1b\[(?P<given>[0-?]*)[ -/]*(?P<verb>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[ -/]+[0-~]"
    r"|(?P<move>[\r\x08])"
    r"|(?P<said>[^\x1b\r\x08]+|\x1b)"
)
_MOVES = re.compile(r"[\r\x08]|\x1b\[\d*[GK]")
_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_FLAGS_OFF = {
    22: ("bold", "dim"),
    23: ("italic",),
    24: ("underline",),
    27: ("reverse",),
    29: ("strike",),
}


def is_coloured(value: str) -> bool:
    return "\x1b" in value


def settled(value: str) -> str:
    """The text without what a progress line has long overwritten, so that it can be cut."""
    if "\r" not in value:
        return value
    lines = value.replace("\r\n", "\n").split("\n")
    return "\n".join("\r".join(line.rstrip("\r").split("\r")[-_WRITINGS:]) for line in lines)


def paint(value: str) -> Markup:
    """The text as spans with classes: `a-bold`, `a-f1` for red letters, `a-b22` for a background."""
    if not _MOVES.search(value) and not is_coloured(value):
        return exact(value)
    pen = _Pen()
    runs: list[tuple[str, str]] = []
    for number, line in enumerate(settled(value).split("\n")):
        if number:
            runs.append((pen.style, "\n"))
        runs += _overwritten(line, pen) if _MOVES.search(line) else _written(line, pen)
    return _spans(runs)


def _spans(runs: Iterable[tuple[str, str]]) -> Markup:
    told: list[str] = []
    style, words = "", ""
    for new, said in runs:
        if new != style:
            told.append(_span(style, words))
            style, words = new, ""
        words += said
    told.append(_span(style, words))
    return EMPTY.join(map(Markup, told))


def _span(style: str, words: str) -> str:
    if not words:
        return ""
    return f'<span class="{style}">{exact(words)}</span>' if style else exact(words)


def _written(line: str, pen: _Pen) -> Iterator[tuple[str, str]]:
    for piece in _PIECE.finditer(line):
        if piece["said"]:
            yield pen.style, piece["said"]
        elif piece["verb"] == "m":
            pen.take(piece["given"])


def _overwritten(line: str, pen: _Pen) -> list[tuple[str, str]]:
    """The line as a terminal would leave it: a cell per character, written from where the cursor is."""
    cells: list[tuple[str, str]] = []
    at = 0
    for piece in _PIECE.finditer(line):
        if piece["said"]:
            cells += [("", " ")] * (at - len(cells))
            new = [(pen.style, character) for character in piece["said"]]
            cells[at : at + len(new)] = new
            at += len(new)
        elif piece["move"]:
            at = 0 if piece["move"] == "\r" else max(at - 1, 0)
        elif piece["verb"] == "m":
            pen.take(piece["given"])
        elif piece["verb"] == "G":
            at = min(max(_number(piece["given"]) - 1, 0), _WIDEST)
        elif piece["verb"] == "K" and piece["given"] in ("", "0"):
            del cells[at:]
        elif piece["verb"] == "K" and piece["given"] == "2":
            cells = []
    return cells


class _Pen:
    """How a terminal would write now."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.flags: set[str] = set()
        self.ink: int | None = None
        self.paper: int | None = None
        self.style = ""

    def take(self, given: str) -> None:
        """Select graphic rendition: the numbers between `ESC [` and `m`."""
        codes = iter([_number(code) for code in re.split("[;:]", given)])
        for code in codes:
            self._code(code, codes)
        names = [f"a-{flag}" for flag in sorted(self.flags)]
        names += [f"a-f{self.ink}"] if self.ink is not None else []
        names += [f"a-b{self.paper}"] if self.paper is not None else []
        self.style = " ".join(names)

    def _code(self, code: int, rest: Iterator[int]) -> None:
        if code == 0:
            self._reset()
        elif code in _FLAGS:
            self.flags.add(_FLAGS[code])
        elif code in _FLAGS_OFF:
            self.flags.difference_update(_FLAGS_OFF[code])
        elif code in (38, 48):
            self._colour(_palette(rest), ink=code == 38)
        elif code in (39, 49):
            self._colour(None, ink=code == 39)
        elif (base := _base_colour(code)) is not None:
            self._colour(base.colour, base.ink)

    def _colour(self, colour: int | None, ink: bool) -> None:
        if ink:
            self.ink = colour
        else:
            self.paper = colour


class _Base(NamedTuple):
    colour: int
    ink: bool


def _base_colour(code: int) -> _Base | None:
    """The sixteen colours that have a number of their own."""
    for first, bright, ink in ((30, 0, True), (40, 0, False), (90, 8, True), (100, 8, False)):
        if first <= code < first + 8:
            return _Base(code - first + bright, ink)
    return None


def _palette(rest: Iterator[int]) -> int | None:
    """`5;n` is one of 256 colours, `2;r;g;b` any: the nearest of the 256 stands for it."""
    kind = next(rest, 0)
    if kind == 5:
        number = next(rest, 0)
        return number if number < 256 else None
    if kind == 2:
        return _nearest(*(min(next(rest, 0), 255) for _ in range(3)))
    return None


def _nearest(red: int, green: int, blue: int) -> int:
    steps = (0, 95, 135, 175, 215, 255)
    cube = [min(range(6), key=lambda i: abs(steps[i] - part)) for part in (red, green, blue)]
    grey = min(max(round(((red + green + blue) / 3 - 8) / 10), 0), 23)
    wanted = (red, green, blue)

    def far(colour: tuple[int, ...]) -> int:
        return sum((a - b) ** 2 for a, b in zip(colour, wanted, strict=True))

    if far((8 + 10 * grey,) * 3) < far(tuple(steps[i] for i in cube)):
        return 232 + grey
    return 16 + 36 * cube[0] + 6 * cube[1] + cube[2]


def _number(code: str) -> int:
    """A number of a sequence; what is none, or absurdly long, is zero."""
    return int(code) if code.isdecimal() and len(code) < 5 else 0
