"""How much memory there is, and how much of what was freed is given back to the system.

On Linux it holds on to what was freed, and the longer the larger the buffers were: a
keeper that once imported much would look large for ever. A worker, which lives
shortly, would rather have the same memory again. Elsewhere nothing is to be done, and
how much there is nobody asks.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["HEAVY", "free", "give_back", "hold_on", "use_sparingly"]

#: Bytes of records from which on a conversation is read by one process, and indexed a part at a time.
HEAVY = 48 << 20

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


def free() -> int | None:
    """Bytes that this process can still take; None where nobody says."""
    if sys.platform != "linux":
        return None
    return min([*_free_on_machine(), *_free_in_group(), *_free_by_limit()], default=None)


def _free_on_machine() -> list[int]:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return []
    said = {name: int(rest.split()[0]) << 10 for name, _, rest in (s.partition(":") for s in lines)}
    if "MemAvailable" not in said:
        return []
    return [said["MemAvailable"] + said.get("SwapFree", 0)]


def _free_in_group() -> list[int]:
    """What the control group of a service or a container leaves us, where it has a limit."""
    with suppress(OSError, ValueError, StopIteration):
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        own = next(line[3:] for line in groups if line.startswith("0::"))
        folder = Path("/sys/fs/cgroup") / own.lstrip("/")
        most = int((folder / "memory.max").read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        # What is only a copy of files goes as soon as somebody needs the room.
        used = int((folder / "memory.current").read_text()) - int(stat["inactive_file"])
        return [most - used]
    return []


def _free_by_limit() -> list[int]:
    """What the user's limit (`ulimit -v`) leaves us."""
    # Imported late: Windows lacks it.
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return []
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return [most - pages * os.sysconf("SC_PAGE_SIZE")]


@cache
def _function(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
