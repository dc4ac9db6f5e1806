"""Values of a database that are too large to be one record: kept in pieces, and named.

As long lines are (`longlines.py`): read a stretch at a time, so that memory stays bounded, and
never interpreted. Nothing here knows what a value means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from rireki.model.strand import PIECES
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.longlines import PIECE
from rireki.sources.kit.sqlite import Database
from rireki.sources.reader import Content, Piece, Update

__all__ = ["Changed", "is_unfinished", "pieces_of", "updates"]

#: Pieces that are read by one statement. To get to a stretch SQLite follows the pages of all before
#: it: many short ones would take far longer, one long one all the memory.
STRETCH = 8
#: Stands in the cursor of a value whose last piece was not read yet.
_UNFINISHED = "unfinished"


class Changed(Exception):
    """The value was saved again while it was read."""


def pieces_of(
    database: Database, table: str, column: str, rowid: int, size: int
) -> Iterator[bytes]:
    """A value piece by piece. Raises Changed when it is no longer what it was."""
    for start in range(0, size, STRETCH * PIECE):
        wanted = min(STRETCH * PIECE, size - start)
        data = database.slice(table, column, rowid, start, wanted)
        if data is None or len(data) != wanted:
            raise Changed
        for at in range(0, wanted, PIECE):
            yield data[at : at + PIECE]


def updates(whole: Update, pieces: Iterator[bytes], *, begun: bool) -> Iterator[Update]:
    """The updates that bring a value. Only the last has the cursor of `whole`: whoever is
    interrupted before begins again, and says so by `begun`."""
    unfinished = {**whole.cursor, _UNFINISHED: True}
    made: Update | None = None
    for data in pieces:
        if made is not None:
            yield made
        made = replace(
            whole,
            contents=[Content(PIECES, [Piece(data, digest_of_bytes(data))])],
            grows=made is not None,
            continues=made is not None or begun,
            cursor=unfinished,
        )
    if made is not None:
        made.cursor = whole.cursor
        yield made


def is_unfinished(cursor: Any) -> bool:
    """Whether what is kept of a value is only its beginning."""
    return isinstance(cursor, dict) and bool(cursor.get(_UNFINISHED))
