"""Who answers: a script, or any endpoint that speaks OpenAI's Chat Completions.

EXAMPLE_BASE_URL   where it is, such as http://127.0.0.1:11434/v1; without it, the script answers
EXAMPLE_MODEL      what to ask for
EXAMPLE_API_KEY    if it wants one
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any

__all__ = ["answer"]

#: Seconds from word to word, so that people see it come.
PACE = 0.03


def answer(messages: Sequence[dict[str, Any]]) -> AsyncIterator[str]:
    """The words of an answer, as they come."""
    return _asked(messages) if os.environ.get("EXAMPLE_BASE_URL") else _scripted(messages)


async def _scripted(messages: Sequence[dict[str, Any]]) -> AsyncIterator[str]:
    said = messages[-1]["content"] if messages else ""
    turns = sum(message["role"] == "user" for message in messages)
    for word in f"This is answer {turns}. You said: {said}".split(" "):
        yield f"{word} "
        await asyncio.sleep(PACE)


async def _asked(messages: Sequence[dict[str, Any]]) -> AsyncIterator[str]:
    from openai import AsyncOpenAI

    key = os.environ.get("EXAMPLE_API_KEY", "none")
    client = AsyncOpenAI(base_url=os.environ["EXAMPLE_BASE_URL"], api_key=key)
    model = os.environ.get("EXAMPLE_MODEL", "default")
    request: Any = list(messages)
    async with client:
        async for chunk in await client.chat.completions.create(
            model=model, messages=request, stream=True
        ):
            if chunk.choices and (text := chunk.choices[0].delta.content):
                yield text
