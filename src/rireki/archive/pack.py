"""Records packed into compressed, checksummed chunks, and taken out again.

A chunk holds consecutive records of one lane. Its bytes are their plain
concatenation compressed with zstd, whose frame carries a checksum of the
content; `lengths` says where each record ends.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, TypeAlias

import msgspec
import zstandard
from zstandard import ZstdError

from rireki.errors import ArchiveTrouble

__all__ = [
    "FULL",
    "Chunk",
    "ZstdError",
    "check_told",
    "damaged",
    "pack",
    "squeeze",
    "unpack",
    "unsqueeze",
]

#: A chunk is closed once it holds this many bytes: twice as many would make an archive four per
#: cent smaller, but a search unpacks a whole one for a single record.
FULL = 64 << 10
#: Three per cent larger than level 3, and an import is that much faster.
LEVEL = 1
#: What a frame may hold where nothing else tells its size: so many bytes, or so many times its own
#: length. A few kilobytes of zstd can stand for a gigabyte, which is taken before the first is read.
PLENTY, TIMES = 64 << 20, 1000
#: No chunk, nor anything else that is squeezed, holds more: a record has 256 MB at most.
LARGEST = 512 << 20
#: As it may be told by others; no strand has more records.
_Ordinal: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1 << 28)]
_Size: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
_LENGTHS = msgspec.json.Decoder(list[Annotated[int, msgspec.Meta(ge=0)]])


class Chunk(msgspec.Struct, frozen=True):
    lane: str
    first: _Ordinal
    count: _Ordinal
    size: _Size
    #: JSON list of record lengths in bytes.
    lengths: str
    #: The records' digests one after the other; empty where the lane needs none.
    digests: bytes
    data: bytes


class _Zstd(threading.local):
    """One of each per thread: used by two at once they mix up the bytes of both, or crash."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
        self.decompressor = zstandard.ZstdDecompressor()


_zstd = _Zstd()


def squeeze(data: bytes) -> bytes:
    """Anything else, compressed as records are."""
    return _zstd.compressor.compress(data)


def unsqueeze(data: bytes, size: int | None = None, most: int = LARGEST) -> bytes:
    """What was squeezed. Raises ZstdError, before any memory is taken, for a frame that says it
    holds something else than `size` bytes; where nobody knows the size, for one that says it holds
    more than `most`, far more than its length makes likely, or does not say."""
    said = zstandard.frame_content_size(data)
    if size is None:
        if not 0 <= said <= min(most, _likely(len(data))):
            raise ZstdError(f"it says it holds {said} bytes, squeezed into {len(data)}")
    elif said != size:
        raise ZstdError(f"it says it holds {said} bytes, not {size}")
    return _zstd.decompressor.decompress(data)


def _likely(length: int) -> int:
    """How many bytes may well be squeezed into so many."""
    return max(PLENTY, TIMES * length)


def check_told(chunk: Chunk, place: str) -> list[bytes]:
    """The records of a chunk that somebody else made. Raises ArchiveTrouble, before much memory is
    taken, where it says of itself what is not so."""
    if chunk.size > _likely(len(chunk.data)):
        raise damaged(
            place, f"it says it holds {chunk.size} bytes, squeezed into {len(chunk.data)}"
        )
    records = unpack(chunk.data, chunk.size, chunk.lengths, place)
    if len(records) != chunk.count or sum(map(len, records)) != chunk.size:
        raise damaged(place, "its records are not those that are told")
    return records


def pack(
    lane: str, first: int, records: Sequence[bytes], digests: Sequence[bytes] = ()
) -> list[Chunk]:
    """Chunks for records that are numbered from `first` on."""
    chunks: list[Chunk] = []
    start = size = 0
    for end, record in enumerate(records, 1):
        size += len(record)
        if size >= FULL or end == len(records):
            chunks.append(_chunk(lane, first + start, records[start:end], digests[start:end]))
            start, size = end, 0
    return chunks


def _chunk(lane: str, first: int, records: Sequence[bytes], digests: Sequence[bytes]) -> Chunk:
    plain = b"".join(records)
    return Chunk(
        lane=lane,
        first=first,
        count=len(records),
        size=len(plain),
        lengths=msgspec.json.encode(list(map(len, records))).decode(),
        digests=b"".join(digests),
        data=squeeze(plain),
    )


def unpack(data: bytes, size: int, lengths: str, place: str) -> list[bytes]:
    """The records of a chunk, checked; `place` names it in the message when it is damaged."""
    try:
        ends = list(accumulate(_LENGTHS.decode(lengths)))
    except msgspec.DecodeError as error:
        raise damaged(place, str(error)) from error
    if (ends[-1] if ends else 0) != size:
        raise damaged(place, "its lengths do not add up")
    try:
        plain = unsqueeze(data, size)
    except ZstdError as error:
        raise damaged(place, str(error)) from error
    return [plain[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def damaged(place: str, why: str) -> ArchiveTrouble:
    return ArchiveTrouble("data-damaged", place=place, why=why)
