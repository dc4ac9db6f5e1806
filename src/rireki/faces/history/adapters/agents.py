"""A history as a session of the OpenAI Agents SDK (`agents.Session`).

    session = HistorySession(MessageHistory.open("support-42"))
    await Runner.run(agent, "hello", session=session)

What is popped or cleared there is hidden here, and stays in the archive.
"""

from __future__ import annotations

from typing import Any

from rireki.errors import RirekiError
from rireki.faces.history.aio import AsyncMessageHistory
from rireki.faces.history.given import Given, copied, kind_of
from rireki.faces.history.history import MessageHistory
from rireki.providers import detect, plain

__all__ = ["HistorySession"]

_PROVIDER = "responses"
#: Entries that change what is shown without being a message: going back would undo them.
_HIDING = frozenset({"trim", "summary", "repair", "edit"})


class HistorySession:
    """Keeps items as they are given. A history of another provider is told as Responses items."""

    #: The SDK's own settings, such as a limit for every run.
    session_settings: Any = None

    def __init__(self, history: MessageHistory | AsyncMessageHistory | None = None) -> None:
        given = MessageHistory() if history is None else history
        self.history = (
            given if isinstance(given, AsyncMessageHistory) else AsyncMessageHistory(given)
        )
        self.session_id = given.id or "in-memory"

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """All items, or the latest ones, in the order they were added."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        found: list[Any] = await self._run(_items)
        if limit is None:
            return found
        return found[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """All of them, or none if it fails."""
        if items:
            await self._run(_add, [plain(item) for item in items])

    async def pop_item(self) -> Any | None:
        """Hide the latest item, and return it."""
        return await self._run(_pop)

    async def clear_session(self) -> None:
        await self.history.clear()

    async def _run(self, work: Any, *args: Any) -> Any:
        return await self.history._run(work, self.history.history, *args)


def _items(history: MessageHistory) -> list[Any]:
    with history._lock:
        foreign = any(detect(message) not in (_PROVIDER, None) for message in history.messages)
        # The SDK itself sorts out calls without results: its own items are not repaired here.
        return history.render(_PROVIDER).messages if foreign else history.get_messages()


def _add(history: MessageHistory, items: list[Any]) -> None:
    kinds = [kind_of(Given(item)) for item in items]
    pairs = zip(kinds, items, strict=True)
    history._record([history._entry(kind, copied(item), _PROVIDER) for kind, item in pairs])


def _pop(history: MessageHistory) -> Any | None:
    with history._lock:
        history._settle()
        log = history._log
        if not log.view.items:
            return None
        latest, message = log.view.items[-1]
        later = list(log.chain(log.head))
        if any(entry.kind in _HIDING for entry in later[later.index(latest) :]):
            raise RirekiError(
                f"the last item of {history._name} cannot be taken back: the history was "
                "shortened or repaired after it",
                "Add to it instead, or clear it.",
            )
        popped = _items(history)[-1]
        # An answer that was kept whole may hold several items.
        siblings = [m for entry, m in log.view.items if entry is latest and m is not message]
        history.branch(log.parents[latest.id] or "")
        if siblings:
            _add(history, siblings)
        return popped
