"""Batches that somebody made up, and servers that never come to an end."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from rireki.archive.base import Archive
from rireki.archive.delta import NOTHING, Delta, OriginFacts, Part, StateFacts, StrandFacts
from rireki.archive.pack import Chunk, pack, squeeze
from rireki.errors import RirekiError
from rireki.intake.sweep import import_history
from rireki.shares.pushing import ShareChange, TeamPush
from rireki.shares.rules import ShareRule
from rireki.sources.kit.places import Places
from rireki.sync.outbox import Outbox
from rireki.sync.receiver import Receiver
from rireki.sync.sender import Sender
from rireki.sync.wire import (
    FACTS,
    STRANDS,
    BadBatch,
    MalformedBatch,
    PushAnswer,
    PushBatch,
    RecordsTaken,
    StreamOpening,
    StreamPosition,
    decode_batch,
    encode_batch,
)
from tests.support.syncing import LAPTOP
from tests.support.two_people import IDS, write_session

AT = "2026-01-01T00:00:00.000Z"
FAR = 1 << 63
LINE = b'{"type":"user","sessionId":"s1","message":{"role":"user","content":"hello"}}\n'
(CHUNK,) = pack("lines", 0, [LINE])
ORIGIN = OriginFacts(1, "claude-code", "/h/s1.jsonl", "/h", "files", "transcript", AT, None)
STRAND = StrandFacts(1, 1, "", "claude-code", "s1", "main", "/x", "{}", AT, AT, None, 1)
STATE = StateFacts(1, AT, '[["lines","0",""]]', b"")
PART = Part(STRAND, NOTHING, [CHUNK], 0, [STATE], 1)


def delta(*parts: Part, **changed: Any) -> Delta:
    made = Delta(0, 1, [ORIGIN], list(parts or (PART,)), [], [], [])
    return structs.replace(made, **changed)


def chunked(**changed: Any) -> Delta:
    return delta(structs.replace(PART, chunks=[structs.replace(CHUNK, **changed)]))


def stranded(**changed: Any) -> Delta:
    return delta(structs.replace(PART, strand=structs.replace(STRAND, **changed)))


def held_as(runs: str) -> Delta:
    return delta(structs.replace(PART, states=[structs.replace(STATE, runs=runs)]))


def bomb(size: int) -> Chunk:
    """Four bytes of zstd can stand for 128 KB."""
    whole = squeeze(bytes(size))
    return Chunk("lines", 0, 1, size, f"[{size}]", b"", whole)


FORGED = {
    "a number no archive reaches": delta(upto=FAR),
    "an end before the beginning": delta(after=1, upto=0),
    "an id that nothing can hold": stranded(id=FAR),
    "an id below zero": stranded(id=-1),
    "a removed id that nothing can hold": delta(removed=[FAR]),
    "more states than there can be": delta(structs.replace(PART, kept=FAR)),
    "a record far behind all others": chunked(first=1 << 40),
    "a length below zero": chunked(lengths=f"[-1,{len(LINE) + 1}]", count=2),
    "a size that is not so": chunked(size=FAR),
    "a strand twice": delta(PART, PART),
    "states that name a hundred million records": held_as('[["lines","0-99999999",""]]'),
    "a cursor that is nested for ever": stranded(cursor="[" * 100_000),
    "far too many bytes in a few": delta(structs.replace(PART, chunks=[bomb(65 << 20)])),
}


def taken(archive: Archive, told: Delta) -> PushAnswer:
    receiver = Receiver(archive, "team")
    opened = receiver.open(StreamOpening(archive="forged", epoch=1, machine="m"))
    assert isinstance(opened, StreamPosition)
    body = encode_batch(PushBatch(seal=opened.seal, sealed="s", delta=told))
    return receiver.take(opened.stream, body)


@pytest.mark.parametrize("told", FORGED.values(), ids=FORGED)
def test_what_no_archive_tells_is_no_batch(archive: Archive, told: Delta) -> None:
    assert isinstance(taken(archive, told), MalformedBatch)
    assert list(archive.rows.get("strand", "id")) == []


def test_what_an_archive_tells_is_kept(archive: Archive) -> None:
    assert isinstance(taken(archive, delta()), RecordsTaken)


def test_facts_may_not_fill_the_memory() -> None:
    packed = squeeze(bytes(FACTS + 1))
    with pytest.raises(BadBatch, match="it says it holds"):
        decode_batch(b"RKB1" + struct.pack(">I", len(packed)) + packed)
    many = [structs.replace(PART, chunks=[])] * (STRANDS + 1)
    batch = PushBatch(seal="", sealed="s", delta=delta(*many))
    with pytest.raises(BadBatch, match="too much at once"):
        decode_batch(encode_batch(batch))


# ── servers that lie about where they are ──


class Forgetful:
    """Takes everything, and wants all of it again."""

    def __init__(self, seal: str = "") -> None:
        self.seal = seal
        self.asked = 0

    def open(self, opening: StreamOpening) -> PushAnswer:
        self.asked += 1
        reached = 1 if self.seal else 0
        return StreamPosition(stream="1", reached=reached, seal=self.seal, kind="own")

    def held(self, stream: str, strands: Sequence[int]) -> PushAnswer:
        return Receiver(self.archive).held(stream, [])

    def take(self, stream: str, body: bytes) -> PushAnswer:
        self.asked += 1
        return RecordsTaken(0, "")

    archive: Archive


@pytest.mark.parametrize("seal", ["", "nobody knows this one"])
def test_a_server_that_never_has_it_is_given_up(archive: Archive, home: Path, seal: str) -> None:
    write_session(home, IDS["ann"], "/home/ann/shop", "quokkaflux")
    import_history(archive, places=Places.at(home))
    server = Forgetful(seal)
    server.archive = archive
    archive.stream("x", "m")
    with pytest.raises(RirekiError) as caught:
        Sender(Outbox(archive, LAPTOP), server, "desktop").push()
    assert caught.value.code == "remote-busy" and server.asked < 300


# ── what is not shared ──


class Nobody:
    def change_shares(self, change: ShareChange) -> None:
        raise AssertionError("nothing is shared")


class Watched(Receiver):
    """Notes which strands it was asked about, and what came."""

    asked: list[int]
    came: int

    def held(self, stream: str, strands: Any) -> PushAnswer:
        self.asked += strands
        return super().held(stream, strands)

    def take(self, stream: str, body: bytes) -> PushAnswer:
        self.came += 1
        assert self.came < 20, "it goes on for ever"
        return super().take(stream, body)


def test_a_long_conversation_that_is_not_shared_is_neither_told_nor_asked_about(
    archive: Archive, other: Archive, home: Path
) -> None:
    file = write_session(home, IDS["ann"], "/home/ann/diary", "quokkaflux")
    with file.open("ab") as grown:
        for n in range(300):
            grown.write(b'{"type":"summary","uuid":"%032x","summary":"%x"}\n' % (n, n**60))
    import_history(archive, places=Places.at(home))
    rule = ShareRule(what="/home/ann/work", kind="directory", team="acme", remote="acme")
    outgoing = TeamPush(archive, "acme", [rule]).prepare(Nobody())
    server = Watched(other, "team")
    server.asked, server.came = [], 0
    outbox = Outbox(archive, LAPTOP, "team", outgoing)
    done = Sender(outbox, server, "acme", "team", limit=2000).push()
    assert (done.batches, server.asked, server.came) == (0, [], 0)


def test_what_a_machine_calls_itself_can_be_shown(archive: Archive) -> None:
    receiver = Receiver(archive)
    name = "lap\x1b[31m\n top" * 1000
    position = receiver.open(StreamOpening(archive="x", epoch=1, machine=name))
    assert isinstance(position, StreamPosition)
    ((kept,),) = archive.rows.get("stream", "machine", id=int(position.stream))
    assert kept.startswith("lap[31mtop") and len(kept) == 60
    too_long = receiver.open(StreamOpening(archive="x" * 201, epoch=1, machine=""))
    assert isinstance(too_long, MalformedBatch)
