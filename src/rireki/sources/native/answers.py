"""What the answers of providers say of themselves: the model, the tokens, their own id."""

from __future__ import annotations

from typing import Any

from rireki.model.conversation import Answer
from rireki.model.message import Usage
from rireki.model.providers import PROVIDERS
from rireki.model.times import from_iso
from rireki.providers.registry import provider_named
from rireki.sources.native.entry import JournalEntry

__all__ = ["answer_of", "model_of"]


def model_of(entry: JournalEntry) -> str | None:
    """The model that answered, where the answer was kept whole."""
    if not entry.more.get("answer") or not isinstance(entry.raw, dict):
        return None
    name = entry.raw.get("model") or entry.raw.get("modelVersion")
    return name if isinstance(name, str) else None


def answer_of(entry: JournalEntry) -> Answer | None:
    """The tokens of an answer that was kept whole; the same answer in a fork has the same key."""
    if entry.provider not in PROVIDERS or not entry.more.get("answer"):
        return None
    names = provider_named(entry.provider).usage
    read, written, cached, stored, thoughts = (_count(entry.raw, path) for path in names[:5])
    written += thoughts
    if not (read or written):
        return None
    if names.inclusive:
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
