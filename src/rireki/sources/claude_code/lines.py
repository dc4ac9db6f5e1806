"""A strand's records as lines: decoded at first sight, repaired where they are damaged.

One bad line costs one trouble and never its neighbours. Nothing here knows what
a line means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from rireki.model.conversation import Trouble
from rireki.model.strand import Occurrence, Strand
from rireki.sources.claude_code.repair import loads, objects_in
from rireki.sources.claude_code.shapes import LineHead
from rireki.sources.kit.jsonl import LANE

__all__ = ["TranscriptLine", "read_strand"]

_look = msgspec.json.Decoder(LineHead).decode
_STEP = re.compile(r"\.([^.\[`]+)|\[(\d+)\]")
#: A line whose fields keep having other types than ours is given up after so many corrections.
CORRECTIONS = 40
#: Lines from which on it is worth some time to hold them in less memory.
MANY = 10_000


class TranscriptLine(Struct, gc=False):
    """One object of a transcript and where it stood."""

    number: int
    data: bytes
    present: bool
    #: None when the line could not be understood at all.
    look: LineHead | None
    #: Where its bytes are kept. The unfinished end of a file is no record yet.
    strand: int = 0
    record: int | None = None
    #: The look was taken at a corrected copy, so that `data` alone says what stands there.
    mended: bool = False
    #: Counted from 1 on lines that the source has since replaced by another of the same uuid.
    version: int = 0


def read_strand(strand: Strand, troubles: list[Trouble]) -> list[TranscriptLine]:
    """Every line the file ever held, in order; what is wrong with them goes to `troubles`."""
    lines: list[TranscriptLine] = []
    add = lines.append
    number, name = 0, strand.id
    before = LineHead()
    for number, record in enumerate(strand.occurrences(LANE), 1):
        ordinal, data, present, _ = record
        try:
            look = _look(data)
            add(TranscriptLine(number, data, present, look, name, ordinal))
            if number > MANY:
                _share(look, before)
                before = look
        except (ValueError, RecursionError):
            lines.extend(_mend(strand, number, record, troubles))
    tail = strand.states[-1].tail if strand.states else b""
    if tail.strip():
        lines.extend(_read_tail(strand, number + 1, tail, troubles))
    return lines


def _share(look: LineHead, before: LineHead) -> None:
    """What a line has in common with the one before it is held once: a quarter of what a very long
    transcript would take besides its bytes."""
    if look.sessionId == before.sessionId:
        force_setattr(look, "sessionId", before.sessionId)
    if look.cwd == before.cwd:
        force_setattr(look, "cwd", before.cwd)
    if look.parentUuid == before.uuid:
        force_setattr(look, "parentUuid", before.uuid)


def _read_tail(
    strand: Strand, number: int, tail: bytes, troubles: list[Trouble]
) -> list[TranscriptLine]:
    """The last line has no newline: whole when its JSON is, otherwise still being written."""
    try:
        return [TranscriptLine(number, tail, strand.present, _look(tail))]
    except (ValueError, RecursionError):
        found = _look_leniently(tail)
    if found is not None:
        return [TranscriptLine(number, tail, strand.present, found, mended=True)]
    troubles.append(
        Trouble(
            f"{strand.place}: line {number}",
            "unfinished line",
            "It is kept as it is; the next import reads it again.",
        )
    )
    return []


def _mend(
    strand: Strand, number: int, record: Occurrence, troubles: list[Trouble]
) -> Iterator[TranscriptLine]:
    """The lines in a damaged one, and one trouble unless nothing was missing."""

    def line(data: bytes, look: LineHead | None) -> TranscriptLine:
        return TranscriptLine(
            number, data, record.present, look, strand.id, record.ordinal, mended=True
        )

    data = record.data
    if not data.strip():
        return
    if b"\0" not in data and (found := _look_leniently(data)) is not None:
        yield line(data, found)
        return
    lost = False
    pieces = 0
    for piece in objects_in(data):
        pieces += 1
        found = _look_leniently(piece)
        lost = lost or found is None
        yield line(piece, found)
    if lost or not pieces:
        message = "not readable as a line of a transcript"
    else:
        message = "damaged, but whole once taken apart" if pieces > 1 else "damaged, but repaired"
    troubles.append(
        Trouble(f"{strand.place}: line {number}", message, "Its bytes are kept as they are.")
    )


def _look_leniently(data: bytes) -> LineHead | None:
    """A look at a line with half a character in it, or with fields of unexpected types."""
    value = loads(data)
    if not isinstance(value, dict):
        return None
    for _ in range(CORRECTIONS):
        try:
            return _look(msgspec.json.encode(value))
        except msgspec.ValidationError as error:
            if not _drop(value, str(error)):
                return None
        except (ValueError, RecursionError):
            return None
    return None


def _drop(value: Any, complaint: str) -> bool:
    """Take out the one field that msgspec names (`… - at `$.message.content[2].id``)."""
    steps = _STEP.findall(complaint.rpartition(" - at `$")[2])
    try:
        for name, index in steps[:-1]:
            value = value[name or int(index)]
        name, index = steps[-1]
        del value[name or int(index)]
    except (LookupError, TypeError):
        return False
    return True
