"""rireki (履歴): the one home for every conversation people have with AI agents."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rireki.agent import Agent
    from rireki.history import (
        AsyncMessageHistory,
        HistoryConflict,
        MessageHistory,
        Pending,
    )

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "AsyncMessageHistory",
    "HistoryConflict",
    "MessageHistory",
    "Pending",
    "__version__",
]


def __getattr__(name: str) -> object:
    """The library's names, imported when they are asked for: commands do not need them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "Agent":
        from rireki.agent import Agent

        return Agent
    from rireki import history

    return getattr(history, name)
