"""How much freed memory is given back to the system, where the C library lets us say.

On Linux it holds on to what was freed, and the longer the larger the buffers were: a
keeper that once imported much would look large for ever. A worker, which lives
shortly, would rather have the same memory again. Elsewhere nothing is to be done.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

__all__ = ["give_back", "hold_on", "use_sparingly"]

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
#: Buffers of this size are taken from the system each by itself, and go back when they are freed.
BIG = 128 << 10
#: The same for those who hold on, what they keep at most, and how much they take at a time.
HUGE, KEPT, STEP = 32 << 20, 64 << 20, 4 << 20


def use_sparingly() -> None:
    """Before much is taken in: big buffers are not mixed with small ones."""
    if setting := _function("mallopt"):
        setting(_MMAP_THRESHOLD, BIG)


def hold_on() -> None:
    """Before buffers of all sizes are taken and freed again and again."""
    if setting := _function("mallopt"):
        setting(_MMAP_THRESHOLD, HUGE)
        setting(_TRIM_THRESHOLD, KEPT)
        setting(_TOP_PAD, STEP)


def give_back() -> None:
    if trim := _function("malloc_trim"):
        trim(0)


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
