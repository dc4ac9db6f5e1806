"""A conversation as a session trace of the Hugging Face Hub (STS): a header line, a line per message.

The form has words, thoughts, calls and results. What else there is, the header counts as left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rireki import __version__
from rireki.model.message import Message
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.times import to_datetime
from rireki.show.json import line

if TYPE_CHECKING:
    from rireki.show.formats import FormatOptions
    from rireki.show.transcript import Transcript

__all__ = ["write"]

_ROLES = {"person": "user", "agent": "assistant", "harness": "system", "tool": "system"}


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """The newest version: what was left, or told anew, is no part of the trace."""
    told = [one for one in transcript.messages if not one.abandoned and one.replaced_by is None]
    yield line(_header(transcript, told, options)) + "\n"
    for message in told:
        for value in _lines(message):
            yield line({"type": "message", "message": value}) + "\n"


def _header(
    transcript: Transcript, told: Sequence[Message], options: FormatOptions
) -> dict[str, Any]:
    about = transcript.conversation
    parts = [part for message in told for part in message.parts]
    counted = {
        "attachments": sum(isinstance(part, Attachment) for part in parts),
        "parts that were not understood": sum(isinstance(part, Unknown) for part in parts),
        "messages of earlier versions": len(transcript.messages) - len(told),
        "sub-agents": len(transcript.children),
    }
    left_out = {name: count for name, count in counted.items() if count}
    for name, count in left_out.items():
        if options.note is not None:
            options.note(f"sts: left out: {name} ({count})")
    found = {
        "type": "session",
        "harness": about.source,
        "id": about.native_id,
        "name": about.title,
        "project": about.project,
        "startedAt": about.started_at,
        "updatedAt": about.updated_at,
        "generator": f"rireki {__version__}",
        "leftOut": left_out,
    }
    return {name: value for name, value in found.items() if value}


def _lines(message: Message) -> Iterator[dict[str, Any]]:
    """What a message says, and every result in it as a line of its own, in their order."""
    said: list[Any] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield from _said(message, said)
            said = []
            yield _stamped(
                {"role": "tool", "toolCallId": part.call_id, "content": part.output}, message
            )
        else:
            said.append(part)
    yield from _said(message, said)


def _said(message: Message, parts: Sequence[Any]) -> Iterator[dict[str, Any]]:
    texts = [part.text for part in parts if isinstance(part, Text | Notice)]
    thoughts = [part.text for part in parts if isinstance(part, Thinking)]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if not (texts or thoughts or calls):
        return
    # Only the assistant calls, whoever had it run.
    role = "assistant" if calls else _ROLES[message.author]
    found: dict[str, Any] = {"role": role, "content": "\n\n".join(texts)}
    if thoughts:
        found["reasoningContent"] = "\n\n".join(thoughts)
    if calls:
        found["toolCalls"] = [_call(call) for call in calls]
    yield _stamped(found, message)


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = {} if call.arguments is None else call.arguments
    return {"id": call.call_id, "function": {"name": call.name, "arguments": line(arguments)}}


def _stamped(found: dict[str, Any], message: Message) -> dict[str, Any]:
    at = to_datetime(message.at or "")
    if at is not None:
        found["timestamp"] = round(at.timestamp() * 1000)
    if message.model and found["role"] == "assistant":
        found["model"] = message.model
    return found
