"""The line a query is typed into: what people see as one character is one step.

Pure; knows nothing about what is done with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import accumulate

from rireki.cli.finder.keys import Key
from rireki.show.safe import safe
from rireki.show.width import clusters, width

__all__ = ["Box"]

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_SPACE = re.compile(r"\s")
_WORD_BEFORE = re.compile(r"\S*\s*\Z")
_WORD_AFTER = re.compile(r"\s*\S*")


class Box:
    def __init__(self, text: str = "") -> None:
        self.text = text
        #: Where the cursor stands, in characters.
        self.at = len(text)

    def press(self, key: Key) -> bool:
        """Whether the key was one for the box."""
        if key.name == "text":
            self._put(_CONTROL.sub(" ", key.text))
        elif key.name in _EDITS:
            start, end = _EDITS[key.name](self)
            self.text = self.text[:start] + self.text[end:]
            self.at = start
        elif key.name in _STEPS:
            self.at = _STEPS[key.name](self)
        else:
            return False
        return True

    def shown(self, columns: int) -> tuple[str, int]:
        """As much as fits, and the cursor's column in it."""
        before, after = _clean(self.text[: self.at]), _clean(self.text[self.at :])
        while width(before) >= columns:
            # By halves, so that the eye finds its way.
            before = "…" + _tail(before, max(columns // 2, 1))
        column = width(before)
        text = before
        for cluster, taken in clusters(after):
            if width(text) + taken > columns:
                break
            text += cluster
        return text, column

    def _put(self, text: str) -> None:
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)

    # Where a step leads

    def _left(self) -> int:
        return max((end for end in self._ends() if end < self.at), default=0)

    def _right(self) -> int:
        return min((end for end in self._ends() if end > self.at), default=len(self.text))

    def _ends(self) -> list[int]:
        return [0, *accumulate(len(cluster) for cluster, _ in clusters(self.text))]

    def _word_left(self) -> int:
        found = _WORD_BEFORE.search(self.text[: self.at])
        return found.start() if found else 0

    def _word_right(self) -> int:
        found = _WORD_AFTER.match(self.text, self.at)
        return found.end() if found else len(self.text)

    def _home(self) -> int:
        return 0

    def _end(self) -> int:
        return len(self.text)

    # What a key removes

    def _before(self) -> tuple[int, int]:
        return self._left(), self.at

    def _behind(self) -> tuple[int, int]:
        return self.at, self._right()

    def _word(self) -> tuple[int, int]:
        return self._word_left(), self.at

    def _head(self) -> tuple[int, int]:
        return 0, self.at

    def _rest(self) -> tuple[int, int]:
        return self.at, len(self.text)


_STEPS: dict[str, Callable[[Box], int]] = {
    "left": Box._left,
    "ctrl-b": Box._left,
    "right": Box._right,
    "ctrl-f": Box._right,
    "word-left": Box._word_left,
    "word-right": Box._word_right,
    "home": Box._home,
    "ctrl-a": Box._home,
    "end": Box._end,
    "ctrl-e": Box._end,
}
_EDITS: dict[str, Callable[[Box], tuple[int, int]]] = {
    "backspace": Box._before,
    "delete": Box._behind,
    "ctrl-d": Box._behind,
    "ctrl-w": Box._word,
    "ctrl-u": Box._head,
    "ctrl-k": Box._rest,
}


def _clean(text: str) -> str:
    return _SPACE.sub(" ", safe(text))


def _tail(text: str, columns: int) -> str:
    kept: list[str] = []
    for cluster, taken in reversed(list(clusters(text))):
        columns -= taken
        if columns < 0:
            break
        kept.append(cluster)
    return "".join(reversed(kept))
