"""What the user said to forget: its bytes go, and it is not taken in again until that is taken back."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.archive.base import Archive, Found
from rireki.archive.batch import Batch

__all__ = ["forget", "remember"]


def forget(archive: Archive, found: Sequence[Found]) -> int:
    """Remove a conversation, and those that go with it, for good; returns the bytes that went."""
    with archive.rows.wiping(), archive.writing() as batch:
        return sum(_forget(batch, each, found[0].conversation.native_id) for each in found)


def _forget(batch: Batch, found: Found, together: str) -> int:
    """Remove what belongs to one conversation; `together` names what it was forgotten with."""
    rows, chunks = batch.rows, batch.records.chunks
    family, grouping = found.family, found.grouping
    native_id = found.conversation.native_id
    whole = batch.projection.is_whole(found)
    # By both names, where they differ: whatever is read is known by the group alone.
    names = dict.fromkeys([native_id, *([grouping] if whole else [])])
    told = ((family, name, together, batch.now) for name in names)
    rows.put("forgotten", "family, conversation, together, at", *told)
    size = chunks.redact(family, native_id)
    batch.projection.log(batch.number, found.conversation.id, 0)
    if not whole:
        rows.remove("conversation", id=found.conversation.id)
        return size
    for (strand,) in rows.get("strand", "id", family=family, conversation=grouping):
        size += chunks.weight(strand)
        for table in ("chunk", "state"):
            rows.remove(table, strand=strand)
        rows.remove("strand", id=strand)
    rows.remove("conversation", family=family, grouping=grouping)
    rows.remove("dirty", family=family, conversation=grouping)
    return size


def remember(archive: Archive, native_id: str) -> bool:
    """Take back that a conversation, and what goes with it, was to be forgotten: the next import
    may bring it again. False where nothing of that id was."""
    with archive.writing() as batch:
        found = batch.rows.remove("forgotten", conversation=native_id)
        found += batch.rows.remove("forgotten", together=native_id)
        # Its files were passed over since: they have to be opened again.
        batch.rows.reopen_origins()
    return found > 0
