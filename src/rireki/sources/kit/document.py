"""Files that are written whole: read whole, kept as one record per version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rireki.errors import SourceTrouble
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.stamps import is_regular
from rireki.sources.reader import Content, Origin, Piece, Update

__all__ = ["LANE", "read_document"]

LANE = "whole"


def read_document(origin: Origin, key: str = "") -> Iterator[Update]:
    path = Path(origin.place)
    try:
        if not is_regular(path.stat()):
            raise SourceTrouble(f"{origin.place}: not a plain file", "It was left alone.")
        data = path.read_bytes()
    except OSError as error:
        raise SourceTrouble(
            f"{origin.place}: cannot be read ({error.strerror})",
            "Check that the file is there and that you may read it.",
        ) from error
    yield Update(
        key=key,
        role=origin.role,
        conversation=origin.conversation,
        contents=[Content(LANE, [Piece(data, digest_of_bytes(data))])],
        cursor={},
    )
