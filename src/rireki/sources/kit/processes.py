"""Whether a process that noted its number somewhere still runs."""

from __future__ import annotations

import os

__all__ = ["is_alive"]


def is_alive(pid: int) -> bool:
    """Whether a process of ours has this number."""
    if pid <= 0:
        return False
    if os.name == "nt":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        # Somebody else's process has the number: ours is gone.
        return False
    except (OSError, OverflowError):
        return False
    return True


def _is_alive_on_windows(pid: int) -> bool:
    """There `os.kill` would end the process instead of asking for it."""
    # Imported late: on Windows alone.
    import ctypes

    query_limited_information, still_active = 0x1000, 259
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - mypy knows no windll elsewhere
    handle = kernel.OpenProcess(query_limited_information, False, pid)
    if not handle:
        return False
    try:
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        return code.value == still_active
    finally:
        kernel.CloseHandle(handle)
