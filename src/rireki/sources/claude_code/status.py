"""What Claude Code says of itself while it runs: a small file per process, `sessions/<pid>.json`.

The client rewrites it in place and removes it when it ends; one that was killed
leaves it behind, so a file of a process that is gone says nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rireki.model.activity import Activity, ActivityState
from rireki.model.times import from_ms
from rireki.sources.claude_code.walk import NAME

__all__ = ["read_status"]

#: A status is a few hundred bytes; whatever is longer is something else.
MOST = 64 << 10
_STATES: dict[str, ActivityState] = {"busy": "working", "waiting": "waiting", "idle": "idle"}


class _Status(msgspec.Struct, rename="camel"):
    pid: int
    session_id: str
    status: str = ""
    waiting_for: str = ""
    status_updated_at: float | None = None
    updated_at: float | None = None


def read_status(root: Path) -> list[Activity]:
    """What the clients that run now are doing. A headless one does not say: it is left out."""
    found = []
    for path in _files(root / "sessions"):
        status = _read(path)
        if status is not None and status.status in _STATES and _is_alive(status.pid):
            found.append(_activity(status))
    return found


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(".json"))
    except OSError:
        return []


def _read(path: Path) -> _Status | None:
    """None for what is not there any more, half written, or no status."""
    try:
        if not path.is_file() or path.stat().st_size > MOST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=_Status, strict=False)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _activity(status: _Status) -> Activity:
    at = status.status_updated_at or status.updated_at
    return Activity(
        NAME,
        f"{NAME}/{status.session_id}",
        _STATES[status.status],
        status.waiting_for if status.status == "waiting" else "",
        from_ms(at) if at is not None else None,
    )


def _is_alive(pid: int) -> bool:
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
