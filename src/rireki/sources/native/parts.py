"""Turns as people are shown them: their parts, ids for calls and results that came without any, and what
the answers of providers say of themselves (the model, the tokens, their own id)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from rireki.journals.history_entry import JournalEntry
from rireki.model import parts as model
from rireki.model.conversation import Answer
from rireki.model.message import Usage
from rireki.model.providers import PROVIDERS
from rireki.model.times import from_iso
from rireki.providers import Call, Media, NeutralText, NeutralThinking, Opaque, Part, Result, Turn
from rireki.providers.pairing import pair
from rireki.providers.registry import provider_named
from rireki.sources.kit.fields import get, string

__all__ = ["Calls", "answer_of", "model_of", "parts_of"]


def parts_of(turn: Turn, chosen: Callable[[int], bool], ids: Sequence[str]) -> list[model.Part]:
    """The chosen parts of a turn; `ids` has the id of each call and result."""
    found: list[model.Part] = []
    for index, part in enumerate(turn.parts):
        if chosen(index):
            found += _shown(part, ids[index])
    return found


def _shown(part: Part, id: str) -> Iterator[model.Part]:
    if isinstance(part, NeutralText):
        if part.text:
            yield model.Text(part.text)
    elif isinstance(part, NeutralThinking):
        yield model.Thinking(part.text) if part.text else model.Unknown("hidden thinking", part.raw)
    elif isinstance(part, Call):
        yield model.ToolCall(id, part.name, part.arguments)
    elif isinstance(part, Result):
        yield from _result(part, id)
    elif isinstance(part, Media):
        yield _attachment(part)
    else:
        yield _unknown(part)


def _result(part: Result, id: str) -> Iterator[model.Part]:
    said = [one.text for one in part.content if isinstance(one, NeutralText | Opaque)]
    output = "\n".join(text for text in said if text)
    yield model.ToolResult(id, "error" if part.is_error else "ok", output)
    for one in part.content:
        if isinstance(one, Media):
            yield _attachment(one)
        elif isinstance(one, Opaque) and not one.text:
            yield _unknown(one)


def _attachment(part: Media) -> model.Part:
    if part.data is None:
        return model.Attachment(part.media_type, name=part.name or part.url or "")
    try:
        data = base64.b64decode(part.data)
    except (binascii.Error, ValueError):
        return model.Unknown(f"{part.kind} that is not base64", part.raw)
    return model.Attachment(part.media_type, sha256(data).hexdigest(), part.name, len(data))


def _unknown(part: Opaque) -> model.Unknown:
    kind = part.raw.get("type") if isinstance(part.raw, dict) else None
    return model.Unknown(kind if isinstance(kind, str) else "block", part.raw)


def model_of(entry: JournalEntry) -> str | None:
    """The model that answered, where the answer was kept whole."""
    if not entry.more.get("answer"):
        return None
    return string(entry.raw, "model") or string(entry.raw, "modelVersion") or None


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
    key = string(entry.raw, "id") or string(entry.raw, "responseId") or entry.id
    usage = Usage(read, written, cached, stored)
    return Answer(key, model_of(entry) or "unknown", usage, from_iso(entry.at))


def _count(value: Any, path: str) -> int:
    """The number at a path, if there is one that a count can be."""
    value = get(value, *path.split(".")) if path else None
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53
    return value if sound else 0


class Calls:
    """Goes along the turns of a story, in their order."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.asked = pair(turns).asked
        self.place = 0
        #: The ids given so far, by turn and part.
        self.given: dict[tuple[int, int], str] = {}
        #: The tool behind each call.
        self.tools: dict[str, str] = {}

    def skip(self, entry: JournalEntry) -> None:
        """The turns of an entry that is told in another way."""
        self.place += sum(len(turns) for turns in entry.turns)

    def next(self, turn: Turn, name: str) -> list[str]:
        """The id of each part of the next turn that is a call or a result; else empty."""
        assert turn is self.turns[self.place]
        ids = [self._id((self.place, index), part, name) for index, part in enumerate(turn.parts)]
        self.place += 1
        return ids

    def _id(self, spot: tuple[int, int], part: object, name: str) -> str:
        if isinstance(part, Call):
            id = part.id or f"{name}:{spot[1]}"
            self.tools[id] = part.name
        elif isinstance(part, Result):
            id = part.id or self.given.get(self.asked.get(spot, (-1, -1)), "")
        else:
            return ""
        self.given[spot] = id
        return id
