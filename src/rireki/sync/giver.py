"""Answers an archive that asks for what there is to tell: the other way round than a push.

What the other one has of a strand is part of its question; what is missing there is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rireki.archive.delta import Held
from rireki.archive.open import StorageError, explain
from rireki.errors import ArchiveTrouble
from rireki.sync.outbox import LIMIT, Outbox
from rireki.sync.wire import (
    VERSION,
    DeltaWanted,
    HeldAsked,
    NothingNew,
    OutgoingAnswer,
    PushBatch,
    PutBack,
    StreamOpening,
    TooNew,
    Unkept,
)

__all__ = ["Giver"]


class _Missing(Exception):
    def __init__(self, strands: Sequence[int]) -> None:
        self.strands = list(strands)


class Giver:
    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox

    def outgoing(self) -> StreamOpening:
        return self.outbox.opening()

    def next(self, wanted: DeltaWanted) -> PushBatch | OutgoingAnswer:
        if wanted.version > VERSION:
            return TooNew(VERSION)
        try:
            return self._next(wanted)
        except _Missing as missing:
            return HeldAsked(missing.strands)
        except ArchiveTrouble as error:
            return Unkept(error.message)
        except StorageError as error:
            return Unkept(explain(error, self.outbox.archive).message)

    def _next(self, wanted: DeltaWanted) -> PushBatch | OutgoingAnswer:
        opening = self.outbox.opening()
        if wanted.epoch != opening.epoch:
            return PutBack(opening)
        if not self.outbox.is_known(wanted.reached, wanted.seal):
            return PutBack(self.outbox.begin_again())

        def have(strands: Sequence[int]) -> Mapping[int, Held]:
            missing = [id for id in strands if id not in wanted.have]
            if missing:
                raise _Missing(missing)
            return wanted.have

        limit = min(max(wanted.limit, 1), LIMIT)
        found = self.outbox.next(wanted.reached, wanted.seal, have, limit)
        return NothingNew() if found is None else found
