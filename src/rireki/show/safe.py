"""What a transcript may do to a terminal: nothing.

Colours that tools printed are dropped, every other control character is made
visible, and so are the marks that turn the direction of text around. Knows
nothing about conversations.
"""

from __future__ import annotations

import re

__all__ = ["one_line", "safe"]

# Only complete sequences are dropped: an unterminated one would swallow what follows it.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # window titles, links, device strings
    r"|\x1b[ -/]+[0-~]"  # character sets
)
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe(text: str) -> str:
    """The text without anything that could steer a terminal; newlines and tabs stay."""
    if not _SUSPECT.search(text):
        return text
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    return _SUSPECT.sub(lambda found: _visible(found[0]), text)


def _visible(character: str) -> str:
    code = ord(character)
    if code in (0x2028, 0x2029):
        return "\n"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"‹U+{code:04X}›"


def one_line(text: str) -> str:
    """The text as a single safe line: runs of white space become one space."""
    if text.isprintable() and "  " not in text and text.strip() == text:
        return text
    return " ".join(safe(text).split())
