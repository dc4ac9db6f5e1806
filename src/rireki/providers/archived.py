"""Any archived conversation as neutral turns, so that another model can go on with it.

A person's messages become the user's, an agent's the assistant's. What the program put before
the model stays as marked words of the user; what it only showed to the person stays out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator

from rireki.model import parts as model
from rireki.model.message import Message
from rireki.providers.kit import media_kind
from rireki.providers.neutral import (
    Call,
    Media,
    NeutralText,
    NeutralThinking,
    Note,
    Opaque,
    Part,
    Result,
    Role,
    Turn,
)
from rireki.providers.notes import Notes

__all__ = ["DECISION", "turns_of"]

#: The rule of what a person decided, where it came back to the model as the result of a call.
DECISION = "decision"

Bytes = Callable[[str], bytes | None]


def turns_of(
    messages: Iterable[Message],
    attachment: Bytes = lambda digest: None,
    report: list[Note] | None = None,
) -> list[Turn]:
    """The turns of a conversation; `attachment` finds the bytes of a digest."""
    notes = Notes(report)
    turns: list[Turn] = []
    for message in messages:
        if _stays_out(message):
            continue
        parts = list(_parts(message, attachment, notes, len(turns)))
        if parts:
            turns.append(Turn(_role(message), parts))
    return turns


def _role(message: Message) -> Role:
    if _is_instructions(message):
        return "system"
    return "assistant" if message.author == "agent" else "user"


def _is_instructions(message: Message) -> bool:
    """Instructions that a builder of an agent gave; not what some program put in by itself."""
    return message.author == "harness" and _rule(message) == "system"


def _rule(message: Message) -> str:
    return message.entry.rule if message.entry is not None else ""


def _stays_out(message: Message) -> bool:
    """Hidden, on a branch the person left, told again by a later message, or in a result already."""
    is_told = message.replaced_by is not None or _rule(message) == DECISION
    return message.display == "hidden" or message.abandoned or is_told


def _parts(message: Message, attachment: Bytes, notes: Notes, place: int) -> Iterator[Part]:
    returned: list[NeutralText | Media | Opaque] | None = None
    for part in message.parts:
        if isinstance(part, model.ToolResult):
            returned = _output(part)
            yield Result(part.call_id or None, None, returned, part.status != "ok")
        elif isinstance(part, model.Attachment):
            media = _media(part, attachment, notes, place)
            if returned is None:
                yield media
            else:
                # A picture behind a result is what the tool returned.
                returned.append(media)
        else:
            yield from _said(part, message)


def _said(part: model.Part, message: Message) -> Iterator[Part]:
    if isinstance(part, model.Text):
        if part.text:
            yield NeutralText(_marked(part.text, message))
    elif isinstance(part, model.Thinking):
        yield NeutralThinking(part.text)
    elif isinstance(part, model.ToolCall):
        yield Call(part.call_id or None, part.name, part.arguments)


def _marked(text: str, message: Message) -> str:
    """Words of the program, told from the person's by a line that names them."""
    # What a person was asked is the program's words as well, whoever decided it.
    by_program = message.author == "harness" or _rule(message) == "ask"
    if not by_program or message.display == "bubble" or _is_instructions(message):
        return text
    return f"[{message.label or 'program'}]\n{text}"


def _output(part: model.ToolResult) -> list[NeutralText | Media | Opaque]:
    if not part.output and part.status != "ok":
        return [NeutralText(part.status)]
    return [NeutralText(part.output)] if part.output else []


def _media(
    part: model.Attachment, attachment: Bytes, notes: Notes, place: int
) -> NeutralText | Media:
    kind = media_kind(part.media_type)
    data = attachment(part.digest) if part.digest else None
    if data is None:
        what = part.name or part.media_type
        notes.add("media-as-text", place, f"the bytes of the {kind} {what} are not archived")
        return NeutralText(f"[{kind} {what}: not archived]")
    return Media(kind, part.media_type, base64.b64encode(data).decode(), None, part.name)
