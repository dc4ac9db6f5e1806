"""The neutral form: a conversation as any provider could have had it.

Pure values. A turn is one wire message of some provider, or what is to become one;
parts and turns keep the JSON they came from in `raw`, as long as it can be sent as it is.
Nothing here knows a provider's rules. (`gc=False`: values that never hold themselves, made by the
thousand.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import msgspec

from rireki.providers.plain import plain

__all__ = [
    "Call",
    "Media",
    "MediaKind",
    "Note",
    "Opaque",
    "Part",
    "Problem",
    "Request",
    "Result",
    "Role",
    "NeutralText",
    "NeutralThinking",
    "Turn",
    "bare",
]

#: `instructions` stand outside the messages (a system prompt), `system` among them.
Role: TypeAlias = Literal["user", "assistant", "system", "instructions"]
MediaKind: TypeAlias = Literal["image", "document", "audio", "video"]


class NeutralText(msgspec.Struct, frozen=True, gc=False):
    text: str
    raw: Any = None


class NeutralThinking(msgspec.Struct, frozen=True, gc=False):
    """What a model thought; the signature and what is redacted mean something to `provider` only."""

    text: str
    signature: str | None = None
    redacted: str | None = None
    provider: str | None = None
    raw: Any = None


class Call(msgspec.Struct, frozen=True, gc=False):
    """A tool call. `arguments` is an object, or the text of one that was never finished."""

    id: str | None
    name: str
    arguments: Any = msgspec.field(default_factory=dict)
    #: Gemini's thought signature.
    signature: str | None = None
    raw: Any = None


class Media(msgspec.Struct, frozen=True, gc=False):
    """A picture, file or sound: its bytes in base64, or the address where they are."""

    kind: MediaKind
    media_type: str
    data: str | None = None
    url: str | None = None
    name: str = ""
    raw: Any = None


class Opaque(msgspec.Struct, frozen=True, gc=False):
    """What only its own provider understands; `text` is what others can be told of it."""

    provider: str
    raw: Any
    text: str = ""


class Result(msgspec.Struct, frozen=True, gc=False):
    id: str | None
    name: str | None = None
    content: Sequence[NeutralText | Media | Opaque] = msgspec.field(default_factory=list)
    is_error: bool = False
    raw: Any = None


Part: TypeAlias = NeutralText | NeutralThinking | Call | Result | Media | Opaque


class Turn(msgspec.Struct, frozen=True, gc=False):
    """Something one side said. `raw` is the provider's own message, if it can be sent unchanged."""

    role: Role
    parts: Sequence[Part]
    provider: str | None = None
    raw: Any = None


class Request(msgspec.Struct, frozen=True, gc=False):
    """What goes to a provider: its messages (input items, contents) and what it takes as system.

    As the provider's own package takes it: for boto3, pictures and documents are bytes.
    """

    messages: list[Any]
    system: Any = None

    def as_json(self) -> Self:
        """The same with bytes as base64: the body that goes over the wire, ready for `json.dumps`."""
        return type(self)(plain(self.messages), plain(self.system))


class Note(msgspec.Struct, frozen=True, gc=False):
    """Something that was not carried over as it stood; `place` is the index of the turn."""

    code: str
    place: int
    message: str


class Problem(msgspec.Struct, frozen=True, gc=False):
    """A rule of the provider that the history does not keep, and what helps."""

    code: str
    place: int
    message: str
    remedy: str


def bare(part: Part) -> Part:
    """The part without the JSON it came from; an opaque part is nothing else."""
    if isinstance(part, Opaque):
        return part
    if isinstance(part, Result):
        content = [bare(inner) for inner in part.content]
        return msgspec.structs.replace(part, content=content, raw=None)
    return part if part.raw is None else msgspec.structs.replace(part, raw=None)
