"""One question to the API, as its answers get it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from rireki.web.api.parameters import plain
from rireki.web.archive_reader import ArchiveReader
from rireki.web.broadcaster import Broadcaster

if TYPE_CHECKING:
    from rireki.web.driving import Driving

__all__ = ["PREFIX", "ApiCall", "Operation", "address"]

PREFIX = "/api/v1"
A = TypeVar("A")


class ApiCall(msgspec.Struct, Generic[A], frozen=True):
    archive_reader: ArchiveReader
    broadcaster: Broadcaster
    asked: A
    #: What stands in the address itself: `conversation`, `message`, `digest`.
    names: Mapping[str, str] = {}
    #: The agents that work from here; None where driving is off.
    driving: Driving | None = None
    #: What was sent along, of the type the address takes.
    body: Any = None
    #: The language of whoever asks.
    locale: str = "en"

    @property
    def conversation(self) -> str:
        return self.names["conversation"]


class Operation(NamedTuple):
    """One address: what may be asked there, what it gives, and what answers."""

    #: Behind PREFIX, as OpenAPI writes it.
    path: str
    summary: str
    asks: type[msgspec.Struct]
    #: The type of the JSON it gives; bytes for what is no JSON.
    gives: Any
    answer: Callable[[ApiCall[Any]], Awaitable[Any]]
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    #: The type of the JSON that is sent along, where something is.
    takes: Any = None


def address(conversation: str, *rest: str, **query: Any) -> str:
    """Where something of a conversation is found; every part of it is one segment."""
    source, _, native = conversation.partition("/")
    path = "/".join(quote(plain(part), safe="") for part in (source, native, *rest))
    told = {name: plain(value) for name, value in query.items() if value not in (None, False)}
    return f"{PREFIX}/conversations/{path}" + (f"?{urlencode(told)}" if told else "")
