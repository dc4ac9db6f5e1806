"""Chunks: what goes in comes out, and damage is noticed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.archive.pack import FULL, pack, unpack
from rireki.errors import ArchiveTrouble


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
