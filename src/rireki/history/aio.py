"""The same history for programs with an event loop: every method as a coroutine.

Each history has a thread of its own in which the methods run one after the other, in the order
they were called in; the loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from rireki.history.history import QUESTIONS, MessageHistory

if TYPE_CHECKING:
    from rireki.history.journal import Sync

__all__ = ["AsyncMessageHistory"]

#: So many messages are copied in about the time that it takes to hand them to another thread.
SMALL = 1000

P = ParamSpec("P")
T = TypeVar("T")


def _in_its_thread(
    method: Callable[Concatenate[MessageHistory, P], T],
) -> Callable[Concatenate[AsyncMessageHistory, P], Coroutine[Any, Any, T]]:
    """The same method as a coroutine, with its signature, its types and what is written about it."""

    @wraps(method)
    async def run(self: AsyncMessageHistory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        # By its name: a program may have put a method of its own in place of it.
        own: Callable[P, T] = getattr(self.history, method.__name__)
        return await self._run(own, *args, **kwargs)

    return run


class AsyncMessageHistory:
    """A history behind coroutines. What was begun is finished, although its caller is cancelled."""

    def __init__(self, history: MessageHistory | None = None) -> None:
        self.history = history if history is not None else MessageHistory()
        # Its thread is made when it is first needed.
        self._worker = ThreadPoolExecutor(1, "rireki-history")
        #: The last call that was made: those before it are done before it.
        self._latest: Future[Any] | None = None

    @classmethod
    async def open(
        cls,
        conversation: str | None = None,
        project: str | Path | None = None,
        title: str | None = None,
        archive: str | Path | None = None,
        read_only: bool = False,
        *,
        store: str | None = None,
        sync: Sync = "os",
        questions: Sequence[str] = QUESTIONS,
        wait: float = 0,
    ) -> Self:
        opened = await asyncio.to_thread(
            MessageHistory.open,
            conversation,
            project,
            title,
            archive,
            read_only,
            store=store,
            sync=sync,
            questions=questions,
            wait=wait,
        )
        return cls(opened)

    @classmethod
    async def from_conversation(
        cls,
        name: str,
        conversation: str | None = None,
        archive: str | Path | None = None,
        *,
        store: str | None = None,
        as_of: str | None = None,
        everything: bool = False,
        sync: Sync = "os",
        questions: Sequence[str] = QUESTIONS,
    ) -> Self:
        opened = await asyncio.to_thread(
            MessageHistory.from_conversation,
            name,
            conversation,
            archive,
            store=store,
            as_of=as_of,
            everything=everything,
            sync=sync,
            questions=questions,
        )
        return cls(opened)

    add_user_message = _in_its_thread(MessageHistory.add_user_message)
    add_raw_message = _in_its_thread(MessageHistory.add_raw_message)
    add_tool_result = _in_its_thread(MessageHistory.add_tool_result)
    clear = _in_its_thread(MessageHistory.clear)
    add_system_message = _in_its_thread(MessageHistory.add_system_message)
    add_tool_results = _in_its_thread(MessageHistory.add_tool_results)
    waiting = _in_its_thread(MessageHistory.waiting)
    turns = _in_its_thread(MessageHistory.turns)
    pending_calls = _in_its_thread(MessageHistory.pending_calls)
    checkpoint = _in_its_thread(MessageHistory.checkpoint)
    branch = _in_its_thread(MessageHistory.branch)
    pop_message = _in_its_thread(MessageHistory.pop_message)
    add_note = _in_its_thread(MessageHistory.add_note)
    notes = _in_its_thread(MessageHistory.notes)
    compact = _in_its_thread(MessageHistory.compact)
    trim = _in_its_thread(MessageHistory.trim)
    validate = _in_its_thread(MessageHistory.validate)
    render = _in_its_thread(MessageHistory.render)
    repair = _in_its_thread(MessageHistory.repair)
    search = _in_its_thread(MessageHistory.search)

    async def get_messages(self) -> list[Any]:
        history = self.history
        if self._is_idle() and len(history) <= SMALL and not history._asks_a_server:
            return self.history.get_messages()
        return await self._run(self.history.get_messages)

    async def set_title(self, title: str) -> None:
        await self._run(setattr, self.history, "title", title)

    async def fork(self, conversation: str | None = None, title: str | None = None) -> Self:
        return type(self)(await self._run(self.history.fork, conversation, title))

    @property
    def id(self) -> str | None:
        return self.history.id

    @property
    def title(self) -> str | None:
        return self.history.title

    @property
    def messages(self) -> list[Any]:
        return self.history.messages

    @property
    def troubles(self) -> list[str]:
        return self.history.troubles

    async def run(self, work: Callable[[MessageHistory], T]) -> T:
        """Do something with the history itself, in its thread and in its turn: a transaction, say."""
        return await self._run(work, self.history)

    async def close(self) -> None:
        """After everything that was called before it."""
        await self._run(self.history.close)
        self._worker.shutdown(wait=False)
        # What is called now is told that it is closed, as it is without an event loop.
        self._worker = ThreadPoolExecutor(1, "rireki-history")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def _is_idle(self) -> bool:
        """Whether everything that was called before is done: nobody holds the history then."""
        return self._latest is None or self._latest.done()

    async def _run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = self._worker.submit(method, *args, **kwargs)
        self._latest = work
        return await asyncio.wrap_future(work)
