"""rireki (履歴): the one home for every conversation people have with AI agents.

What stands in `__all__` is public; docs/python.md says what each name is for, and how long it stays.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rireki.agent import Agent
    from rireki.errors import Ambiguous, ArchiveTrouble, NotFound, RirekiError, SourceTrouble
    from rireki.history import (
        AsyncMessageHistory,
        HistoryConflict,
        MessageHistory,
        Pending,
    )
    from rireki.library import Library, open
    from rireki.live.feed import News
    from rireki.model.conversation import Conversation
    from rireki.model.message import Message
    from rireki.search.language.query import QueryError
    from rireki.search.results import Results
    from rireki.show.transcript import Transcript

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "Ambiguous",
    "ArchiveTrouble",
    "AsyncMessageHistory",
    "Conversation",
    "HistoryConflict",
    "Library",
    "Message",
    "MessageHistory",
    "News",
    "NotFound",
    "Pending",
    "QueryError",
    "Results",
    "RirekiError",
    "SourceTrouble",
    "Transcript",
    "__version__",
    "open",
]

#: Where each name is defined. They are imported when they are asked for: commands need none of them.
_MODULES = {
    "rireki.agent": ("Agent",),
    "rireki.errors": ("Ambiguous", "ArchiveTrouble", "NotFound", "RirekiError", "SourceTrouble"),
    "rireki.history": ("AsyncMessageHistory", "HistoryConflict", "MessageHistory", "Pending"),
    "rireki.library": ("Library", "open"),
    "rireki.live.feed": ("News",),
    "rireki.model.conversation": ("Conversation",),
    "rireki.model.message": ("Message",),
    "rireki.search.language.query": ("QueryError",),
    "rireki.search.results": ("Results",),
    "rireki.show.transcript": ("Transcript",),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            # Imported late: `import rireki` is cheap.
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
