"""The JSON that programs read: the names of the model's values, as they are.

What cannot be said in UTF-8 (half a surrogate pair) is escaped, never dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rireki.show.formats import FormatOptions
    from rireki.show.transcript import Transcript

__all__ = ["line", "write"]


def write(transcript: Transcript, options: FormatOptions) -> Iterator[str]:
    """One value in one line."""
    yield line(_value(transcript, options.opened, options.nested)) + "\n"


def _value(transcript: Transcript, opened: str | None, nested: bool) -> dict[str, object]:
    value: dict[str, object] = {
        "conversation": transcript.conversation,
        "messages": transcript.messages,
    }
    if opened is not None:
        value["at"] = opened
    if nested:
        value["subagents"] = [_value(child, None, nested) for child in transcript.children]
    return value


def line(value: Any) -> str:
    """A value of the model, or plain values around one, as one line of JSON."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # Imported late: hardly any value has half a surrogate pair in it.
        import json

        return json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":"))
