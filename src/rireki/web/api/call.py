"""One question to the API, as its answers get it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    get_args,
    get_type_hints,
)
from urllib.parse import quote, urlencode

import msgspec
from starlette.responses import Response

from rireki.web.api.parameters import plain
from rireki.web.archive_reader import ArchiveReader
from rireki.web.broadcaster import Broadcaster

if TYPE_CHECKING:
    from rireki.web.driving import Driving

__all__ = ["OPERATIONS", "PREFIX", "TALK", "ApiCall", "Operation", "address", "operation"]

PREFIX = "/api/v1"
#: Where everything about one conversation is found.
TALK = "/conversations/{source}/{native_id}"
A = TypeVar("A")
Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]


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
    method: Method
    #: The type of the JSON that is sent along, where something is.
    takes: Any


#: Every address, in the order of their modules.
OPERATIONS: list[Operation] = []
Answers = TypeVar("Answers", bound=Callable[[ApiCall[Any]], Awaitable[Any]])


def operation(
    path: str, summary: str, method: Method = "GET", takes: Any = None
) -> Callable[[Answers], Answers]:
    """Answer an address with this function, whose own types say what may be asked and is given."""

    def enter(answer: Answers) -> Answers:
        types = get_type_hints(answer)
        (asks,) = get_args(types["call"])
        gives = bytes if types["return"] is Response else types["return"]
        OPERATIONS.append(Operation(path, summary, asks, gives, answer, method, takes))
        return answer

    return enter


def address(conversation: str, *rest: str, **query: Any) -> str:
    """Where something of a conversation is found; every part of it is one segment."""
    source, _, native = conversation.partition("/")
    path = "/".join(quote(plain(part), safe="") for part in (source, native, *rest))
    told = {name: plain(value) for name, value in query.items() if value not in (None, False)}
    return f"{PREFIX}/conversations/{path}" + (f"?{urlencode(told)}" if told else "")
