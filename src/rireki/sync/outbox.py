"""What an archive tells another one: batch after batch, from where the other one is.

Every number up to which something was told gets a seal, made up at random and noted in the archive
before it is told. Where an archive is put back, the seals go back with it; so the other one may come
to know a number and a seal that nobody here remembers. Then this archive begins another life, an
epoch: everything is told once more, and what was told in the life before stays there.

How facts travel is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Protocol

import msgspec

from rireki.archive.base import Archive
from rireki.archive.delta import UNWANTED, Delta, Have, Held
from rireki.errors import RirekiError
from rireki.sync.machine import Machine, name_of
from rireki.sync.wire import KindOfRemote, PushBatch, StreamOpening

__all__ = ["LIMIT", "Outbox", "Outgoing", "OutgoingChanged"]

#: About so many bytes of records go into a batch.
LIMIT = 2 << 20
#: Of so many seals the older half is thinned out: every other one goes.
MOST = 256
_NOTE = "told"
#: Of so many changes that are nobody's business it is told that they were.
HOLLOW = 100_000


class OutgoingChanged(Exception):
    """What may go was decided anew since: the other one has to be told before anything more goes."""


class Outgoing(Protocol):
    """What goes to a team: what its owner shares, without what is secret."""

    def wants(self, family: str, conversation: str | None) -> bool:
        """Whether anything of a group of strands goes: of others nothing is even looked at."""
        ...

    def __call__(self, delta: Delta) -> Delta:
        """Raises OutgoingChanged."""
        ...


class _Told(msgspec.Struct):
    """Noted in the archive."""

    epoch: int = 1
    #: Numbers and their seals, in order.
    seals: list[tuple[int, str]] = []


class Outbox:
    def __init__(
        self,
        archive: Archive,
        machine: Machine,
        kind: KindOfRemote = "own",
        outgoing: Outgoing | None = None,
    ) -> None:
        """To a team nothing goes but what `outgoing` lets through: it cannot be left out then."""
        if kind != "own" and outgoing is None:
            raise RirekiError("nothing-shared")
        self.archive = archive
        self.machine = machine
        self.outgoing = outgoing

    def opening(self) -> StreamOpening:
        name = name_of(self.archive, self.machine)
        return StreamOpening(archive=name, epoch=self._told().epoch, machine=self.machine.name)

    def is_known(self, reached: int, seal: str) -> bool:
        """Whether the other one goes on from a moment of this life; one that is behind everything
        that is remembered was put back itself, and is told again from there."""
        if reached == 0:
            return True
        seals = self._told().seals
        if (reached, seal) in seals:
            return True
        newest = seals[-1][0] if seals else 0
        return reached < newest and all(number != reached for number, _ in seals)

    def begin_again(self) -> StreamOpening:
        """This archive was put back: another life begins."""
        with self.archive.rows.writing():
            told = self._told()
            self._note(_Told(told.epoch + 1, []))
        return self.opening()

    def next(self, reached: int, seal: str, have: Have, limit: int = LIMIT) -> PushBatch | None:
        """What comes behind a moment; None where that is nothing."""
        if self.outgoing is None:
            delta = self.archive.delta(reached, limit, have)
        else:
            delta = self.outgoing(self.archive.delta(reached, limit, self._wanted(have)))
        # Who is given nothing is not told either when something happened.
        if delta.is_empty and (self.outgoing is None or delta.upto < reached + HOLLOW):
            return None
        sealed = seal if delta.upto == reached else self._seal(delta.upto)
        return PushBatch(seal=seal, sealed=sealed, delta=delta)

    def _wanted(self, have: Have) -> Have:
        """Asks of those strands alone that go."""

        def asked(strands: Sequence[int]) -> Mapping[int, Held]:
            wanted = [id for id in strands if self._goes(id)]
            known = have(wanted) if wanted else {}
            return dict.fromkeys(strands, UNWANTED) | {
                id: known[id] for id in wanted if id in known
            }

        return asked

    def _goes(self, strand: int) -> bool:
        found = self.archive.rows.get("strand", "family, conversation", id=strand)
        return self.outgoing is None or any(self.outgoing.wants(*row) for row in found)

    # ── seals ──

    def _told(self) -> _Told:
        noted = self.archive.note_of(_NOTE)
        return msgspec.json.decode(noted, type=_Told) if noted else _Told()

    def _seal(self, number: int) -> str:
        """The one that this number has; several processes may tell the same."""
        with self.archive.rows.writing():
            told = self._told()
            known = dict(told.seals)
            if number not in known:
                known[number] = token_hex(8)
                self._note(_Told(told.epoch, _thinned(sorted(known.items()))))
        return known[number]

    def _note(self, told: _Told) -> None:
        self.archive.rows.set_note(_NOTE, msgspec.json.encode(told).decode(), keep=False)


def _thinned(seals: list[tuple[int, str]]) -> list[tuple[int, str]]:
    if len(seals) <= MOST:
        return seals
    half = len(seals) // 2
    return seals[:half:2] + seals[half:]
