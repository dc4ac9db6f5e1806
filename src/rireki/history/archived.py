"""An archived conversation of any agent as the messages of a history.

What a model would be shown of it: after a compaction the last summary and what followed, without
branches that the person left. What the agent itself no longer has is there as well. Messages are
written in Anthropic's blocks, as histories keep their own, and so can be rendered for everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.model.conversation import Conversation, Reading
from rireki.model.message import Message
from rireki.providers import (
    Call,
    Media,
    NeutralText,
    NeutralThinking,
    Opaque,
    Part,
    Result,
    Turn,
    turns_of,
)

__all__ = ["Archived", "read_archived"]


class Archived(NamedTuple):
    about: Conversation
    messages: list[dict[str, Any]]


def read_archived(archive: Path, name: str, as_of: str | None, everything: bool) -> Archived:
    """The conversation of this name. Raises NotFound or Ambiguous."""
    with closing(open_archive(archive)) as opened:
        found = opened.find(name)
        reading = read_conversation(opened, found, as_of)
        turns = turns_of(_shown(reading, everything), reading.attachment)
        return Archived(found.conversation, list(_messages(turns)))


def _shown(reading: Reading, everything: bool) -> list[Message]:
    messages = reading.messages()
    if everything or reading.shown is None:
        return messages
    by_id = {message.id: message for message in messages}
    return [by_id[id] for id in reading.shown() if id in by_id]


def _messages(turns: list[Turn]) -> Iterator[dict[str, Any]]:
    for turn in turns:
        blocks = [_BLOCKS[type(part)](part) for part in turn.parts]
        role = "system" if turn.role == "instructions" else turn.role
        only = blocks[0] if len(blocks) == 1 else {}
        content = only["text"] if only.keys() == {"type", "text"} else blocks
        yield {"role": role, "content": content}


def _text(part: NeutralText) -> dict[str, Any]:
    return {"type": "text", "text": part.text}


def _thinking(part: NeutralThinking) -> dict[str, Any]:
    # Without a signature: Claude is not told of it, others are, as text.
    return {"type": "thinking", "thinking": part.text}


def _call(part: Call) -> dict[str, Any]:
    given = part.arguments if isinstance(part.arguments, dict) else {"value": part.arguments}
    return {"type": "tool_use", "id": part.id or "", "name": part.name, "input": given}


def _result(part: Result) -> dict[str, Any]:
    inner = [_BLOCKS[type(one)](one) for one in part.content]
    block = {"type": "tool_result", "tool_use_id": part.id or "", "content": inner}
    return {**block, "is_error": True} if part.is_error else block


def _media(part: Media) -> dict[str, Any]:
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    block: dict[str, Any] = {"type": "image" if part.kind == "image" else "document"}
    block["source"] = source if part.url is None else {"type": "url", "url": part.url}
    return {**block, "title": part.name} if part.name and part.kind != "image" else block


def _opaque(part: Opaque) -> dict[str, Any]:
    return {"type": "text", "text": part.text}


_BLOCKS: dict[type[Part], Callable[[Any], dict[str, Any]]] = {
    NeutralText: _text,
    NeutralThinking: _thinking,
    Call: _call,
    Result: _result,
    Media: _media,
    Opaque: _opaque,
}
