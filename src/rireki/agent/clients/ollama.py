"""Models that run on Ollama, over the package `ollama`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rireki.agent.clients.kit import Client, function_tools, package
from rireki.agent.events import Tell, TextDelta, ThinkingDelta
from rireki.agent.tools import Tool
from rireki.providers import Request, plain

__all__ = ["Ollama"]


class Ollama(Client):
    provider = "ollama"

    def make(self) -> Any:
        return package("ollama", "ollama").Client()

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        stream = self.sdk.chat(
            model=self.model,
            messages=request.messages,
            tools=_known(function_tools(tools)),
            stream=True,
            **self.options,
        )
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        answer: dict[str, Any] = {}
        for chunk in stream:
            piece = plain(chunk)
            said = piece.get("message") or {}
            if said.get("thinking"):
                message["thinking"] = message.get("thinking", "") + said["thinking"]
                tell(ThinkingDelta(said["thinking"]))
            if said.get("content"):
                message["content"] += said["content"]
                tell(TextDelta(said["content"]))
            if said.get("tool_calls"):
                message["tool_calls"] = [*message.get("tool_calls", []), *said["tool_calls"]]
            answer |= {k: v for k, v in piece.items() if v is not None}
        return {**answer, "message": message}


#: What the package sends of a parameter's schema; the rest it drops without a word.
_SENT = frozenset({"type", "items", "description", "enum"})


def _known(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tools with what the package would drop told in the descriptions of their parameters."""
    for told in tools:
        function = told["function"]
        properties = function["parameters"].get("properties", {})
        said = {name: _property(schema) for name, schema in properties.items()}
        function["parameters"] = {**function["parameters"], "properties": said}
    return tools


def _property(schema: dict[str, Any]) -> dict[str, Any]:
    choices = schema.get("anyOf", [])
    if choices and all(choice.keys() == {"type"} for choice in choices):
        schema = {**schema, "type": [choice["type"] for choice in choices]}
        del schema["anyOf"]
    lost = {key: value for key, value in schema.items() if key not in _SENT and value is not None}
    if not lost:
        return schema
    note = f"JSON schema: {msgspec.json.encode(lost).decode()}"
    return {**schema, "description": f"{schema.get('description', '')} {note}".strip()}
