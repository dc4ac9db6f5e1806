"""The same history for programs with an event loop: every method as a coroutine.

Each history has a thread of its own in which the methods run one after the other, in the order
they were called in; the loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar, overload

from rireki.history.history import QUESTIONS, HistoryNote, MessageHistory, Pending

if TYPE_CHECKING:
    from types import TracebackType

    from rireki.history.journal import Sync
    from rireki.history.window import Counter
    from rireki.providers import Note, Problem, Provider, Request
    from rireki.providers.typed import (
        AnthropicRequest,
        BedrockRequest,
        GeminiRequest,
        OllamaRequest,
        OpenAIRequest,
        ResponsesRequest,
    )
    from rireki.search.results import Hit

__all__ = ["AsyncMessageHistory"]

#: So many messages are copied in about the time that it takes to hand them to another thread.
SMALL = 1000

P = ParamSpec("P")
T = TypeVar("T")


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
        sync: Sync = "os",
        questions: Sequence[str] = QUESTIONS,
        wait: float = 0,
    ) -> Self:
        def opened() -> MessageHistory:
            return MessageHistory.open(
                conversation,
                project,
                title,
                archive,
                read_only,
                sync=sync,
                questions=questions,
                wait=wait,
            )

        return cls(await asyncio.to_thread(opened))

    @classmethod
    async def from_conversation(
        cls,
        name: str,
        conversation: str | None = None,
        archive: str | Path | None = None,
        *,
        as_of: str | None = None,
        everything: bool = False,
        sync: Sync = "os",
        questions: Sequence[str] = QUESTIONS,
    ) -> Self:
        def opened() -> MessageHistory:
            return MessageHistory.from_conversation(
                name,
                conversation,
                archive,
                as_of=as_of,
                everything=everything,
                sync=sync,
                questions=questions,
            )

        return cls(await asyncio.to_thread(opened))

    async def add_user_message(self, content: Any, *, images: Iterable[Any] = ()) -> None:
        await self._run(self.history.add_user_message, content, images=images)

    async def add_raw_message(self, message: Any, *, provider: Provider | None = None) -> None:
        await self._run(self.history.add_raw_message, message, provider=provider)

    async def add_tool_result(
        self,
        tool_use_id: str,
        result: Any,
        tool_name: str = "unknown",
        *,
        is_error: bool = False,
        images: Iterable[Any] = (),
    ) -> None:
        add = self.history.add_tool_result
        await self._run(add, tool_use_id, result, tool_name, is_error=is_error, images=images)

    async def get_messages(self) -> list[Any]:
        if self._is_idle() and len(self.history) <= SMALL:
            return self.history.get_messages()
        return await self._run(self.history.get_messages)

    async def clear(self) -> None:
        await self._run(self.history.clear)

    async def add_system_message(self, content: Any) -> None:
        await self._run(self.history.add_system_message, content)

    async def add_tool_results(self, results: Iterable[Mapping[str, Any] | Sequence[Any]]) -> None:
        await self._run(self.history.add_tool_results, results)

    async def waiting(self, tool_use_id: str) -> None:
        await self._run(self.history.waiting, tool_use_id)

    async def set_title(self, title: str) -> None:
        await self._run(setattr, self.history, "title", title)

    async def turns(self) -> list[list[Any]]:
        return await self._run(self.history.turns)

    async def pending_calls(self) -> list[Pending]:
        return await self._run(self.history.pending_calls)

    async def checkpoint(self) -> str:
        return await self._run(self.history.checkpoint)

    async def branch(self, at: str) -> None:
        await self._run(self.history.branch, at)

    async def pop_message(self) -> Any | None:
        return await self._run(self.history.pop_message)

    async def add_note(self, name: str, value: Any) -> None:
        await self._run(self.history.add_note, name, value)

    async def notes(self, name: str, ever: bool = False) -> list[HistoryNote]:
        return await self._run(self.history.notes, name, ever)

    async def fork(self, conversation: str | None = None, title: str | None = None) -> Self:
        return type(self)(await self._run(self.history.fork, conversation, title))

    async def compact(self, summary: str, keep_turns: int = 0) -> int:
        return await self._run(self.history.compact, summary, keep_turns)

    async def trim(
        self,
        max_tokens: int | None = None,
        turns: int | None = None,
        counter: Counter | None = None,
    ) -> int:
        return await self._run(self.history.trim, max_tokens, turns, counter)

    async def validate(self, provider: Provider, model: str | None = None) -> list[Problem]:
        return await self._run(self.history.validate, provider, model)

    @overload
    async def render(
        self,
        provider: Literal["anthropic"],
        model: str | None = None,
        report: Literal[False] = False,
    ) -> AnthropicRequest: ...

    @overload
    async def render(
        self, provider: Literal["anthropic"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[AnthropicRequest, list[Note]]: ...

    @overload
    async def render(
        self, provider: Literal["openai"], model: str | None = None, report: Literal[False] = False
    ) -> OpenAIRequest: ...

    @overload
    async def render(
        self, provider: Literal["openai"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[OpenAIRequest, list[Note]]: ...

    @overload
    async def render(
        self,
        provider: Literal["responses"],
        model: str | None = None,
        report: Literal[False] = False,
    ) -> ResponsesRequest: ...

    @overload
    async def render(
        self, provider: Literal["responses"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[ResponsesRequest, list[Note]]: ...

    @overload
    async def render(
        self, provider: Literal["gemini"], model: str | None = None, report: Literal[False] = False
    ) -> GeminiRequest: ...

    @overload
    async def render(
        self, provider: Literal["gemini"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[GeminiRequest, list[Note]]: ...

    @overload
    async def render(
        self, provider: Literal["bedrock"], model: str | None = None, report: Literal[False] = False
    ) -> BedrockRequest: ...

    @overload
    async def render(
        self, provider: Literal["bedrock"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[BedrockRequest, list[Note]]: ...

    @overload
    async def render(
        self, provider: Literal["ollama"], model: str | None = None, report: Literal[False] = False
    ) -> OllamaRequest: ...

    @overload
    async def render(
        self, provider: Literal["ollama"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[OllamaRequest, list[Note]]: ...

    @overload
    async def render(
        self, provider: Provider, model: str | None = None, report: Literal[False] = False
    ) -> Request: ...

    @overload
    async def render(
        self, provider: Provider, model: str | None = None, *, report: Literal[True]
    ) -> tuple[Request, list[Note]]: ...

    async def render(
        self, provider: Provider, model: str | None = None, report: bool = False
    ) -> Request | tuple[Request, list[Note]]:
        if report:
            return await self._run(lambda: self.history.render(provider, model, report=True))
        return await self._run(lambda: self.history.render(provider, model))

    async def repair(self) -> list[Pending]:
        return await self._run(self.history.repair)

    async def search(self, query: str, limit: int = 20) -> list[Hit]:
        return await self._run(self.history.search, query, limit)

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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _is_idle(self) -> bool:
        """Whether everything that was called before is done: nobody holds the history then."""
        return self._latest is None or self._latest.done()

    async def _run(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = self._worker.submit(method, *args, **kwargs)
        self._latest = work
        return await asyncio.wrap_future(work)
