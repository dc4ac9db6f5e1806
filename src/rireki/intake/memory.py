"""Memory that an import took and no longer needs, given back to the system.

The C library on Linux holds on to what was freed, and the longer the larger the
buffers were: a keeper that once imported much would look large for ever. Elsewhere
nothing is to be done.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

__all__ = ["give_back", "use_sparingly"]

_MMAP_THRESHOLD = -3
#: Buffers of this size are taken from the system each by itself, and go back when they are freed.
BIG = 128 << 10


def use_sparingly() -> None:
    """Before much is taken in: big buffers are not mixed with small ones."""
    if setting := _function("mallopt"):
        setting(_MMAP_THRESHOLD, BIG)


def give_back() -> None:
    if trim := _function("malloc_trim"):
        trim(0)


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
