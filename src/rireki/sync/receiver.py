"""Takes what other archives tell into this one, and says where each of them stands.

Every answer is a value with a status. Whoever asks twice, in between, or after the answer was lost
is told where the stream is, and nothing is kept twice. Knows neither HTTP nor who may ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from rireki.archive.base import Archive, Stale
from rireki.archive.open import StorageError, explain
from rireki.archive.taking import NoStream
from rireki.errors import ArchiveTrouble
from rireki.machine import shown_name
from rireki.sync.wire import (
    VERSION,
    BadBatch,
    BatchTooLarge,
    HeldStrands,
    KindOfRemote,
    MalformedBatch,
    PushAnswer,
    PushBatch,
    RecordsTaken,
    StreamConflict,
    StreamOpening,
    StreamPosition,
    TooNew,
    Unkept,
    decode_batch,
)

__all__ = ["LARGEST", "Receiver"]

#: Bytes of a batch. A single record may be tens of megabytes, and comes in one piece.
LARGEST = 64 << 20
#: Characters of what an archive is called: its own id, and that of its machine.
LONGEST = 200
#: Strands that may be asked about at once.
MANY = 20_000


class Receiver:
    """One archive that takes; `kind` says whose it is, with every position."""

    def __init__(
        self,
        archive: Archive,
        kind: KindOfRemote = "own",
        largest: int = LARGEST,
        taken: Callable[[], None] | None = None,
    ) -> None:
        """`taken` is called whenever there is something new to be interpreted."""
        self.archive = archive
        self.kind = kind
        self.largest = largest
        self.taken = taken or (lambda: None)

    def open(self, opening: StreamOpening) -> PushAnswer:
        if opening.version > VERSION:
            return TooNew(VERSION)
        if not 0 < len(opening.archive) <= LONGEST or opening.epoch < 1:
            return MalformedBatch("a stream without a name")
        return self._kept(lambda: self._position(opening))

    def _position(self, opening: StreamOpening) -> StreamPosition:
        machine = shown_name(opening.machine)
        stream = self.archive.stream(opening.archive, machine, opening.epoch).id
        reached, seal = self.archive.come_to(stream)
        return StreamPosition(stream=str(stream), reached=reached, seal=seal, kind=self.kind)

    def held(self, stream: str, strands: Collection[int]) -> PushAnswer:
        """What is there of these strands."""
        if len(strands) > MANY:
            return MalformedBatch("too many strands")
        return self._asked(stream, lambda id: self._held(id, strands))

    def _held(self, stream: int, strands: Collection[int]) -> PushAnswer:
        self.archive.come_to(stream)
        return HeldStrands(self.archive.held(stream, list(strands)))

    def take(self, stream: str, body: bytes) -> PushAnswer:
        """Keep a batch."""
        if len(body) > self.largest:
            return BatchTooLarge(self.largest)
        try:
            batch = decode_batch(body)
        except BadBatch as error:
            return MalformedBatch(str(error))
        return batch if isinstance(batch, TooNew) else self.take_batch(stream, batch)

    def take_batch(self, stream: str, batch: PushBatch) -> PushAnswer:
        return self._asked(stream, lambda id: self._take(id, batch))

    def _take(self, stream: int, batch: PushBatch) -> PushAnswer:
        upto, sealed = batch.delta.upto, batch.sealed
        try:
            kept = self.archive.keep(stream, batch.delta, (batch.seal, sealed))
        except Stale:
            return StreamConflict(*self.archive.come_to(stream))
        reached, seal = (upto, sealed) if kept == upto else self.archive.come_to(stream)
        # What was remembered again is asked for from the beginning.
        if (reached, seal) != (upto, sealed) and reached:
            return StreamConflict(reached, seal)
        self.taken()
        return RecordsTaken(reached, seal)

    # ── answering ──

    def _asked(self, stream: str, work: Callable[[int], PushAnswer]) -> PushAnswer:
        number = int(stream) if stream.isdecimal() and len(stream) < 16 else 0
        return self._kept(lambda: work(number))

    def _kept(self, work: Callable[[], PushAnswer]) -> PushAnswer:
        try:
            return work()
        except NoStream:
            return MalformedBatch("no such stream")
        except ArchiveTrouble as error:
            return _told(error)
        except StorageError as error:
            return _told(explain(error, self.archive))
        except (OverflowError, RecursionError) as error:
            # No archive tells what cannot be kept: somebody made it up.
            return MalformedBatch(str(error))


#: What is wrong with a batch, and stays so.
_ITS_OWN = ("data-damaged", "database-too-long")


def _told(error: ArchiveTrouble) -> PushAnswer:
    """A batch that is damaged stays so; whatever else is wrong is with us."""
    if error.code in _ITS_OWN:
        return MalformedBatch(error.message)
    return Unkept(error.message)
