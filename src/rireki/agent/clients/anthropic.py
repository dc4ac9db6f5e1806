"""Claude, over the package `anthropic`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.agent.clients.kit import Client, package
from rireki.agent.events import Tell, TextDelta, ThinkingDelta
from rireki.agent.tools import Tool
from rireki.providers import Request

__all__ = ["Anthropic"]


class Anthropic(Client):
    provider = "anthropic"

    def make(self) -> Any:
        return package("anthropic", "anthropic").Anthropic()

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        asked: dict[str, Any] = {"max_tokens": 8192, **self.options}
        if request.system is not None:
            asked["system"] = request.system
        if tools:
            asked["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": t.schema}
                for t in tools
            ]
        with self.sdk.messages.stream(
            model=self.model, messages=request.messages, **asked
        ) as stream:
            for event in stream:
                if event.type == "text":
                    tell(TextDelta(event.text))
                elif event.type == "thinking":
                    tell(ThinkingDelta(event.thinking))
            return stream.get_final_message()
