"""What the answers of six providers say of themselves: the model, the tokens, their own id."""

from __future__ import annotations

from typing import Any

from rireki.model.conversation import Answer
from rireki.model.message import Usage
from rireki.model.times import from_iso
from rireki.sources.native.entry import JournalEntry

__all__ = ["answer_of", "model_of"]

#: Where the counts stand, by provider: input, output, read from the cache, written to it.
_COUNTS: dict[str, tuple[str, str, str, str]] = {
    "anthropic": (
        "usage.input_tokens",
        "usage.output_tokens",
        "usage.cache_read_input_tokens",
        "usage.cache_creation_input_tokens",
    ),
    "openai": (
        "usage.prompt_tokens",
        "usage.completion_tokens",
        "usage.prompt_tokens_details.cached_tokens",
        "",
    ),
    "responses": (
        "usage.input_tokens",
        "usage.output_tokens",
        "usage.input_tokens_details.cached_tokens",
        "",
    ),
    "gemini": (
        "usageMetadata.promptTokenCount",
        "usageMetadata.candidatesTokenCount",
        "usageMetadata.cachedContentTokenCount",
        "",
    ),
    "bedrock": (
        "usage.inputTokens",
        "usage.outputTokens",
        "usage.cacheReadInputTokens",
        "usage.cacheWriteInputTokens",
    ),
    "ollama": ("prompt_eval_count", "eval_count", "", ""),
}
#: Providers whose count of the input has what came from the cache in it.
_INCLUSIVE = frozenset({"openai", "responses", "gemini"})
_THOUGHTS = "usageMetadata.thoughtsTokenCount"


def model_of(entry: JournalEntry) -> str | None:
    """The model that answered, where the answer was kept whole."""
    if not entry.more.get("answer") or not isinstance(entry.raw, dict):
        return None
    name = entry.raw.get("model") or entry.raw.get("modelVersion")
    return name if isinstance(name, str) else None


def answer_of(entry: JournalEntry) -> Answer | None:
    """The tokens of an answer that was kept whole; the same answer in a fork has the same key."""
    counts = _COUNTS.get(entry.provider or "")
    if counts is None or not entry.more.get("answer"):
        return None
    read, written, cached, stored = (_count(entry.raw, path) for path in counts)
    if entry.provider == "gemini":
        written += _count(entry.raw, _THOUGHTS)
    if not (read or written):
        return None
    if entry.provider in _INCLUSIVE:
        read = max(0, read - cached)
    own = entry.raw.get("id") or entry.raw.get("responseId")
    key = own if isinstance(own, str) else entry.id
    usage = Usage(read, written, cached, stored)
    return Answer(key, model_of(entry) or "unknown", usage, from_iso(entry.at))


def _count(value: Any, path: str) -> int:
    """The number at a path, if it is one that a count can be."""
    for name in path.split(".") if path else ():
        value = value.get(name) if isinstance(value, dict) else None
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53
    return value if sound else 0
