"""The parts a message is made of.

Each part is a frozen value with a `kind`; the JSON of a part is a contract that
programs read. Nothing here knows where a part came from.

Parts and messages hold no cycles and come in tens of thousands: the garbage
collector leaves them alone (`gc=False`).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

__all__ = [
    "Attachment",
    "Notice",
    "Part",
    "ResultStatus",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Unknown",
]

ResultStatus: TypeAlias = Literal["ok", "error", "cancelled"]


class Text(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="text"):
    text: str


class Thinking(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="thinking"):
    text: str


class ToolCall(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="tool_call"):
    call_id: str
    name: str
    arguments: Any = None


class ToolResult(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="tool_result"):
    call_id: str
    status: ResultStatus = "ok"
    output: str = ""


class Attachment(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="attachment"):
    """A picture or file that belongs to the message; `digest` is the sha256 of its bytes, in hex."""

    media_type: str
    digest: str = ""
    name: str = ""
    size: int = 0


class Notice(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="notice"):
    """Something the program said about the conversation rather than in it."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


class Unknown(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="unknown"):
    """What the reader did not understand, kept as it was; `what` names it in a word or two."""

    what: str
    raw: Any = None


Part: TypeAlias = Text | Thinking | ToolCall | ToolResult | Attachment | Notice | Unknown
