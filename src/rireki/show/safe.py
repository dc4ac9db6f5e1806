"""What a transcript may do to a terminal: nothing; and the colours that we give it ourselves.

Colours that tools printed are dropped, every other control character is made
visible, and so are the marks that turn the direction of text around and the letters
that nobody sees. Knows nothing about conversations.
"""

from __future__ import annotations

import re

__all__ = [
    "CODES",
    "PLAIN",
    "Style",
    "escaped",
    "one_line",
    "one_line_for_browsers",
    "printable",
    "safe",
    "safe_for_browsers",
]

#: All codes that we colour with, as a pattern: no other ever reaches a terminal from our text.
CODES = r"\x1b\[(?:[0127]|3[1236]|1;32|7;1;33)m"
# Only complete sequences are dropped: an unterminated one would swallow what follows it.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # window titles, links, device strings
    r"|\x1b[ -/]+[0-~]"  # character sets
)
#: Characters that steer a terminal, or are not what they seem: C0 and C1 controls, everything that
#: turns the direction of text, invisible separators and annotations, halves of surrogate pairs, and
#: tags, which spell whole sentences that nobody sees.
_CLASS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufff9-\ufffb"
)
_TAGS = "\U000e0000-\U000e007f"
#: Bytes of a file's name that are no text (`model/names.py`).
_BYTES = "\U0010ff80-\U0010ffff"
#: Marks that Hebrew and Arabic are written with. They turn nothing but the punctuation beside them,
#: and in a browser no further than the element they stand in.
_DIRECTIONS = "\u061c\u200e\u200f"
_KEPT = re.compile(f"[{_DIRECTIONS}]")
_SUSPECT = re.compile(f"[{_CLASS}{_BYTES}]|[{_TAGS}]+")
_OURS_OR_SUSPECT = re.compile(f"(?P<ours>{CODES})|[{_CLASS}{_BYTES}]|[{_TAGS}]+")


def safe(text: str) -> str:
    """The text without anything that could steer a terminal; newlines and tabs stay."""
    if not _SUSPECT.search(text):
        return text
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    return _SUSPECT.sub(lambda found: _visible(found[0]), text)


def safe_for_browsers(text: str) -> str:
    """The same for a page: what right-to-left languages need stays, overrides and embeddings do not."""
    if not _KEPT.search(text):
        return safe(text)
    pieces = (safe(piece) for piece in _KEPT.split(text))
    marks = (*_KEPT.findall(text), "")
    return "".join(piece + mark for piece, mark in zip(pieces, marks, strict=True))


def printable(text: str) -> str:
    """The same for what a command writes as a whole: our own colours stay, and nothing is dropped."""
    if not _SUSPECT.search(text):
        return text
    text = text.replace("\r\n", "\n")
    return _OURS_OR_SUSPECT.sub(
        lambda found: found[0] if found["ours"] else _visible(found[0]), text
    )


def escaped(json: str) -> str:
    """JSON of the same value, spelled so that a terminal can show it."""
    return _SUSPECT.sub(lambda found: "".join(map(_escape, found[0])), json)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _visible(found: str) -> str:
    code = ord(found[0])
    if code in (0x2028, 0x2029):
        return "\n"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if code >= 0x10FF80:
        return f"\\x{code & 0xFF:02x}"
    if code >= 0xE0000:
        spelled = "".join(chr(ord(tag) - 0xE0000) for tag in found)
        return f"‹tags {''.join(filter(str.isprintable, spelled))}›"
    return f"‹U+{code:04X}›"


def one_line(text: str) -> str:
    """The text as a single safe line: runs of white space become one space."""
    if text.isprintable() and "  " not in text and text.strip() == text:
        return text
    return " ".join(safe(text).split())


def one_line_for_browsers(text: str) -> str:
    return " ".join(safe_for_browsers(text).split())


class Style:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def light_on_dark(self, text: str) -> str:
        """Whatever colours the terminal has."""
        return self._paint("97;40", text)

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
