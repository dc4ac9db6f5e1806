"""Chunks: what goes in comes out, and damage is noticed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rireki.archive.pack import FULL, Chunk, pack, squeeze, unpack, unsqueeze
from rireki.errors import ArchiveTrouble
from rireki.search.text.blocks import open_block


@given(st.lists(st.binary(max_size=200), max_size=30))
def test_records_come_out_as_they_went_in(records: list[bytes]) -> None:
    chunks = pack("lines", 5, records)
    out = [r for c in chunks for r in unpack(c.data, c.size, c.lengths, "here")]
    assert out == records
    assert sum(chunk.count for chunk in chunks) == len(records)
    assert not chunks or chunks[0].first == 5


def test_many_records_make_several_chunks_that_follow_each_other() -> None:
    records = [b"x" * 50_000] * 20
    chunks = pack("lines", 0, records)
    assert len(chunks) > 1
    assert all(chunk.size <= FULL + 50_000 for chunk in chunks)
    assert [chunk.first for chunk in chunks] == [
        sum(c.count for c in chunks[:number]) for number in range(len(chunks))
    ]


def test_a_huge_record_is_a_chunk_of_its_own() -> None:
    (chunk,) = pack("lines", 0, [b"y" * (10 << 20)])
    assert unpack(chunk.data, chunk.size, chunk.lengths, "here") == [b"y" * (10 << 20)]


@pytest.mark.parametrize("place", [0, 8, -1])
def test_a_flipped_bit_is_noticed_and_named(place: int) -> None:
    (chunk,) = pack("lines", 0, [b"some words that matter\n" * 10])
    data = bytearray(chunk.data)
    data[place] ^= 1
    with pytest.raises(ArchiveTrouble, match="chunk 7 is damaged"):
        unpack(bytes(data), chunk.size, chunk.lengths, "chunk 7")


def test_threads_do_not_mix_up_each_others_bytes() -> None:
    """A keeper, pages and commands pack and unpack at the same time."""

    def work(number: int) -> int:
        records = [bytes([number, turn % 256]) * 2000 for turn in range(12)]
        return sum(
            unpack(c.data, c.size, c.lengths, "here") != records
            for _ in range(300)
            for c in pack("lines", 0, records)
        )

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 0


# ── Frames that say they hold more than they should ──

#: What stood for 950 MB in 30 KB.
BOMB_SIZE = 950 << 20


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A sound frame of few bytes that opens to very many; made in pieces, to take no memory itself."""
    making = zstandard.ZstdCompressor(level=1).compressobj(size=BOMB_SIZE)
    pieces = [making.compress(bytes(1 << 20)) for _ in range(950)]
    frame = b"".join([*pieces, making.flush()])
    assert len(frame) < 40_000
    return frame


@contextmanager
def most_memory() -> Iterator[SimpleNamespace]:
    """How many bytes were taken at once at most, also by what then failed."""
    took = SimpleNamespace(bytes=0)
    tracemalloc.start()
    try:
        yield took
    finally:
        took.bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()


def sizeless(data: bytes) -> bytes:
    """A frame that does not say how much it holds."""
    making = zstandard.ZstdCompressor(level=1, write_checksum=True).compressobj()
    frame = making.compress(data) + making.flush()
    assert zstandard.frame_content_size(frame) == -1
    return frame


def refused(chunk: Chunk) -> str:
    with most_memory() as took, pytest.raises(ArchiveTrouble, match="chunk 7 is damaged") as error:
        unpack(chunk.data, chunk.size, chunk.lengths, "chunk 7")
    assert took.bytes < 1 << 20
    return error.value.message


def test_a_frame_that_says_it_is_larger_than_its_row_takes_no_memory(bomb: bytes) -> None:
    (chunk,) = pack("lines", 0, [b"some words"])
    assert str(BOMB_SIZE) in refused(msgspec.structs.replace(chunk, data=bomb))


def test_a_row_whose_lengths_do_not_make_its_size_is_not_opened(bomb: bytes) -> None:
    (chunk,) = pack("lines", 0, [b"some words"])
    assert "add up" in refused(msgspec.structs.replace(chunk, size=BOMB_SIZE, data=bomb))


def test_a_frame_that_does_not_say_its_size_is_refused() -> None:
    (chunk,) = pack("lines", 0, [b"some words"])
    refused(msgspec.structs.replace(chunk, data=sizeless(b"some words")))
    with pytest.raises(zstandard.ZstdError):
        unsqueeze(sizeless(b"some words"))


def test_what_has_no_row_to_tell_its_size_is_held_to_what_is_likely(bomb: bytes) -> None:
    """Blocks of the index, and the answers of a conversation."""
    for opening in (unsqueeze, open_block):
        with most_memory() as took, pytest.raises(zstandard.ZstdError, match="squeezed into"):
            opening(bomb)
        assert took.bytes < 1 << 20
    for plain in (b"", b"x", bytes(64 << 20)):
        assert unsqueeze(squeeze(plain)) == plain
