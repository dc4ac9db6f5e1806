"""Gemini, over the package `google-genai`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rireki.agent.clients.kit import Client, package
from rireki.agent.events import Tell, TextDelta, ThinkingDelta
from rireki.agent.tools import Tool
from rireki.providers import Request, plain

__all__ = ["Gemini"]


class Gemini(Client):
    provider = "gemini"

    def make(self) -> Any:
        return package("google.genai", "gemini").Client()

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        types = package("google.genai.types", "gemini")
        # From JSON, because its bytes (pictures, signatures) are base64 there and only there.
        read = types.Content.model_validate_json
        config: dict[str, Any] = {
            **self.options,
            "automatic_function_calling": {"disable": True},
        }
        if request.system is not None:
            said = request.system
            given = said if isinstance(said, str) else read(msgspec.json.encode(said))
            config["system_instruction"] = given
        if tools:
            told = [
                {"name": t.name, "description": t.description, "parameters_json_schema": t.schema}
                for t in tools
            ]
            config["tools"] = [{"function_declarations": told}]
        stream = self.sdk.models.generate_content_stream(
            model=self.model,
            contents=[read(msgspec.json.encode(content)) for content in request.messages],
            config=config,
        )
        answer: dict[str, Any] = {"candidates": []}
        parts: list[Any] = []
        for chunk in stream:
            piece = plain(chunk)
            piece.pop("sdkHttpResponse", None)
            for candidate in (piece.get("candidates") or [])[:1]:
                content = candidate.get("content") or {}
                for part in content.get("parts") or []:
                    _add(parts, part, tell)
                whole = {**candidate, "content": {"role": "model", "parts": parts}}
                answer["candidates"] = [whole]
            answer.update({k: v for k, v in piece.items() if k != "candidates"})
        return answer


def _add(parts: list[Any], part: dict[str, Any], tell: Tell) -> None:
    """One more part; pieces of one text become one."""
    text, thought = part.get("text"), part.get("thought")
    if text:
        tell(ThinkingDelta(text) if thought else TextDelta(text))
    before = parts[-1] if parts else {}
    joins = part.keys() <= {"text", "thought", "thoughtSignature"} and "text" in before
    if joins and before.get("thought") == thought and "thoughtSignature" not in before:
        parts[-1] = {**before, **part, "text": before["text"] + (text or "")}
    elif text or part.keys() - {"text", "thought"}:
        parts.append(part)
