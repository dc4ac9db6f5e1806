"""Names of files that are no text, as text: reversible, and the same text for the same bytes.

On most systems a file's name is bytes, and Python spells those that are no UTF-8 as halves of
surrogate pairs, which can neither be stored nor sent. Here each such byte becomes one character of
the last private plane, U+10FF80 to U+10FFFF. Whoever has such characters in a name gets them
spelled byte by byte as well, so that every text stands for one name only.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PureWindowsPath

__all__ = ["as_path", "as_text", "directory_of", "is_bytes"]

_BASE = 0x10FF00
_FOREIGN = re.compile(f"[\ud800-\udfff{chr(_BASE + 0x80)}-{chr(_BASE + 0xFF)}]+")
_BYTES = re.compile(f"[{chr(_BASE + 0x80)}-{chr(_BASE + 0xFF)}]+")


def as_text(path: str) -> str:
    """A path of the system as text that can be kept."""
    if path.isascii() or not _FOREIGN.search(path):
        return path
    return _FOREIGN.sub(lambda found: "".join(map(_spelled, found[0])), path)


def as_path(text: str) -> str:
    """The path of the system that the text stands for."""
    if text.isascii() or not is_bytes(text):
        return text
    data = bytearray()
    end = 0
    for found in _BYTES.finditer(text):
        data += os.fsencode(text[end : found.start()])
        data += bytes(ord(character) - _BASE for character in found[0])
        end = found.end()
    data += os.fsencode(text[end:])
    return os.fsdecode(bytes(data))


def directory_of(given: str) -> str:
    """A directory as agents note it: absolute, with its symbolic links as they are.

    A path of another system (`C:\\work` out of a backup) is left as it is.
    """
    if not Path(given).is_absolute() and PureWindowsPath(given).drive:
        return given
    # Not resolve(): agents note the name of a directory, not what its links lead to.
    return as_text(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100


def is_bytes(text: str) -> bool:
    """Whether some of it stands for bytes that are no text."""
    return bool(_BYTES.search(text))


def _spelled(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return chr(_BASE + code - 0xDC00)
    return "".join(chr(_BASE + byte) for byte in character.encode("utf-8", "surrogatepass"))
