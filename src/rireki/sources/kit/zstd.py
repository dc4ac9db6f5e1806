"""Compressed bytes of other programs, unpacked up to a limit, whatever they promise."""

from __future__ import annotations

from rireki.model.conversation import Trouble
from rireki.sources.kit.records import KEPT

__all__ = ["LARGEST", "unpacked"]

#: How much is unpacked.
LARGEST = 256 << 20


def unpacked(data: bytes, place: str, troubles: list[Trouble]) -> bytes:
    """What is in it; nothing, and a trouble, when it cannot be unpacked."""
    # Imported late: few files are compressed.
    import zstandard

    try:
        # A frame may promise more than the machine has: what is read is limited, whatever it says.
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            data, read_across_frames=True
        ) as stream:
            text = stream.read(LARGEST + 1)
    except zstandard.ZstdError as error:
        troubles.append(Trouble.of(place, "not-unpacked", hint=KEPT, why=error))
        return b""
    if len(text) > LARGEST:
        troubles.append(Trouble.of(place, "too-large-to-show", hint=KEPT))
    return text[:LARGEST]
