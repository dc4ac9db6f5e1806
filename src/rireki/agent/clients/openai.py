"""OpenAI's Chat Completions, and the many services that speak it, over the package `openai`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.agent.clients.kit import Client, function_tools, package
from rireki.agent.events import Tell, TextDelta, ThinkingDelta
from rireki.agent.tools import Tool
from rireki.providers import Request, plain

__all__ = ["OpenAI"]

#: How services that show a model's thinking call it.
_THINKING = ("reasoning_content", "reasoning")


class OpenAI(Client):
    provider = "openai"

    def make(self) -> Any:
        return package("openai", "openai").OpenAI()

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        asked = dict(self.options)
        if tools:
            asked["tools"] = function_tools(tools)
        stream = self.sdk.chat.completions.create(
            model=self.model,
            messages=request.messages,
            stream=True,
            stream_options={"include_usage": True},
            **asked,
        )
        answer = _Answer()
        with stream:
            for chunk in stream:
                answer.add(plain(chunk), tell)
        return answer.whole


class _Answer:
    """The completion that a stream of chunks comes to."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {"role": "assistant", "content": None}
        self.choice: dict[str, Any] = {"index": 0, "message": self.message, "finish_reason": None}
        self.whole: dict[str, Any] = {"object": "chat.completion", "choices": [self.choice]}
        self._calls: dict[int, dict[str, Any]] = {}

    def add(self, chunk: dict[str, Any], tell: Tell) -> None:
        for key, value in chunk.items():
            if key not in ("choices", "object") and value is not None:
                self.whole[key] = value
        for choice in chunk.get("choices") or []:
            self.choice["finish_reason"] = (
                choice.get("finish_reason") or self.choice["finish_reason"]
            )
            self._add_delta(choice.get("delta") or {}, tell)

    def _add_delta(self, delta: dict[str, Any], tell: Tell) -> None:
        for key, value in delta.items():
            if key == "tool_calls":
                for call in value or []:
                    self._add_call(call)
            elif key != "role" and isinstance(value, str):
                self.message[key] = (self.message.get(key) or "") + value
                if key == "content" and value:
                    tell(TextDelta(value))
                elif key in _THINKING and value:
                    tell(ThinkingDelta(value))
            elif key != "role" and value is not None:
                self.message[key] = value

    def _add_call(self, piece: dict[str, Any]) -> None:
        index = piece.get("index") or 0
        if index not in self._calls:
            made = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            self._calls[index] = made
            self.message.setdefault("tool_calls", []).append(made)
        call = self._calls[index]
        function = piece.get("function") or {}
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""
        rest = {k: v for k, v in piece.items() if k not in ("index", "function") and v is not None}
        call.update(rest)
