"""What a program prints on a terminal, as plain text that only grows, and the signs of its line editor.

A line that is drawn again and again (a spinner) is told when it is left, if anything is on it.
Knows terminals; what the text means is not known here.
"""

from __future__ import annotations

import codecs
import re
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Heard", "TerminalScreen"]

#: `ready`: the line editor waits for a line; `busy`: it was given one.
Kind: TypeAlias = Literal["text", "ready", "busy"]

_CONTROL = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])"  # a control sequence
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a title, a link
    r"|\x1b[()#%].|\x1b[0-Z\\^_`-~]"  # letters, keypad
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
#: What may be the beginning of one.
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[()#%])?$")
_SPINNER = re.compile(r"\s*[⠀-⣿]")
#: A title that has no end by then is none.
_LONGEST = 4096


class Heard(NamedTuple):
    kind: Kind
    text: str = ""


class TerminalScreen:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._line = ""
        self._column = 0
        #: How much of the line was told.
        self._told = 0
        self._heard: list[Heard] = []

    def feed(self, data: bytes) -> list[Heard]:
        """What came with these bytes, in order."""
        text = self._rest + self._decoder.decode(data)
        begun = _BEGUN.search(text)
        self._rest = text[begun.start() :] if begun and len(text) - begun.start() < _LONGEST else ""
        text = text[: len(text) - len(self._rest)]
        place = 0
        for match in _CONTROL.finditer(text):
            self._write(text[place : match.start()])
            self._control(match)
            place = match.end()
        self._write(text[place:])
        self._tell()
        heard, self._heard = self._heard, []
        return heard

    def _write(self, text: str) -> None:
        for number, piece in enumerate(text.split("\n")):
            if number:
                self._end_line()
            self._line = (
                self._line[: self._column] + piece + self._line[self._column + len(piece) :]
            )
            self._column += len(piece)

    def _control(self, match: re.Match[str]) -> None:
        values, letter = match[1] or "", match[2]
        if match[0] == "\r":
            self._column = 0
        elif match[0] == "\b":
            self._column = max(0, self._column - 1)
        elif letter == "G":
            self._column = min(len(self._line), int(values or 1) - 1) if values.isdigit() else 0
        elif letter == "K":
            self._erase(values)
        elif letter in ("h", "l") and values == "?2004":
            self._sign("ready" if letter == "h" else "busy")

    def _erase(self, values: str) -> None:
        if values in ("", "0"):
            self._line = self._line[: self._column]
        elif values == "2":
            self._line, self._column = "", 0
        self._told = min(self._told, len(self._line))

    def _sign(self, kind: Kind) -> None:
        self._tell()
        self._line, self._column, self._told = "", 0, 0
        self._heard.append(Heard(kind))

    def _end_line(self) -> None:
        if not _SPINNER.match(self._line):
            self._heard.append(Heard("text", self._line[self._told :].rstrip() + "\n"))
        self._line, self._column, self._told = "", 0, 0

    def _tell(self) -> None:
        """The part of the line that is new, unless it looks as if it would be drawn again."""
        new = self._line[self._told :]
        if new.strip() and not _SPINNER.match(self._line):
            self._heard.append(Heard("text", new))
            self._told = len(self._line)
