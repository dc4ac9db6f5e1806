"""A history as a session of the OpenAI Agents SDK (`agents.Session`).

    session = HistorySession(MessageHistory.open("support-42"))
    await Runner.run(agent, "hello", session=session)

What is popped or cleared there is hidden here, and stays in the archive.
"""

from __future__ import annotations

from typing import Any, Final

from rireki.history.aio import AsyncMessageHistory
from rireki.history.history import MessageHistory
from rireki.history.inputs import copied
from rireki.providers import INTERRUPTED, plain

__all__ = ["HistorySession"]

_PROVIDER: Final = "responses"


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
        found = await self.history.run(_items)
        if limit is None:
            return found
        return found[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """All of them, or none if it fails."""
        if items:
            given = [copied(plain(item)) for item in items]
            await self.history.run(lambda history: _add(history, given))

    async def pop_item(self) -> Any | None:
        """Hide the latest item, and return it."""
        return await self.history.run(_pop)

    async def clear_session(self) -> None:
        await self.history.clear()


def _items(history: MessageHistory) -> list[Any]:
    # The SDK itself sorts out calls without results: its own items are not repaired here.
    own = all(map(_is_own, history._providers()))
    if own:
        return history.get_messages()
    rendered: list[Any] = [*history.render(_PROVIDER).messages]
    return rendered


def _is_own(provider: str | None) -> bool:
    return provider in (_PROVIDER, None)


def _add(history: MessageHistory, items: list[Any]) -> None:
    with history.transaction():
        for item in items:
            history.add_raw_message(item, provider=_PROVIDER)


def _pop(history: MessageHistory) -> Any | None:
    providers = history._providers()
    if all(map(_is_own, providers)) or providers[-1] == _PROVIDER:
        return history.pop_message()
    # Another provider's message is told as the item that the SDK saw.
    told = [item for item in _items(history) if not _is_made_up(item)]
    history.pop_message()
    return told[-1] if told else None


def _is_made_up(item: dict[str, Any]) -> bool:
    """Whether it only stands in for a result that is not in the history."""
    return str(item.get("output", "")).endswith(INTERRUPTED)
