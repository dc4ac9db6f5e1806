"""What goes over the wire between two archives: questions, answers, and batches of facts.

Everything is MessagePack with names in it: whoever gets a name it does not know passes over it. A
batch is its facts, compressed, and behind them the records as they lie in the archive.
docs/sync.md tells a stranger how to read it. Nothing here knows HTTP or folders.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import structs

from rireki.archive.delta import Delta, Held, Part
from rireki.archive.pack import Chunk, ZstdError, squeeze, unsqueeze

__all__ = [
    "BATCH",
    "MESSAGE",
    "PATH",
    "VERSION",
    "BadBatch",
    "BatchTooLarge",
    "DeltaWanted",
    "HeldAsked",
    "HeldStrands",
    "KindOfRemote",
    "MalformedBatch",
    "NothingNew",
    "OutgoingAnswer",
    "PushAnswer",
    "PushBatch",
    "PutBack",
    "RecordsTaken",
    "ServerGreeting",
    "StreamConflict",
    "StreamOpening",
    "StreamPosition",
    "TooNew",
    "Unkept",
    "decode",
    "decode_batch",
    "encode",
    "encode_batch",
]

#: Below this address; messages, and batches.
PATH = "/api/push/v1"
MESSAGE, BATCH = "application/msgpack", "application/octet-stream"
#: Raised when facts come to mean something else; new kinds of facts do not raise it.
VERSION = 1
MAGIC = b"RKB1"
#: Magic, and how long the facts are.
_START = struct.Struct(">4sI")
#: What is told beside the records of a batch: so many bytes, and so many strands. A sender stays far
#: below both; more would only fill the memory of who takes it.
FACTS, STRANDS = 128 << 20, 20_000
#: Whose server it is: one's own gets everything, a team's what is shared with it.
KindOfRemote: TypeAlias = Literal["own", "team"]


class BadBatch(Exception):
    """These bytes are no batch."""


# ── questions ──


class ServerGreeting(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says of itself to whoever has a token."""

    kind: str
    machine: str = ""
    version: int = VERSION


class StreamOpening(msgspec.Struct, frozen=True, kw_only=True):
    """Whose facts are to come."""

    #: The archive, as this machine has it: a copy elsewhere is another one.
    archive: str
    #: Which of its lives: it begins another when it was put back.
    epoch: int
    machine: str
    version: int = VERSION


class HeldAsked(msgspec.Struct, frozen=True, tag="asked"):
    """What is there of these strands? Also an answer, of an archive that has to know it first."""

    status: ClassVar[int] = 200
    strands: list[int]


class DeltaWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Asks an archive for what it has to tell, from a position on."""

    epoch: int
    reached: int
    seal: str
    limit: int
    #: What is here of the strands that were asked about.
    have: dict[int, Held] = {}
    version: int = VERSION


# ── answers ──


class StreamPosition(msgspec.Struct, frozen=True, kw_only=True, tag="position"):
    """Up to where a stream is there."""

    status: ClassVar[int] = 200
    stream: str
    reached: int
    seal: str
    #: Whose server it is, as it says now.
    kind: str


class HeldStrands(msgspec.Struct, frozen=True, tag="held"):
    status: ClassVar[int] = 200
    strands: dict[int, Held]


class RecordsTaken(msgspec.Struct, frozen=True, tag="taken"):
    status: ClassVar[int] = 200
    reached: int
    seal: str


class StreamConflict(msgspec.Struct, frozen=True, tag="conflict"):
    """It goes on from another place; this is where the stream is now."""

    status: ClassVar[int] = 409
    reached: int
    seal: str


class BatchTooLarge(msgspec.Struct, frozen=True, tag="too-large"):
    status: ClassVar[int] = 413
    limit: int


class TooNew(msgspec.Struct, frozen=True, tag="too-new"):
    """Written by a newer version than is known here."""

    status: ClassVar[int] = 426
    version: int


class MalformedBatch(msgspec.Struct, frozen=True, tag="malformed"):
    """No batch, or one that contradicts itself: sending it again is no use."""

    status: ClassVar[int] = 400
    why: str


class Unkept(msgspec.Struct, frozen=True, tag="unkept"):
    """It cannot be kept just now (a full disk, a lock): send it again later."""

    status: ClassVar[int] = 503
    why: str


class NothingNew(msgspec.Struct, frozen=True, tag="nothing"):
    status: ClassVar[int] = 200


class PutBack(msgspec.Struct, frozen=True, tag="put-back"):
    """The archive was put back since: it is in another life now."""

    status: ClassVar[int] = 200
    opening: StreamOpening


PushAnswer: TypeAlias = (
    StreamPosition
    | HeldStrands
    | RecordsTaken
    | StreamConflict
    | BatchTooLarge
    | TooNew
    | MalformedBatch
    | Unkept
)
#: What an archive answers that was asked for what it has to tell; or a batch.
OutgoingAnswer: TypeAlias = HeldAsked | NothingNew | PutBack | TooNew | Unkept


def encode(value: Any) -> bytes:
    return msgspec.msgpack.encode(value)


def decode(data: bytes, kind: Any) -> Any:
    """Raises BadBatch for anything else."""
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadBatch(str(error)) from error


# ── batches ──


class PushBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that go on from a seal, and the seal they lead to."""

    seal: str
    sealed: str
    delta: Delta
    version: int = VERSION


class _Facts(PushBatch, frozen=True, kw_only=True):
    #: The lengths of the records' chunks, which lie behind the facts.
    sizes: list[int]


class _Version(msgspec.Struct, frozen=True):
    version: int


def encode_batch(batch: PushBatch) -> bytes:
    data = [chunk.data for part in batch.delta.parts for chunk in part.chunks]
    bare = [structs.replace(part, chunks=_without_data(part)) for part in batch.delta.parts]
    facts = _Facts(
        seal=batch.seal,
        sealed=batch.sealed,
        delta=structs.replace(batch.delta, parts=bare),
        sizes=list(map(len, data)),
    )
    packed = squeeze(encode(facts))
    return b"".join([_START.pack(MAGIC, len(packed)), packed, *data])


def _without_data(part: Part) -> list[Chunk]:
    return [structs.replace(chunk, data=b"") for chunk in part.chunks]


def decode_batch(body: bytes) -> PushBatch | TooNew:
    """Raises BadBatch for what is none."""
    facts = _facts(body)
    if isinstance(facts, TooNew):
        return facts
    chunks = _split(body, facts.sizes)
    try:
        parts = [
            structs.replace(
                part, chunks=[structs.replace(chunk, data=next(chunks)) for chunk in part.chunks]
            )
            for part in facts.delta.parts
        ]
    except (StopIteration, RuntimeError) as error:
        raise BadBatch("records are missing") from error
    if next(chunks, None) is not None:
        raise BadBatch("records that nothing names")
    return PushBatch(
        seal=facts.seal, sealed=facts.sealed, delta=structs.replace(facts.delta, parts=parts)
    )


def _facts(body: bytes) -> _Facts | TooNew:
    if len(body) < _START.size or not body.startswith(MAGIC):
        raise BadBatch("it does not begin like one")
    _, length = _START.unpack_from(body)
    try:
        plain = unsqueeze(body[_START.size : _START.size + length], most=FACTS)
    except ZstdError as error:
        raise BadBatch(str(error)) from error
    if decode(plain, _Version).version > VERSION:
        return TooNew(VERSION)
    facts: _Facts = decode(plain, _Facts)
    delta = facts.delta
    if delta.upto < delta.after or len(delta.parts) > STRANDS:
        raise BadBatch("it ends before it begins, or tells of too much at once")
    if _START.size + length + sum(facts.sizes) != len(body) or min(facts.sizes, default=0) < 0:
        raise BadBatch("its lengths do not add up")
    return facts


def _split(body: bytes, sizes: list[int]) -> Iterator[bytes]:
    start = len(body) - sum(sizes)
    for size in sizes:
        yield body[start : start + size]
        start += size
