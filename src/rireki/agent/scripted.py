"""A model that says what it was told to say: for tests and demonstrations, without a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rireki.agent.events import Tell
from rireki.agent.tools import Tool
from rireki.errors import RirekiError
from rireki.providers import Request

__all__ = ["Scripted"]


class Scripted:
    """Answers are texts, messages in the provider's form, errors to raise, or functions of the
    request that return one of these."""

    def __init__(
        self, answers: Iterable[Any], *, provider: str = "anthropic", model: str = "scripted"
    ) -> None:
        self.provider = provider
        self.model = model
        self.requests: list[Request] = []
        self._answers = iter(answers)

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        self.requests.append(request)
        answer = next(self._answers, None)
        if callable(answer):
            answer = answer(request)
        if answer is None:
            raise RirekiError("script-ended", n=len(self.requests) - 1)
        if isinstance(answer, Exception):
            raise answer
        return {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
