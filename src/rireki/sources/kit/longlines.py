"""Lines that are too long to be one record: kept in pieces, and named.

Also an unfinished line is kept in pieces once it is longer than one, so that a line which
grows for hours is not kept again with every addition. When it ends and is not too long after
all, it becomes one record. Nothing here looks inside a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rireki.model.conversation import Trouble

__all__ = ["PIECE", "LongLine", "LongLines", "too_large"]

#: How long a piece is.
PIECE = 4 << 20


class LongLines:
    """The long lines of one file, as its cursor remembers them."""

    def __init__(self, place: str, largest: int) -> None:
        self.place = place
        self.largest = largest
        #: Where each line begins that is kept in pieces, and its length.
        self.found: list[list[int]] = []
        #: How many bytes of an unfinished line are kept in pieces so far.
        self.open = 0

    def load(self, cursor: Any) -> None:
        self.found = [list(each) for each in cursor.get("long", ())]
        self.open = cursor.get("open", 0)

    def load_until(self, cursor: Any, position: int) -> int:
        """Those before a position; in the middle of one, it goes back to where that begins."""
        self.load(cursor)
        lines = [*self.found, [cursor["offset"] - self.open, self.open]]
        inside = [start for start, size in lines if start < position < start + size]
        # At its end an unfinished line may be gone on with, but not recognised any more.
        inside += [start for start, size in lines[-1:] if size and position == start + size]
        position = min([position, *inside])
        self.found = [each for each in self.found if each[0] < position]
        self.open = 0
        return position

    def cursor(self) -> dict[str, Any]:
        return {
            **({"open": self.open} if self.open else {}),
            **({"long": [list(each) for each in self.found]} if self.found else {}),
        }

    def troubles(self, position: int) -> list[Trouble]:
        lines = list(self.found)
        if self.open > self.largest:
            lines.append([position - self.open, self.open])
        return [
            too_large(f"{self.place}: byte {start:,}", "a line", size, self.largest)
            for start, size in lines
        ]


class LongLine:
    """One line that does not end within a block, from a position in it on."""

    def __init__(self, lines: LongLines, read: Callable[[int, int], bytes], position: int) -> None:
        self.lines = lines
        self.read = read
        self.start = position - lines.open
        self.position = position
        #: Whether the file ended in it.
        self.ended = False

    def whole(self) -> bytes | None:
        """The line, if it has an end and is not too long."""
        position = self.position
        while position - self.start < self.lines.largest:
            block = self.read(position, PIECE)
            end = block.find(b"\n") + 1
            if end:
                size = position + end - self.start
                return self.read(self.start, size) if size <= self.lines.largest else None
            if len(block) < PIECE:
                return None
            position += PIECE
        return None

    def pieces(self) -> Iterator[tuple[bytes, bytes]]:
        """The line piece by piece, and at the end what is left of an unfinished one."""
        while True:
            block = self.read(self.position, PIECE)
            end = block.find(b"\n") + 1
            size = self.position + end - self.start
            if end and size <= self.lines.largest:
                # It ended in this very moment, and is not too long.
                return
            if end:
                self.position += end
                self.lines.open = 0
                self.lines.found.append([self.start, size])
                yield block[:end], b""
                return
            if len(block) < PIECE:
                self.ended = True
                yield b"", block
                return
            self.position += PIECE
            self.lines.open += PIECE
            yield block, b""


def too_large(place: str, what: str, size: int, largest: int) -> Trouble:
    """What to say of something that is kept in pieces because of its size."""
    return Trouble(
        place,
        f"{what} of {size:,} bytes is longer than {largest:,}: kept whole, but not read",
        "'rireki restore' gives it back. [import] largest_mb in config.toml allows more.",
    )
