"""What can be asked of the API: the parameters of each address, read and checked.

The same types are told to programs by the OpenAPI document.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import Request

from rireki.errors import RirekiError, Wording
from rireki.model.when import when

__all__ = [
    "BadRequest",
    "ConversationsAsked",
    "EventsAsked",
    "ExplainAsked",
    "MessagesAsked",
    "Nothing",
    "RawAsked",
    "SearchAsked",
    "StatsAsked",
    "moment",
    "plain",
    "read_asked",
]

A = TypeVar("A", bound=msgspec.Struct)

_SURROGATES = re.compile("[\ud800-\udfff]")
_NAME = re.compile(r"\$\.(\w+)")

#: A time as people type it, or ISO 8601.
Time = Annotated[
    str, Meta(description="A time: `3h`, `7d`, `yesterday`, `2026-11-15`, or ISO 8601.")
]
MessageId = Annotated[str, Meta(description="The id of a message.")]


class BadRequest(RirekiError):
    """A parameter that cannot be understood; answered with 400."""


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """An address without parameters."""


class ConversationsAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    source: Annotated[str, Meta(description="Only this source.")] | None = None
    project: Annotated[str, Meta(description="Only this directory.")] | None = None
    below: Annotated[bool, Meta(description="With `project`: also what lies below it.")] = False
    since: Time | None = None
    before: Time | None = None
    title: (
        Annotated[str, Meta(description="With all of these words in the title.", max_length=1000)]
        | None
    ) = None
    upstream: Literal["present", "changed", "gone"] | None = None
    subagents: Annotated[bool, Meta(description="Also the sub-agents that agents started.")] = False
    limit: Annotated[int, Meta(ge=1, le=500)] = 50
    cursor: (
        Annotated[str, Meta(description="`next` of the page before, as it was given.")] | None
    ) = None


class MessagesAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    before: MessageId | None = None
    after: MessageId | None = None
    around: MessageId | None = None
    last: Annotated[bool, Meta(description="The end of the conversation, not its beginning.")] = (
        False
    )
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    all: Annotated[bool, Meta(description="Also hidden messages and earlier versions.")] = False
    as_of: Time | None = None


class RawAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    all: Annotated[bool, Meta(description="Every record it ever held, not only the newest.")] = (
        False
    )
    as_of: Time | None = None


class ExplainAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    all: Annotated[bool, Meta(description="Also results of tools, which nobody typed.")] = False


class SearchAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    q: Annotated[str, Meta(description="A query; docs/search.md tells its language.")]
    limit: Annotated[int, Meta(ge=1, le=100, description="Conversations.")] = 10
    offset: Annotated[int, Meta(ge=0, le=100_000, description="Conversations to pass over.")] = 0
    newest: Annotated[bool, Meta(description="The newest first, instead of the best.")] = False
    context: Annotated[int, Meta(ge=0, le=20, description="Messages around each hit.")] = 0
    hits: Annotated[int, Meta(ge=1, le=100, description="Hits per conversation.")] = 2


class StatsAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    source: Annotated[str, Meta(description="Only this source.")] | None = None


class EventsAsked(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=2**53, description="A number of the feed.")] | None = None
    conversation: (
        Annotated[str, Meta(description="Only this conversation and its sub-agents.")] | None
    ) = None


def read_asked(request: Request, type: type[A]) -> A:
    """The parameters of a request. Raises BadRequest, which names the one that is wrong."""
    given = {name: plain(value) for name, value in request.query_params.items()}
    known = type.__struct_fields__
    for name in given:
        if name not in known:
            allowed = Wording("takes-these", names=known) if known else ""
            raise BadRequest("no-parameter", hint=allowed, name=name[:40])
    try:
        return msgspec.convert(given, type, strict=False)
    except msgspec.ValidationError as error:
        wrong = _NAME.search(str(error))
        why = str(error).partition(" - at ")[0]
        if wrong is None:
            raise BadRequest("bad-parameters", why=why) from error
        raise BadRequest("bad-parameter", name=wrong[1], why=why) from error


def moment(text: str | None, end_of_day: bool = False) -> str | None:
    """A time as it was asked for, in the archive's spelling."""
    if text is None:
        return None
    try:
        return when(text, datetime.now(timezone.utc), end_of_day)
    except RirekiError as error:
        raise BadRequest(error.code, **error.values) from error


def plain(value: Any) -> str:
    """Text that can be asked for: half a surrogate pair cannot stand in an address or a database."""
    return _SURROGATES.sub("\ufffd", str(value))
