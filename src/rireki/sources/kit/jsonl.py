"""Files of lines that an agent appends to: read the tail, notice a rewrite, hold an unfinished line.

A record is one line with its newline; records and tail joined are the file. A line that is too
long to be one record is kept in pieces, and named; so is an unfinished line once it is longer than
a piece, so that one which grows for hours is not kept again with every addition. When it ends and is not
too long after all, it becomes one record. Nothing here looks inside a line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from typing import Any

from rireki.errors import ArchiveTrouble
from rireki.model.conversation import Trouble
from rireki.model.strand import PIECES, StrandBytes
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.stamps import open_plain
from rireki.sources.reader import Content, Known, Origin, Piece, Update

__all__ = ["LANE", "PIECE", "read_lines", "split_lines", "too_large"]

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
    return Trouble.of(place, "too-long-to-read", what=what, size=size, largest=largest)


LANE = "lines"
#: How much is read at once: bounds memory, whatever the size of the file.
BLOCK = PIECE
#: How much of what lies before the cursor is compared to see whether the file was rewritten.
PROBE = 4096
#: How much of it is compared besides, somewhere, when the file grew.
SAMPLE = 1 << 20


def read_lines(origin: Origin, known: Known) -> Iterator[Update]:
    """What is new in a file of lines: its tail when it grew, what follows the change if it was rewritten."""
    cursor = known.cursors.get("")
    with _open(origin) as file:
        status = os.fstat(file.fileno())
        identity = [status.st_dev, status.st_ino]
        held = known.held("")
        if cursor is None and held is None:
            yield from _Lines(origin, file, identity, known.largest).updates()
        elif cursor is not None and _only_grew(file, cursor, identity, status.st_size, known, held):
            lines = _Lines(origin, file, identity, known.largest)
            lines.go_on(cursor)
            yield from lines.updates()
        else:
            yield from _rewritten(origin, file, identity, known, held)


def split_lines(data: bytes) -> tuple[list[bytes], bytes]:
    """Complete lines, each with its newline, and what is left. Splits at b"\\n" only."""
    lines = BytesIO(data).readlines()
    tail = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
    return lines, tail


def _open(origin: Origin) -> Any:
    return open_plain(origin.place)


# ── what is still as it was ──


def _only_grew(
    file: Any,
    cursor: Any,
    identity: list[int],
    size: int,
    known: Known,
    held: StrandBytes | None,
) -> bool:
    """Whether what lies before the cursor is still what we read.

    A file that grew is looked at where it went on, and somewhere else. One that changed
    and did not grow was rewritten in place, or only touched: all of it is compared.
    """
    offset, tail = cursor["offset"], cursor["tail"]
    if not offset or size < offset + tail:
        # A file that was empty may have been emptied: its lines may be old acquaintances.
        return False
    if _probe(file, offset, tail) != cursor["probe"]:
        return False
    if held is None:
        return bool(cursor["identity"] == identity and (size > offset + tail or known.unchanged))
    whole = cursor["identity"] != identity or size == offset + tail
    if known.thorough or (whole and not known.unchanged):
        return bool(_same(file, held) == offset)
    return known.unchanged or _is_sound(file, held)


def _probe(file: Any, offset: int, tail: int) -> str:
    """A digest of what stands before the cursor, and of the unfinished line after it."""
    start = max(0, offset - PROBE)
    file.seek(start)
    return digest_of_bytes(file.read(offset - start + tail)).hex()


def _is_sound(file: Any, held: StrandBytes) -> bool:
    """Whether one stretch of the file, chosen at random, is what is kept of it."""
    try:
        sample = held.sample(SAMPLE)
    except ArchiveTrouble:
        # What is kept is damaged, and no reason to doubt the file.
        return True
    if sample is None:
        return True
    start, data = sample
    file.seek(start)
    return bool(file.read(len(data)) == data)


def _same(file: Any, held: StrandBytes) -> int:
    """How many bytes of the file are what is kept of it, up to the end of a record."""
    reached = 0
    try:
        for start, records in held.blocks():
            reached = start + sum(map(len, records))
            file.seek(start)
            data = file.read(reached - start)
            if data != b"".join(records):
                return start + _common(records, data)
    except ArchiveTrouble:
        # What is kept is damaged: what follows is read again, and kept once more.
        return reached
    return reached


def _common(records: list[bytes], data: bytes) -> int:
    end = 0
    for record in records:
        if not data.startswith(record, end):
            break
        end += len(record)
    return end


# ── what is new ──


def _rewritten(
    origin: Origin, file: Any, identity: list[int], known: Known, held: StrandBytes | None
) -> Iterator[Update]:
    """From the first line on that is another one; what it held before is recognised where it comes again."""
    # None in an archive that was saved from damage: nobody knows any more how far it was read.
    cursor = known.cursors.get("") or {"offset": 0}
    lines = _Lines(origin, file, identity, known.largest, recognise=True)
    lines.go_on_from(cursor, _same(file, held) if held is not None else 0)
    keeps = lines.position
    for update in _gathered(lines.updates(), known.largest):
        if not update.continues:
            update.grows, update.keeps = keeps > 0, keeps or None
        yield update


def _gathered(updates: Iterator[Update], size: int) -> Iterator[Update]:
    """Fewer and larger updates: what of it is known is looked up once for each."""
    waiting: Update | None = None
    weight = 0
    for update in updates:
        (content,) = update.contents
        if waiting is not None and (
            weight > size or waiting.contents[0].lane != content.lane or content.lane != LANE
        ):
            yield waiting
            waiting, weight = None, 0
        weight += sum(len(piece.data) for piece in content.pieces)
        if waiting is not None:
            content.pieces[:0] = waiting.contents[0].pieces
            update.continues, update.keeps = waiting.continues, waiting.keeps
        waiting = update
    if waiting is not None:
        yield waiting


class _Lines:
    """A file of lines that is read from a position on."""

    def __init__(
        self,
        origin: Origin,
        file: Any,
        identity: list[int],
        largest: int,
        *,
        recognise: bool = False,
    ) -> None:
        self.origin = origin
        self.file = file
        self.identity = identity
        self.recognise = recognise
        self.position = 0
        self.long = LongLines(origin.place, largest)
        self._begun = False

    def go_on(self, cursor: Any) -> None:
        self.position = cursor["offset"]
        self.long.load(cursor)

    def go_on_from(self, cursor: Any, position: int) -> None:
        self.position = self.long.load_until(cursor, position)

    def updates(self) -> Iterator[Update]:
        ended = False
        while not ended:
            block = self._read(self.position, BLOCK)
            ended = len(block) < BLOCK
            lines, tail = ([], block) if self.long.open else split_lines(block)
            if lines or (ended and not self.long.open):
                self.position += len(block) - len(tail)
                yield self._update(LANE, lines, tail if ended else b"")
            else:
                ended = yield from self._long_line()

    def _long_line(self) -> Generator[Update, None, bool]:
        """A line longer than a block; returns whether the file ended in it."""
        line = LongLine(self.long, self._read, self.position)
        whole = line.whole()
        if whole is not None:
            keeps = line.start if self.long.open else None
            self.long.open = 0
            self.position = line.start + len(whole)
            yield self._update(LANE, [whole], keeps=keeps)
            return False
        for piece, tail in line.pieces():
            self.position = line.position
            yield self._update(PIECES, [piece] if piece else [], tail)
        return line.ended

    def _update(
        self, lane: str, records: list[bytes], tail: bytes = b"", keeps: int | None = None
    ) -> Update:
        recognise = self.recognise or lane != LANE
        pieces = [Piece(data, digest_of_bytes(data) if recognise else b"") for data in records]
        update = Update(
            role=self.origin.role,
            conversation=self.origin.conversation,
            contents=[Content(lane, pieces)],
            grows=True,
            keeps=keeps,
            continues=self._begun,
            tail=tail,
            cursor=self._cursor(len(tail)),
            troubles=self.long.troubles(self.position),
        )
        self._begun = True
        return update

    def _cursor(self, tail: int) -> dict[str, Any]:
        return {
            "offset": self.position,
            "tail": tail,
            "identity": self.identity,
            "probe": _probe(self.file, self.position, tail),
            **self.long.cursor(),
        }

    def _read(self, position: int, size: int) -> bytes:
        self.file.seek(position)
        data: bytes = self.file.read(size)
        return data
