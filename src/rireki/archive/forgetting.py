"""What the user said to forget: its bytes go, and it is not taken in again until that is taken back.

What went is noted: whoever got it from here has to be told.
"""

from __future__ import annotations

from collections.abc import Sequence

from rireki.archive.base import Archive, Found
from rireki.archive.batch import Batch
from rireki.archive.curation import drop_facts
from rireki.archive.rows import Rows

__all__ = ["drop", "drop_strand", "forget", "remember", "reopen"]

_COLUMNS = "family, conversation, together, at, number, remembered"


def forget(archive: Archive, found: Sequence[Found]) -> int:
    """Remove a conversation, and those that go with it, for good; returns the bytes that went."""
    with archive.rows.wiping(), archive.writing() as batch:
        return sum(_forget(batch, each, found[0].conversation.native_id) for each in found)


def _forget(batch: Batch, found: Found, together: str) -> int:
    """Remove what belongs to one conversation; `together` names what it was forgotten with."""
    family, grouping = found.family, found.grouping
    native_id = found.conversation.native_id
    whole = batch.projection.is_whole(found)
    # By both names, where they differ: whatever is read is known by the group alone.
    names = dict.fromkeys([native_id, *([grouping] if whole else [])])
    told = ((family, name, together, batch.now, batch.number, 0) for name in names)
    batch.rows.put("forgotten", _COLUMNS, *told)
    return sum(drop(batch, family, name) for name in names)


def drop(batch: Batch, family: str, name: str) -> int:
    """Remove whatever is of this name: strands, what they were read as, and what shared files have
    of it; returns the bytes that went."""
    rows, chunks = batch.rows, batch.records.chunks
    size = chunks.redact(family, name)
    drop_facts(rows, family, name)
    ids = [
        *rows.get("conversation", "id", family=family, native_id=name),
        *rows.get("conversation", "id", family=family, grouping=name),
    ]
    for (id,) in dict.fromkeys(ids):
        batch.projection.log(batch.number, id, 0)
        rows.remove("conversation", id=id)
    for strand, origin, remote in rows.get(
        "strand", "id, origin, remote", family=family, conversation=name
    ):
        size += chunks.weight(strand)
        ((stream,),) = rows.get("origin", "stream", id=origin)
        # Nobody is told of what is another machine's: by what name it was forgotten is told.
        number = batch.number if stream == 0 else 0
        rows.put("removed", "stream, strand, number", (stream, remote or strand, number))
        drop_strand(rows, strand)
    rows.remove("dirty", family=family, conversation=name)
    return size


def drop_strand(rows: Rows, strand: int) -> None:
    for table in ("chunk", "state"):
        rows.remove(table, strand=strand)
    rows.remove("strand", id=strand)


def remember(archive: Archive, native_id: str) -> bool:
    """Take back that a conversation, and what goes with it, was to be forgotten: the next import
    may bring it again. False where nothing of that id was."""
    with archive.writing() as batch:
        found = {
            *batch.rows.get("forgotten", _COLUMNS, conversation=native_id, remembered=0),
            *batch.rows.get("forgotten", _COLUMNS, together=native_id, remembered=0),
        }
        back = ((*row[:3], max(row[3], batch.now), batch.number, 1) for row in found)
        batch.rows.put("forgotten", _COLUMNS, *back)
        reopen(batch.rows)
    return bool(found)


def reopen(rows: Rows) -> None:
    """What was passed over because it was forgotten has to be looked at again, here and elsewhere."""
    rows.reopen_origins()
    for (stream,) in rows.get("stream", "id"):
        rows.remove("removed", stream=stream)
        rows.change("stream", {"id": stream}, reached=0)
