"""OpenAI's Responses, over the package `openai`. Nothing is stored at OpenAI unless asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.agent.clients.kit import Client, package
from rireki.agent.events import Tell, TextDelta, ThinkingDelta
from rireki.agent.tools import Tool
from rireki.errors import RirekiError
from rireki.providers import Request

__all__ = ["Responses"]

#: Models that think; others refuse to be asked for their thoughts.
_REASONING = re.compile(r"(.*/)?(o\d|gpt-5|codex)")


class Responses(Client):
    provider = "responses"

    def make(self) -> Any:
        return package("openai", "openai").OpenAI()

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        asked: dict[str, Any] = {"store": False, **self.options}
        if _REASONING.match(self.model) and not asked["store"]:
            # What is not stored there has to be brought along the next time.
            asked.setdefault("include", ["reasoning.encrypted_content"])
        if request.system is not None:
            asked["instructions"] = request.system
        if tools:
            asked["tools"] = [
                {
                    "type": "function",
                    "name": t.name,
                    "description": t.description,
                    "parameters": t.schema,
                    "strict": False,
                }
                for t in tools
            ]
        stream = self.sdk.responses.create(
            model=self.model, input=request.messages, stream=True, **asked
        )
        with stream:
            return self._read(stream, tell)

    def _read(self, stream: Any, tell: Tell) -> Any:
        for event in stream:
            if event.type == "response.output_text.delta":
                tell(TextDelta(event.delta))
            elif event.type == "response.reasoning_summary_text.delta":
                tell(ThinkingDelta(event.delta))
            elif event.type in ("response.completed", "response.incomplete"):
                return event.response
            elif event.type == "response.failed":
                said = event.response.error
                raise RirekiError("model-failed", model=self.model, why=said and said.message)
        raise RirekiError("answer-broke-off", model=self.model)
