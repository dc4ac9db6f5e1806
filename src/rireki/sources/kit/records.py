"""The records of a strand, decoded: one that cannot be read is a trouble, and costs none of its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from rireki.errors import Wording
from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, Strand
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.jsonl import LANE
from rireki.sources.kit.pieces import HEAD, WHOLE

__all__ = ["KEPT", "DecodedLine", "document_of", "head_of", "records_of"]

KEPT = Wording("kept-line")


class DecodedLine(NamedTuple):
    """A record as JSON, and where it stood."""

    value: Any
    #: Its number in the newest version of the file, or in the story where that has lost it; from 1.
    position: int
    #: Whether the newest version has it, and whether the source does: a file may be gone altogether.
    held: bool
    present: bool
    refs: list[Ref]

    def text(self, name: str) -> str:
        found = self.value.get(name) if isinstance(self.value, dict) else None
        return found if isinstance(found, str) else ""


def records_of(strand: Strand, troubles: list[Trouble], lane: str = LANE) -> Iterator[DecodedLine]:
    """Every record the source ever held, in order; a last line without its newline, if it is whole."""
    newest = [n for numbers in strand.states[-1].ordinals(lane) for n in numbers]
    places = {ordinal: place for place, ordinal in enumerate(newest, 1)}
    for count, record in enumerate(strand.occurrences(lane), 1):
        position = places.get(record.ordinal, count)
        if record.data.strip():
            try:
                value = load(record.data)
            except NotReadable as error:
                troubles.append(Trouble.of(f"{strand.place}: line {position}", error, KEPT))
                continue
            refs = [Ref(strand.id, lane, record.ordinal)]
            yield DecodedLine(value, position, record.ordinal in places, record.present, refs)
    tail = strand.states[-1].tail
    if tail.strip():
        position = len(newest) + 1
        try:
            yield DecodedLine(load(tail), position, True, strand.present, [])
        except NotReadable:
            place = f"{strand.place}: line {position}"
            troubles.append(Trouble.of(place, "last-line-torn"))


def document_of(strand: Strand, troubles: list[Trouble]) -> Any:
    """The newest version of a file that is one JSON value; None, and a trouble, when it is none."""
    try:
        if strand.states[-1].in_pieces:
            raise NotReadable("too-large-to-read")
        return load(strand.document())
    except NotReadable as error:
        troubles.append(Trouble.of(strand.place, error, Wording("kept-as-found")))
        return None


def head_of(strand: Strand, troubles: list[Trouble]) -> Any:
    """The newest version of a document that is kept in pieces, with the lists empty that were cut out."""
    state = strand.states[-1]
    if any(run.lane == WHOLE for run in state.runs):
        return document_of(strand, troubles)
    ordinals = [n for numbers in state.ordinals(HEAD) for n in numbers]
    try:
        return load(b"".join(strand.fetch(HEAD, ordinals)))
    except NotReadable as error:
        troubles.append(Trouble.of(strand.place, error, Wording("kept-as-found")))
        return None
