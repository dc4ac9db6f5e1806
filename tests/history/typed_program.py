"""A program that renders, as type checkers read it: a line with `type: ignore` is wrong, no other is.

mypy says so of each that is not (`make types`): a misspelled provider is an error, messages have types.
"""

# ruff: noqa: B018, F841 - it is never run

from __future__ import annotations

from anthropic import Anthropic
from openai import OpenAI

from rireki import AsyncMessageHistory, MessageHistory
from rireki.providers import Provider


def program(history: MessageHistory, provider: Provider, name: str) -> None:
    history.render("antropic")  # type: ignore[call-overload]
    history.validate("antropic")  # type: ignore[arg-type]
    history.add_raw_message({}, provider="antropic")  # type: ignore[arg-type]
    history.render(name)  # type: ignore[call-overload]
    history.render(provider)
    claude = history.render("anthropic")
    claude.messages[0]["rolle"]  # type: ignore[typeddict-item]
    claude.messages[0]["role"]
    system: int = claude.system  # type: ignore[assignment]
    request, notes = history.render("openai", "gpt-5", report=True)
    notes[0].code
    OpenAI().chat.completions.create(model="gpt-5", messages=request.messages)
    OpenAI().responses.create(model="gpt-5", input=history.render("responses").messages)
    Anthropic().messages.create(model="any", max_tokens=9, messages=claude.messages)
    Anthropic().messages.create(model="any", max_tokens=9, messages=request.messages)  # type: ignore[arg-type]
    history.render("bedrock").messages[0]["parts"]  # type: ignore[typeddict-item]
    history.render("ollama").messages[0].get("tool_name")


async def later(history: AsyncMessageHistory) -> None:
    await history.render("antropic")  # type: ignore[call-overload]
    (await history.render("gemini")).messages[0]["content"]  # type: ignore[typeddict-item]
    (await history.render("gemini")).messages[0].get("parts")
