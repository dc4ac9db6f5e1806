"""Bytes from a terminal, as the keys that were pressed and the text that was typed or pasted.

Pure. A character or an escape sequence may arrive in pieces, as it does over ssh.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from typing import NamedTuple

__all__ = ["Key", "Keys"]

#: Seconds within which the rest of an escape sequence arrives, and that of a paste.
ESCAPING, PASTING = 0.05, 2.0
_ESCAPE = "\x1b"
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
#: A whole sequence: the Linux console's own, cursor keys and the like, those of the key pad, Alt and a key.
_SEQUENCE = re.compile(r"\x1b(?:\[\[[A-E]|\[[0-?]*[ -/]*[@-Z\\-~]|O[ -~]|[^\[O\x1b])")
#: The beginning of one.
_BEGUN = re.compile(r"\x1b(?:\[\[?[0-?]*[ -/]*|O)?\Z")
_TEXT = re.compile(r"[^\x00-\x1f\x7f]+")
_CONTROL = {"\r": "enter", "\n": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace"}
_FINAL = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "Z": "tab"}
_NUMBER = {
    "1": "home",
    "7": "home",
    "4": "end",
    "8": "end",
    "3": "delete",
    "5": "page-up",
    "6": "page-down",
}
_ALT = {"b": "word-left", "f": "word-right", "\x7f": "ctrl-w", "\x08": "ctrl-w"}


class Key(NamedTuple):
    """A key by its name; what is typed or pasted is "text"."""

    name: str
    text: str = ""


class Keys:
    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        self._left = ""

    @property
    def patience(self) -> float:
        """Seconds to wait for the rest of a sequence; 0 when there is none to wait for."""
        if not self._left:
            return 0.0
        return PASTING if self._left.startswith(_PASTE) else ESCAPING

    def feed(self, data: bytes) -> list[Key]:
        self._left += self._decoder.decode(data)
        found: list[Key] = []
        while self._left and (key := self._next()):
            found.append(key)
        return [key for key in found if key.name]

    def flush(self) -> list[Key]:
        """Nothing followed for a while: the escape was the key of that name."""
        left, self._left = self._left, ""
        if left.startswith(_PASTE):
            return [Key("text", left.removeprefix(_PASTE))]
        return [Key("esc")] if left else []

    def _next(self) -> Key | None:
        """The first key of what is left, or none until more arrives."""
        first = self._left[0]
        if first != _ESCAPE:
            return self._plain(first)
        if self._left.startswith(_PASTE):
            text, end, rest = self._left.removeprefix(_PASTE).partition(_PASTED)
            if not end:
                return None
            self._left = rest
            return Key("text", text)
        if self._left.startswith(_ESCAPE * 2):
            self._left = self._left[1:]
            return Key("esc")
        if found := _SEQUENCE.match(self._left):
            self._left = self._left[found.end() :]
            return _named(found[0])
        if _BEGUN.match(self._left):
            return None
        # No terminal sends this: take the escape for itself and go on behind it.
        self._left = self._left[1:]
        return Key("esc")

    def _plain(self, first: str) -> Key:
        if typed := _TEXT.match(self._left):
            self._left = self._left[typed.end() :]
            return Key("text", typed[0])
        self._left = self._left[1:]
        return Key(_CONTROL.get(first) or f"ctrl-{chr(ord(first) + 96)}")


def _named(sequence: str) -> Key:
    """The key behind a sequence; a name that is empty for one we do not know."""
    if sequence[1] not in "[O":
        return Key(_ALT.get(sequence[1], ""))
    number, _, modifier = sequence[2:-1].partition(";")
    if sequence.endswith("~"):
        return Key(_NUMBER.get(number, ""))
    name = _FINAL.get(sequence[-1], "") if not sequence.startswith("\x1b[[") else ""
    # With Alt (3) or Ctrl (5) the arrows go by words.
    if modifier in ("3", "5") and name in ("left", "right"):
        return Key(f"word-{name}")
    return Key(name)
