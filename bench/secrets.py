"""Invented secrets of many shapes. Made at run time: none stands in a file as a whole."""

from __future__ import annotations

import random
import string

__all__ = ["secrets"]

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
#: What a secret begins with, how much follows, and of which letters; {} where it is in the middle.
_SHAPES = (
    ("ghp" + "_", 36, _ALNUM, ""),
    ("github" + "_pat_11A0B1C2D3E4F5G6H7I8J9" + "_", 59, _ALNUM, ""),
    ("glpat" + "-", 20, _ALNUM, ""),
    ("xoxb" + "-123456789012-123456789012-", 24, _ALNUM, ""),
    ("sk" + "_live_", 24, _ALNUM, ""),
    ("sk-ant" + "-api03-", 95, _ALNUM, ""),
    ("AIza" + "Sy", 33, _ALNUM, ""),
    ("AKIA", 16, string.ascii_uppercase + "234567", ""),
    ("npm" + "_", 36, _ALNUM, ""),
    ("hf" + "_", 34, string.ascii_letters, ""),
    ("postgres://app:", 20, _ALNUM, "@db.internal:5432/app"),
    ("Authorization: Bearer ", 40, _ALNUM, ""),
    ("API_" + "KEY=", 32, _ALNUM, ""),
    ("SG.", 22, _ALNUM, "." + "k3JvX0pQ7mN2bV5cZ8xL1sD4fG6hJ9aW0eR3tY5uI7o"),
    ("PASSWORD=", 24, _HEX + "GHJKLM", ""),
)


def secrets(count: int = 100, seed: int = 5) -> list[str]:
    draw = random.Random(seed)
    found = []
    for number in range(count):
        begins, length, letters, ends = _SHAPES[number % len(_SHAPES)]
        found.append(begins + "".join(draw.choice(letters) for _ in range(length)) + ends)
    return found
