"""What Claude Code says of itself while it runs: a small file per process, `sessions/<pid>.json`.

The client rewrites it in place and removes it when it ends; one that was killed
leaves it behind, so a file of a process that is gone says nothing.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from rireki.model.activity import Activity, ActivityState
from rireki.model.times import from_ms
from rireki.sources.claude_code.walk import NAME
from rireki.sources.kit.processes import is_alive

__all__ = ["read_status"]

#: A status is a few hundred bytes; whatever is longer is something else.
MOST = 64 << 10
_STATES: dict[str, ActivityState] = {"busy": "working", "waiting": "answer", "idle": "idle"}
#: All that it says when it waits for a permission; more than that would name what for.
_PERMISSION = "permission prompt"


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
        if status is not None and status.status in _STATES and is_alive(status.pid):
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
    state, detail = _state(status)
    return Activity(
        NAME,
        f"{NAME}/{status.session_id}",
        state,
        detail,
        from_ms(at) if at is not None else None,
    )


def _state(status: _Status) -> tuple[ActivityState, str]:
    """Permissions are its own word for itself; whatever else it waits for is the person's answer."""
    if status.status == "waiting" and status.waiting_for.startswith("permission"):
        return "permission", status.waiting_for.removeprefix(_PERMISSION)
    return _STATES[status.status], status.waiting_for if status.status == "waiting" else ""
