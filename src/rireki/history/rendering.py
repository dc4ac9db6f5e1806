"""`render`, with a type of its own for each provider: a name that is none is an error for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from rireki.history import late
from rireki.history.core import Core

if TYPE_CHECKING:
    from rireki.providers import Note, Provider, Request
    from rireki.providers.typed import (
        AnthropicRequest,
        BedrockRequest,
        GeminiRequest,
        OllamaRequest,
        OpenAIRequest,
        ResponsesRequest,
    )

__all__ = ["Rendering"]


class Rendering(Core):
    """What a history is for a provider."""

    @overload
    def render(
        self,
        provider: Literal["anthropic"],
        model: str | None = None,
        report: Literal[False] = False,
    ) -> AnthropicRequest: ...

    @overload
    def render(
        self, provider: Literal["anthropic"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[AnthropicRequest, list[Note]]: ...

    @overload
    def render(
        self, provider: Literal["openai"], model: str | None = None, report: Literal[False] = False
    ) -> OpenAIRequest: ...

    @overload
    def render(
        self, provider: Literal["openai"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[OpenAIRequest, list[Note]]: ...

    @overload
    def render(
        self,
        provider: Literal["responses"],
        model: str | None = None,
        report: Literal[False] = False,
    ) -> ResponsesRequest: ...

    @overload
    def render(
        self, provider: Literal["responses"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[ResponsesRequest, list[Note]]: ...

    @overload
    def render(
        self, provider: Literal["gemini"], model: str | None = None, report: Literal[False] = False
    ) -> GeminiRequest: ...

    @overload
    def render(
        self, provider: Literal["gemini"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[GeminiRequest, list[Note]]: ...

    @overload
    def render(
        self, provider: Literal["bedrock"], model: str | None = None, report: Literal[False] = False
    ) -> BedrockRequest: ...

    @overload
    def render(
        self, provider: Literal["bedrock"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[BedrockRequest, list[Note]]: ...

    @overload
    def render(
        self, provider: Literal["ollama"], model: str | None = None, report: Literal[False] = False
    ) -> OllamaRequest: ...

    @overload
    def render(
        self, provider: Literal["ollama"], model: str | None = None, *, report: Literal[True]
    ) -> tuple[OllamaRequest, list[Note]]: ...

    @overload
    def render(
        self, provider: Provider, model: str | None = None, report: Literal[False] = False
    ) -> Request: ...

    @overload
    def render(
        self, provider: Provider, model: str | None = None, *, report: Literal[True]
    ) -> tuple[Request, list[Note]]: ...

    def render(
        self, provider: Provider, model: str | None = None, report: bool = False
    ) -> Request | tuple[Request, list[Note]]:
        """The request that the provider's package takes, repaired on a copy; the history stays as it is.

        With `report`, also what could not be carried over.
        """
        with self._lock:
            turns = self._turns()
            if not report:
                return self._renderer(provider, model).render(turns, self._log.view.revision)
            notes: list[Note] = []
            made = late.providers.encode(provider, turns, model, notes)
            copied_json = late.prefix.copied_json
            return type(made)(copied_json(made.messages), copied_json(made.system)), notes
