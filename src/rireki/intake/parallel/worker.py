"""A process that packs files and interprets conversations for the one that writes the archive.

It speaks length-prefixed pickles over its standard streams, reads agents' files
and the archive, and writes neither. It ends when its input ends, or with the
process that started it, whatever it is doing.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, TypeAlias

import msgspec

from rireki.archive.base import PendingGroup
from rireki.archive.open import open_archive
from rireki.archive.pack import Chunk, pack
from rireki.errors import SourceTrouble
from rireki.intake.interpret import interpret
from rireki.intake.limits import largest
from rireki.intake.memory import HEAVY, hold_on
from rireki.intake.naming import read_origin
from rireki.intake.parallel.follow import digest_of
from rireki.model.conversation import Answer, Conversation, LinkToken, Trouble
from rireki.model.names import as_text
from rireki.model.record import Content, Origin, Update
from rireki.model.strand import PIECES, Run, State, Strand, extended
from rireki.sources import registry
from rireki.sources.reader import Known

__all__ = [
    "DigestTask",
    "Digested",
    "FreshGroup",
    "LeftGroup",
    "PackTask",
    "Packed",
    "PackedGroup",
    "PackedOrigin",
    "ProjectTask",
    "Projected",
    "Summary",
    "main",
    "receive",
    "send",
    "work",
]


#: Compressed bytes per message.
MESSAGE = 1 << 20
_HEADER = struct.Struct(">Q?")
#: Seconds between two looks whether the process that asks is still our parent.
LOOK = 0.5


class FreshGroup(msgspec.Struct):
    """Files that were never seen before and belong to one conversation."""

    family: str
    conversation: str | None
    origins: list[Origin]
    #: Whether these are all there is of it, so that it can be interpreted right away.
    whole: bool


class PackTask(msgspec.Struct):
    groups: list[FreshGroup]
    #: The follower's function, if there is one.
    digest: str = ""


class ProjectTask(msgspec.Struct):
    archive: str
    groups: list[PendingGroup]


class DigestTask(msgspec.Struct):
    """Conversations to be read again for a follower, by family and group."""

    archive: str
    groups: list[PendingGroup]
    digest: str


class Packed(msgspec.Struct):
    """An update of a file that was never seen before, its records already packed."""

    origin: Origin
    update: Update
    chunks: list[Chunk]


class PackedOrigin(msgspec.Struct):
    """The file was read to its end, or could not be."""

    origin: Origin
    trouble: Trouble | None = None


class LeftGroup(msgspec.Struct):
    """Files that a worker cannot pack: one of them holds more than itself, as rows or parts."""

    origins: list[Origin]


class _NotOneStrand(Exception):
    """A file gave more than one strand, or is cut into pieces."""


Summary: TypeAlias = tuple[Conversation, list[Answer], list[LinkToken]]


class Projected(msgspec.Struct):
    group: PendingGroup
    readings: list[Summary]


class PackedGroup(msgspec.Struct):
    """What the files of a new conversation mean together."""

    group: FreshGroup
    readings: list[Summary]
    #: What the follower's function made of each reading.
    digests: list[Any]


class Digested(msgspec.Struct):
    group: PendingGroup
    #: By the id of the conversation; None when it is too much to be handed over.
    digests: dict[str, Any] | None


def send(stream: IO[bytes], value: Any, last: bool = True) -> None:
    """One value; `last` tells the other side that nothing more belongs to it."""
    data = pickle.dumps(value, protocol=5)
    stream.write(_HEADER.pack(len(data), last))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, bool]:
    """The next value, still pickled, and whether it is the last; EOFError when the other side is gone."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    size, last = _HEADER.unpack(header)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data, last


def main(parent: int) -> None:
    try:
        work(sys.stdin.buffer, sys.stdout.buffer, parent)
    except BaseException:  # noqa: BLE001 - nobody is there to raise it to
        traceback.print_exc()
    # Not as programs end: a thread still reads our input, and Python would stop at its lock.
    os._exit(1)


def work(source: IO[bytes], target: IO[bytes], parent: int) -> None:
    """Answer until nobody asks any more; `parent` is the process that asks."""
    # A stray print must not disturb the conversation with the other side.
    sys.stdout = sys.stderr
    # Readings are many small values that live shortly and have no cycles: what little there may
    # be is looked for between tasks.
    gc.disable()
    hold_on()
    # Whoever writes what we made goes first, and so does everything else the user does; in return
    # our turns are long. Not every system has it, or lets everybody do it.
    with suppress(AttributeError, OSError):
        os.nice(15)
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    # Who asks is interrupted as well, and tells us to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for data in _tasks(source, parent):
        try:
            _answer(target, pickle.loads(data))
        except BrokenPipeError:
            # Nobody is left to answer to, and nothing may be written at exit either.
            os._exit(1)
        gc.collect(0)


def _tasks(source: IO[bytes], parent: int) -> Iterator[bytes]:
    """What is asked, as it comes. Who asks may be killed while a task takes long, so its end is
    waited for beside the work: it ends our input, unless somebody else has the other end as well
    (a process that the parent started without us), and then another process is our parent."""
    tasks: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        try:
            with suppress(EOFError, OSError):
                while True:
                    tasks.put(receive(source)[0])
        finally:
            os._exit(1)

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os._exit(1)

    threads = [listen] if sys.platform == "win32" else [listen, look]
    for watch in threads:
        threading.Thread(target=watch, daemon=True).start()
    while True:
        yield tasks.get()


def _answer(target: IO[bytes], task: PackTask | ProjectTask | DigestTask) -> None:
    """Do a task; answers go back many at a time, because every message interrupts the writer."""
    answers: list[Any] = []
    size = 0
    for answer in _perform(task):
        answers.append(answer)
        size += sum(len(c.data) for c in answer.chunks) if isinstance(answer, Packed) else 0
        if size >= MESSAGE:
            send(target, answers, last=False)
            answers, size = [], 0
    send(target, answers)


def _perform(task: PackTask | ProjectTask | DigestTask) -> Iterator[Any]:
    if isinstance(task, PackTask):
        return pack_files(task)
    return project(task) if isinstance(task, ProjectTask) else digest(task)


def pack_files(task: PackTask) -> Iterator[Packed | PackedOrigin | PackedGroup | LeftGroup]:
    for group in task.groups:
        try:
            yield from _pack_group(group, task.digest)
        except _NotOneStrand:
            yield LeftGroup(group.origins)


def _pack_group(group: FreshGroup, digest: str) -> Iterator[Packed | PackedOrigin | PackedGroup]:
    strands: list[Strand] = []
    readable = True
    for origin in group.origins:
        try:
            yield from _pack_file(origin, strands if group.whole else None)
        except SourceTrouble as trouble:
            readable = False
            message = as_text(trouble.message)
            yield PackedOrigin(origin, Trouble(origin.place, message, trouble.hint))
        else:
            yield PackedOrigin(origin)
    if group.whole and readable and group.conversation is not None:
        # Without memory for it, it is interpreted once it is in the archive.
        with suppress(MemoryError):
            yield from _packed_group(group, strands, digest)


def _pack_file(origin: Origin, strands: list[Strand] | None) -> Iterator[Packed]:
    """Read a file to its end; the strand it will be in the archive is added to `strands`, if wanted."""
    records: dict[str, list[bytes]] = {}
    counts: dict[str, int] = {}
    runs: tuple[Run, ...] = ()
    tail, project, cursor = b"", None, None
    for update in read_origin(registry.reader(origin.source), origin, Known(largest=largest())):
        if not isinstance(update, Update) or update.key or len(update.contents) != 1:
            raise _NotOneStrand
        (content,) = update.contents
        lane, first = content.lane, counts.get(content.lane, 0)
        fresh = [piece.data for piece in content.pieces]
        digests = [piece.digest for piece in content.pieces if piece.digest]
        chunks = pack(lane, first, fresh, digests)
        counts[lane] = first + len(fresh)
        if strands is not None:
            runs = extended(runs, lane, range(first, counts[lane]))
            # Nobody interprets what is too large to be one record.
            known = records.setdefault(lane, [])
            known += [b""] * len(fresh) if lane == PIECES else fresh
        tail, project, cursor = update.tail, update.project or project, update.cursor
        update.contents = [Content(lane, [], content.separator)]
        yield Packed(origin, update, chunks)
    if strands is not None:
        strand = _strand(origin, len(strands), State(0, "", runs, tail), records)
        strand.project, strand.cursor = project, cursor
        strands.append(strand)


def _strand(origin: Origin, number: int, state: State, records: dict[str, list[bytes]]) -> Strand:
    return Strand(
        id=number,
        source=origin.source,
        role=origin.role,
        place=origin.place,
        conversation=origin.conversation,
        states=[state],
        fetch=lambda lane, ordinals: [records[lane][ordinal] for ordinal in ordinals],
    )


def _packed_group(group: FreshGroup, strands: list[Strand], digest: str) -> Iterator[PackedGroup]:
    """What a group means; nothing where that takes the time at which the archive got it."""
    assert group.conversation is not None
    readings = interpret(group.conversation, strands)
    if any(reading.conversation.times_from == "rireki" for reading in readings):
        return
    digests = [digest_of(digest)(reading) for reading in readings] if digest else []
    yield PackedGroup(
        group, [(r.conversation, r.answers, r.link_tokens) for r in readings], digests
    )


def project(task: ProjectTask) -> Iterator[Projected]:
    archive = open_archive(task.archive, read_only=True)
    try:
        for group in task.groups:
            readings = interpret(
                group.conversation, archive.strands(group.family, group.conversation)
            )
            yield Projected(group, [(r.conversation, r.answers, r.link_tokens) for r in readings])
    finally:
        archive.close()


def digest(task: DigestTask) -> Iterator[Digested]:
    archive = open_archive(task.archive, read_only=True)
    make = digest_of(task.digest)
    try:
        for group in task.groups:
            strands = archive.strands(group.family, group.conversation)
            if sum(strand.weight() for strand in strands) >= HEAVY:
                yield Digested(group, None)
                continue
            readings = interpret(group.conversation, strands)
            yield Digested(group, {r.conversation.id: make(r) for r in readings})
    finally:
        archive.close()
