"""A process that packs files and interprets conversations for the one that writes the archive.

It speaks length-prefixed pickles over its standard streams, reads agents' files
and the archive, and writes neither. It ends when its input ends.
"""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from rireki.archive.base import Dirty
from rireki.archive.pack import Chunk, pack
from rireki.errors import SourceTrouble
from rireki.intake.understand import interpret
from rireki.model.conversation import Answer, Conversation, Tie, Trouble
from rireki.model.record import Content, Origin, Update

__all__ = [
    "Packed",
    "PackedOrigin",
    "PackTask",
    "Projected",
    "ProjectTask",
    "main",
    "receive",
    "send",
]


class PackTask(msgspec.Struct):
    origins: list[Origin]


class ProjectTask(msgspec.Struct):
    archive: str
    groups: list[Dirty]


class Packed(msgspec.Struct):
    """An update of a file that was never seen before, its records already packed."""

    origin: Origin
    update: Update
    chunks: list[Chunk]


class PackedOrigin(msgspec.Struct):
    """The file was read to its end, or could not be."""

    origin: Origin
    trouble: Trouble | None = None


class Projected(msgspec.Struct):
    group: Dirty
    readings: list[tuple[Conversation, list[Answer], list[Tie]]]


class Done(msgspec.Struct):
    """The task is finished; the worker waits for the next one."""


def send(stream: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, protocol=5)
    stream.write(struct.pack(">Q", len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value; raises EOFError when the other side is gone."""
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    (size,) = struct.unpack(">Q", header)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def main() -> None:
    source, target = sys.stdin.buffer, sys.stdout.buffer
    # A stray print must not disturb the conversation with the other side.
    sys.stdout = sys.stderr
    while True:
        try:
            task = receive(source)
        except EOFError:
            return
        for answer in pack_files(task) if isinstance(task, PackTask) else project(task):
            send(target, answer)
        send(target, Done())


def pack_files(task: PackTask) -> Iterator[Packed | PackedOrigin]:
    for origin in task.origins:
        try:
            yield from _pack_file(origin)
        except SourceTrouble as trouble:
            found = Trouble(origin.place, trouble.message, trouble.hint)
            yield PackedOrigin(origin, found)
        else:
            yield PackedOrigin(origin)


def _pack_file(origin: Origin) -> Iterator[Packed]:
    from rireki.sources import registry
    from rireki.sources.reader import Known

    first = 0
    for update in registry.reader(origin.source).read(origin, Known({})):
        assert isinstance(update, Update), "a file has no roll"
        (content,) = update.contents
        records = [piece.data for piece in content.pieces]
        digests = [piece.digest for piece in content.pieces if piece.digest]
        chunks = pack(content.lane, first, records, digests)
        first += len(records)
        update.contents = [Content(content.lane, [], content.separator)]
        yield Packed(origin, update, chunks)


def project(task: ProjectTask) -> Iterator[Projected]:
    from rireki.archive.open import open_archive

    archive = open_archive(Path(task.archive), read_only=True)
    try:
        for group in task.groups:
            readings = interpret(
                group.conversation, archive.strands(group.family, group.conversation)
            )
            yield Projected(group, [(r.conversation, r.answers, r.ties) for r in readings])
    finally:
        archive.close()


if __name__ == "__main__":
    main()
