"""Files that are written whole: read whole, kept as one record per version, or cut (`pieces.py`).

One that is too large for that is kept in stretches of bytes, and named.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import FileIO

from rireki.errors import ArchiveTrouble, SourceTrouble
from rireki.model.strand import PIECES, StrandBytes
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.jsonl import PIECE, too_large
from rireki.sources.kit.pieces import WHOLE, Cuts, split, whole
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Content, Known, Origin, Piece, Update

__all__ = ["LANE", "read_document"]

LANE = WHOLE


def read_document(
    origin: Origin, known: Known | None = None, key: str = "", cuts: Cuts | None = None
) -> Iterator[Update]:
    """A version of the file: as one record, or in the pieces that `cuts` asks for."""
    known = known or Known()
    with open_plain(origin.place) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            if size > known.largest:
                yield from _pieces(origin, file, size, known, key)
            else:
                data = file.read()
                yield _update(origin, key, split(data, cuts) if cuts else whole(data))
        except OSError as error:
            raise SourceTrouble(
                "document-unreadable", place=origin.place, why=error.strerror
            ) from error


def _pieces(origin: Origin, file: FileIO, size: int, known: Known, key: str) -> Iterator[Update]:
    held = known.held(key)
    if held is not None and _is_same(file, size, held):
        return
    trouble = too_large(origin.place, "a file", size, known.largest)
    file.seek(0)
    begun = False
    while data := file.read(PIECE):
        update = _update(origin, key, [Content(PIECES, [Piece(data, digest_of_bytes(data))])])
        update.grows = update.continues = begun
        update.troubles = [trouble]
        begun = True
        yield update


def _is_same(file: FileIO, size: int, held: StrandBytes) -> bool:
    """Whether it is only touched: read again, it would be a version of its own."""
    try:
        for start, records in held.blocks():
            data = b"".join(records)
            file.seek(start)
            if file.read(len(data)) != data:
                return False
            size -= len(data)
    except ArchiveTrouble:
        return False
    return size == 0


def _update(origin: Origin, key: str, contents: list[Content]) -> Update:
    return Update(
        key=key,
        role=origin.role,
        conversation=origin.conversation,
        contents=contents,
        cursor={},
    )
