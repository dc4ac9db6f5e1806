"""Going on until the other archive has everything: to it (Sender), or from it (Puller).

Both find out from the other side, or from this one, where the stream is, and go on from there; being
ended at any moment, twice at once, or without an answer costs a batch at most. Nothing is known here
of how the other side is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, Protocol

import msgspec

from rireki.archive.delta import NOTHING, Delta, Held
from rireki.errors import RirekiError
from rireki.sync.outbox import LIMIT, Outbox
from rireki.sync.receiver import MANY, Receiver
from rireki.sync.wire import (
    BatchTooLarge,
    DeltaWanted,
    HeldAsked,
    HeldStrands,
    KindOfRemote,
    MalformedBatch,
    NothingNew,
    OutgoingAnswer,
    PushAnswer,
    PushBatch,
    PutBack,
    RecordsTaken,
    StreamConflict,
    StreamOpening,
    StreamPosition,
    TooNew,
    Unkept,
    encode_batch,
)

__all__ = ["Puller", "PullSource", "PushTarget", "Sender", "Transferred"]

#: The smallest that a batch is made where the other side takes no larger ones.
LEAST = 64 << 10
#: How often another one may be faster, one time after the other.
PATIENCE = 100
#: So many lives may be begun for one push: another archive that knows none of them is not right.
LIVES = 3


class PushTarget(Protocol):
    """Whatever takes: a Receiver, or the way to one."""

    def open(self, opening: StreamOpening) -> PushAnswer: ...
    def held(self, stream: str, strands: Sequence[int]) -> PushAnswer: ...
    def take(self, stream: str, body: bytes) -> PushAnswer: ...


class PullSource(Protocol):
    """Whatever gives: a Giver, or the way to one."""

    def outgoing(self) -> StreamOpening: ...
    def next(self, wanted: DeltaWanted) -> PushBatch | OutgoingAnswer: ...


class Transferred(msgspec.Struct):
    """What went over."""

    batches: int = 0
    bytes: int = 0
    strands: int = 0
    #: Lives that were begun because this archive, or the other one, was put back.
    put_back: int = 0
    #: Other machines' logs in a folder of which a file is not there yet.
    missing: int = 0


Told = Callable[[Transferred], None]


class Sender:
    """Tells one archive to one other; may be kept, and asked to push again and again."""

    def __init__(
        self,
        outbox: Outbox,
        target: PushTarget,
        name: str,
        kind: KindOfRemote = "own",
        limit: int = LIMIT,
        told: Told = lambda done: None,
    ) -> None:
        """`name` is what messages call the other side; `kind` what its owner said it is."""
        self.outbox = outbox
        self.target = target
        self.name = name
        self.kind = kind
        self.limit = limit
        self.told = told
        self._position: StreamPosition | None = None
        self._held: dict[int, Held] = {}

    def push(self) -> Transferred:
        """Everything that is not there yet."""
        done = Transferred()
        turns = 0
        while True:
            position = self._position or self._open(done)
            batch = self.outbox.next(position.reached, position.seal, self._have, self.limit)
            if batch is None:
                return done
            turns = 0 if self._send(position, batch, done) else turns + 1
            if turns > PATIENCE:
                raise RirekiError("remote-busy", name=self.name)

    def forget_position(self) -> None:
        """Ask again where the other side is: it may have been put back."""
        self._position = None
        self._held.clear()

    def _open(self, done: Transferred) -> StreamPosition:
        self._held.clear()
        opening = self.outbox.opening()
        for _ in range(LIVES):
            answer = self.target.open(opening)
            if not isinstance(answer, StreamPosition):
                _refuse(self.name, answer)
            if answer.kind != self.kind:
                raise RirekiError(
                    "remote-other-kind", name=self.name, kind=self.kind, said=answer.kind
                )
            if self.outbox.is_known(answer.reached, answer.seal):
                self._position = answer
                return answer
            done.put_back += 1
            opening = self.outbox.begin_again()
        raise RirekiError("remote-busy", name=self.name)

    def _have(self, strands: Sequence[int]) -> Mapping[int, Held]:
        assert self._position is not None
        missing = [id for id in strands if id not in self._held]
        if missing:
            answer = self.target.held(self._position.stream, missing)
            if not isinstance(answer, HeldStrands):
                _refuse(self.name, answer)
            if len(self._held) > MANY:
                self._held = {id: self._held[id] for id in strands if id in self._held}
            self._held.update({id: answer.strands.get(id, NOTHING) for id in missing})
        return self._held

    def _send(self, position: StreamPosition, batch: PushBatch, done: Transferred) -> bool:
        body = encode_batch(batch)
        # Until there is an answer nobody knows where the stream is.
        self._position = None
        answer = self.target.take(position.stream, body)
        if isinstance(answer, RecordsTaken):
            done.batches += 1
            done.bytes += len(body)
            done.strands += len(batch.delta.parts)
            self.told(done)
            self._note(position, batch.delta, answer)
        elif isinstance(answer, BatchTooLarge) and self.limit > LEAST:
            self.limit = max(LEAST, min(self.limit // 2, answer.limit // 2))
        elif not isinstance(answer, StreamConflict):
            _refuse(self.name, answer)
        # One that wants all of it once more gets it, but not again and again.
        return isinstance(answer, RecordsTaken) and answer.reached >= batch.delta.upto

    def _note(self, position: StreamPosition, delta: Delta, taken: RecordsTaken) -> None:
        if taken.reached < delta.upto:
            # It wants to be told again from an earlier number.
            return
        self._position = msgspec.structs.replace(position, reached=taken.reached, seal=taken.seal)
        for id in delta.removed:
            self._held.pop(id, None)
        for part in delta.parts:
            # Something forgotten there is asked for again, whatever it is told.
            self._held.pop(part.strand.id, None)


class Puller:
    """Takes what one other archive has to tell."""

    def __init__(
        self,
        source: PullSource,
        receiver: Receiver,
        name: str,
        own: str = "",
        limit: int = LIMIT,
        told: Told = lambda done: None,
    ) -> None:
        """`own` is what others call the archive that takes: it does not take from itself."""
        self.source = source
        self.receiver = receiver
        self.name = name
        self.own = own
        self.limit = limit
        self.told = told

    def pull(self) -> Transferred:
        done = Transferred()
        opening = self.source.outgoing()
        if opening.archive == self.own:
            raise RirekiError("remote-is-itself", name=self.name)
        position = self._open(opening)
        have: dict[int, Held] = {}
        turns = 0
        while turns <= PATIENCE:
            answer = self.source.next(
                DeltaWanted(
                    epoch=opening.epoch,
                    reached=position.reached,
                    seal=position.seal,
                    limit=self.limit,
                    have=have,
                )
            )
            turns += 1
            if isinstance(answer, NothingNew):
                return done
            if isinstance(answer, HeldAsked):
                have |= self._held(position, answer.strands)
            elif isinstance(answer, PutBack):
                done.put_back += 1
                opening, have = answer.opening, {}
                position = self._open(opening)
            elif isinstance(answer, PushBatch):
                turns = 0 if self._take(position, answer, done) else turns
                position, have = self._open(opening), {}
            else:
                _refuse(self.name, answer)
        raise RirekiError("remote-busy", name=self.name)

    def _open(self, opening: StreamOpening) -> StreamPosition:
        answer = self.receiver.open(opening)
        if not isinstance(answer, StreamPosition):
            _refuse(self.name, answer)
        return answer

    def _held(self, position: StreamPosition, strands: Sequence[int]) -> dict[int, Held]:
        answer = self.receiver.held(position.stream, strands)
        if not isinstance(answer, HeldStrands):
            _refuse(self.name, answer)
        return {id: answer.strands.get(id, NOTHING) for id in strands}

    def _take(self, position: StreamPosition, batch: PushBatch, done: Transferred) -> bool:
        answer = self.receiver.take_batch(position.stream, batch)
        if isinstance(answer, RecordsTaken):
            done.batches += 1
            done.bytes += sum(len(c.data) for part in batch.delta.parts for c in part.chunks)
            done.strands += len(batch.delta.parts)
            self.told(done)
            return True
        if not isinstance(answer, StreamConflict):
            _refuse(self.name, answer)
        return False


def _refuse(name: str, answer: PushAnswer | OutgoingAnswer) -> NoReturn:
    if isinstance(answer, TooNew):
        raise RirekiError("remote-too-old", name=name)
    if isinstance(answer, BatchTooLarge):
        raise RirekiError("remote-batch-too-large", name=name, most=answer.limit)
    if isinstance(answer, MalformedBatch | Unkept):
        raise RirekiError("remote-refused", name=name, why=answer.why)
    raise RirekiError("remote-refused", name=name, why=type(answer).__name__)
