"""Colours for a terminal that wants them; the same words without them for one that does not."""

from __future__ import annotations

__all__ = ["CODES", "PLAIN", "Style"]

#: All codes that we colour with, as a pattern: no other ever reaches a terminal from our text.
CODES = r"\x1b\[(?:[0127]|3[1236]|1;32|7;1;33)m"


class Style:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def red(self, text: str) -> str:
        return self._paint("31", text)

    def alarm(self, text: str) -> str:
        """What went wrong is not passed over."""
        return self._paint("1;31", text)

    def green(self, text: str) -> str:
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        return self._paint("36", text)

    def person(self, text: str) -> str:
        """What a person did stands out from everything else."""
        return self._paint("1;32", text)


PLAIN = Style(False)
