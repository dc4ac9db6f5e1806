"""Taking in one origin: read what is new, keep it together with the cursor, try again if beaten to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from rireki.archive.base import Archive, KnownOrigin, PendingGroup, Stale
from rireki.errors import SourceTrouble
from rireki.intake.limits import largest
from rireki.intake.naming import read_origin
from rireki.model.conversation import Reading, Trouble
from rireki.model.names import as_text
from rireki.model.record import Origin, Roll, Update
from rireki.sources.reader import Known, Reader

__all__ = ["Goes", "Taken", "take_origin"]


#: What a conversation comes to with what is about to be added to it, for whoever knows that without
#: reading all of it: given what is new and the cursors before; None when it has to be read.
Goes: TypeAlias = Callable[[Sequence[Update | Roll], Mapping[str, Any]], Reading | None]
#: What is committed together.
_Group: TypeAlias = "list[Update | Roll]"
#: Updates are committed together up to this many bytes, so that memory stays bounded.
BATCH_BYTES = 4 << 20
BATCH_UPDATES = 64
#: How often to read again when another process was faster.
ATTEMPTS = 5


class Taken(msgspec.Struct):
    #: Whether anything was written, be it only that there is nothing new.
    written: bool = True
    new_bytes: int = 0
    forgotten: int = 0
    trouble: Trouble | None = None


def take_origin(
    archive: Archive,
    reader: Reader,
    origin: Origin,
    known: KnownOrigin | None = None,
    *,
    thorough: bool = False,
    goes: Goes | None = None,
) -> Taken:
    """Keep what is new in an origin.

    Whoever has reason to look at one that is unchanged by its stamp says what is `known` of
    it: nothing is written then, unless there is something new after all. A `thorough` look
    compares all of it with what is kept. What `goes` says it comes to is stored with it.
    """
    calm = known is not None and known.stamp == origin.stamp and known.vanished_at is None
    for _ in range(ATTEMPTS):
        try:
            return _take(archive, reader, origin, calm, thorough, goes)
        except Stale:
            continue
        except SourceTrouble as trouble:
            message = as_text(trouble.message)
            return _note(archive, origin, Trouble(origin.place, message, trouble.hint))
    busy = Trouble.of(origin.place, "taken-by-another")
    return _note(archive, origin, busy)


def _take(
    archive: Archive,
    reader: Reader,
    origin: Origin,
    calm: bool,
    thorough: bool,
    goes: Goes | None,
) -> Taken:
    taken = Taken()
    cursors = archive.cursors(origin.source, origin.place)
    known = Known(
        dict(cursors),
        lambda key: archive.held_bytes(origin.source, origin.place, key),
        largest(),
        unchanged=calm,
        thorough=thorough,
    )
    keys: list[str] | None = None
    settled = False
    for items, is_last in _batches(read_origin(reader, origin, known)):
        if calm and all(_is_nothing(item, cursors) for item in items):
            continue
        calm = False
        with archive.writing() as batch:
            # Within the transaction: nobody else can have changed what it is added to.
            reading = goes(items, cursors) if goes is not None else None
            forgotten = _forgotten(archive, reader.family, origin, items)
            for item in items:
                if isinstance(item, Roll):
                    keys = item.keys
                elif item.key in forgotten:
                    taken.forgotten += 1
                else:
                    before = cursors.get(item.key)
                    taken.new_bytes += batch.add(origin, reader.family, item, before)
                    cursors[item.key] = item.cursor
            if reading is not None:
                name = reading.conversation.native_id
                batch.project(PendingGroup(reader.family, name), [reading], strands=1)
            if is_last:
                batch.finish(origin, keys)
                settled = True
    if calm:
        return Taken(written=False)
    if not settled:
        with archive.writing() as batch:
            batch.finish(origin, keys)
    return taken


def _forgotten(
    archive: Archive, family: str, origin: Origin, items: Sequence[Update | Roll]
) -> set[str]:
    """The keys of what belongs to something that is to be forgotten, or did when it was called by
    its file."""
    updates = [item for item in items if not isinstance(item, Roll)]
    names = {item.conversation for item in updates} | {origin.conversation}
    known = set(archive.forgotten([name for name in names if name is not None]))
    if (family, origin.conversation) in known:
        return {item.key for item in updates}
    return {item.key for item in updates if (item.family or family, item.conversation) in known}


def _is_nothing(item: Update | Roll, cursors: Mapping[str, Any]) -> bool:
    """Whether an origin that looks unchanged holds what we know: the same rows, no more lines."""
    if isinstance(item, Roll):
        # Rows that went in the same moment as the others were read are missed at the next change.
        return True
    grown = any(content.pieces for content in item.contents)
    same = item.grows and not grown and item.keeps is None
    return same and item.cursor == cursors.get(item.key)


def _batches(items: Iterator[Update | Roll]) -> Iterator[tuple[_Group, bool]]:
    """Items in groups of bounded size, and whether a group is known to be the last one.

    The source is not touched while a group is being written.
    """
    group: _Group = []
    size = 0
    for item in items:
        group.append(item)
        size += _size(item)
        if size >= BATCH_BYTES or len(group) >= BATCH_UPDATES:
            yield group, False
            group, size = [], 0
    if group:
        yield group, True


def _size(item: Any) -> int:
    if isinstance(item, Roll):
        return 0
    return sum(len(piece.data) for content in item.contents for piece in content.pieces)


def _note(archive: Archive, origin: Origin, trouble: Trouble) -> Taken:
    with archive.writing() as batch:
        batch.fail(origin, trouble)
    return Taken(trouble=trouble)
