"""The library's face: histories that agent builders keep, in memory or for good.

`MessageHistory` is the same in memory and on disk; `AsyncMessageHistory` is for programs with an
event loop. What builds on them (an agent's loop, clients of models, adapters for other libraries)
gets modules of its own here, and uses the public methods alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rireki.history.history import HistoryNote, MessageHistory, Pending

if TYPE_CHECKING:
    from rireki.history.aio import AsyncMessageHistory
    from rireki.history.journal import HistoryConflict

__all__ = ["AsyncMessageHistory", "HistoryConflict", "MessageHistory", "HistoryNote", "Pending"]

#: Only programs with an event loop, or with a history on disk, need these.
_LATE = {
    "AsyncMessageHistory": "rireki.history.aio",
    "HistoryConflict": "rireki.history.journal",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Imported late: a history in memory does without.
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)
