"""The parts of a turn as people are shown them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from rireki.model import parts as model
from rireki.providers import Call, Media, NeutralText, NeutralThinking, Opaque, Part, Result, Turn

__all__ = ["parts_of"]


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
