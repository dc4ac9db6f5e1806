"""An SQLite file read page by page, without SQLite: for files that SQLite gives up on.

Everything is only read, and what cannot be read is noted and passed over. The committed part of
the write-ahead log counts. Knows the file format (https://sqlite.org/fileformat2.html) and
nothing of archives.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["BadPage", "Cell", "Pages", "Unreadable", "decode_record"]

MAGIC = b"SQLite format 3\0"
PAGE_SIZE = 4096
HEADER = 100
WAL_HEADER, FRAME_HEADER = 32, 24
WAL_MAGIC = (0x377F0682, 0x377F0683)
#: Kinds of pages in a tree.
INNER_INDEX, INNER_TABLE, LEAF_INDEX, LEAF_TABLE = 2, 5, 10, 13
INNER, TABLES = (INNER_INDEX, INNER_TABLE), (INNER_TABLE, LEAF_TABLE)
#: The lengths of integers and floats, by serial type.
FIXED = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
REAL = 7
#: No row of an archive is longer: SQLite's own limit.
LONGEST = 1_000_000_000


class Unreadable(Exception):
    """Bytes that cannot be what they should be."""


class BadPage(NamedTuple):
    number: int
    why: str


class Cell(NamedTuple):
    """One row of a tree, as bytes."""

    page: int
    rowid: int | None
    payload: bytes
    #: Every page it lies on.
    pages: tuple[int, ...]


class Pages:
    """The pages of a file, numbered from 1; those of its log in place of the older ones."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        length = os.fstat(self._file).st_size
        head = self._at(0, HEADER)
        self.sound_header = head[:16] == MAGIC
        size = int.from_bytes(head[16:18], "big") if self.sound_header else PAGE_SIZE
        size = 65536 if size == 1 else size
        self.size = size if 512 <= size <= 65536 and not size & (size - 1) else PAGE_SIZE
        self._log: dict[int, bytes] = {}
        log = path.with_name(path.name + "-wal")
        if log.exists():
            self._read_log(log.read_bytes())
        self.count = max([length // self.size, *self._log])
        self.bad: list[BadPage] = []

    def close(self) -> None:
        os.close(self._file)

    def _at(self, offset: int, length: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file, length, offset)
        os.lseek(self._file, offset, os.SEEK_SET)
        return os.read(self._file, length)

    def page(self, number: int) -> bytes:
        if number in self._log:
            return self._log[number]
        data = self._at((number - 1) * self.size, self.size) if 0 < number <= self.count else b""
        if len(data) < self.size:
            raise Unreadable("it lies behind the end of the file")
        return data

    # ── the log ──

    def _read_log(self, log: bytes) -> None:
        """Take the frames up to the last commit, as far as their checksums go."""
        if len(log) < WAL_HEADER:
            return
        magic, _, size, _, *salts = struct.unpack(">IIIIII", log[:24])
        order = ">" if magic & 1 else "<"
        sums = _log_sum(log[:24], (0, 0), order)
        if magic not in WAL_MAGIC or sums != struct.unpack(">II", log[24:32]):
            return
        self.size = size
        pending: dict[int, bytes] = {}
        for start in range(WAL_HEADER, len(log) - FRAME_HEADER - size + 1, FRAME_HEADER + size):
            head, page = log[start : start + 24], log[start + 24 : start + 24 + size]
            number, commits, *noted = struct.unpack(">IIIIII", head)
            sums = _log_sum(page, _log_sum(head[:8], sums, order), order)
            if noted[:2] != salts or tuple(noted[2:]) != sums:
                return
            pending[number] = page
            if commits:
                self._log.update(pending)
                pending = {}

    # ── trees ──

    def free(self) -> set[int]:
        """The pages that hold nothing any more, as far as their list can be read."""
        found: set[int] = set()
        if not self.sound_header:
            return found
        trunk = int.from_bytes(self.page(1)[32:36], "big")
        try:
            while trunk and trunk not in found:
                page = self.page(trunk)
                found.add(trunk)
                trunk, count = struct.unpack(">II", page[:8])
                if count > self.size // 4 - 2:
                    raise Unreadable("the list of free pages is damaged")
                found.update(struct.unpack(f">{count}I", page[8 : 8 + 4 * count]))
        except Unreadable as error:
            self.bad.append(BadPage(trunk, str(error)))
        return found

    def tree(self, root: int, seen: set[int], table: bool) -> Iterator[Cell]:
        """Every row below a page that can be read; all pages on the way are added to `seen`.

        The tree of a `table` with numbered rows is of another kind than all others.
        """
        waiting = [root]
        while waiting:
            number = waiting.pop()
            if number in seen:
                self.bad.append(BadPage(number, "it belongs to two places"))
                continue
            seen.add(number)
            try:
                page = self.page(number)
                kind = page[_start(number)]
                if kind not in (*INNER, LEAF_INDEX, LEAF_TABLE):
                    raise Unreadable("it is not what it should be")
                if (kind in TABLES) != table:
                    raise Unreadable("it belongs to something else")
                if kind in INNER:
                    waiting += reversed(self._children(number, page))
            except Unreadable as error:
                self.bad.append(BadPage(number, str(error)))
                seen.discard(number)
                continue
            for cell in self.cells(number):
                seen.update(cell.pages)
                yield cell

    def kind(self, number: int) -> int:
        """What kind of page of a tree this is; 0 for none."""
        try:
            page = self.page(number)
        except Unreadable:
            return 0
        kind = page[_start(number)]
        count = int.from_bytes(page[_start(number) + 3 : _start(number) + 5], "big")
        fits = kind in (*INNER, LEAF_INDEX, LEAF_TABLE) and 0 < count <= self.size // 4
        return kind if fits else 0

    def _children(self, number: int, page: bytes) -> list[int]:
        start = _start(number)
        places = [*self._pointers(number, page), start + 8]
        children = [int.from_bytes(page[at : at + 4], "big") for at in places]
        good = [child for child in children if 1 < child <= self.count]
        if len(good) < len(children):
            self.bad.append(BadPage(number, "it leads to pages that are not there"))
        return good

    def _pointers(self, number: int, page: bytes) -> list[int]:
        start = _start(number)
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        first = start + (12 if page[start] in INNER else 8)
        if first + 2 * count > self.size:
            self.bad.append(BadPage(number, "it has too many rows"))
            count = (self.size - first) // 2
        found = struct.unpack(f">{count}H", page[first : first + 2 * count])
        good = [at for at in found if first + 2 * count <= at <= self.size - 4]
        if len(good) < count:
            self.bad.append(BadPage(number, "rows are not where they should be"))
        return good

    def cells(self, number: int) -> Iterator[Cell]:
        """The rows of one page that can be read."""
        page = self.page(number)
        kind = page[_start(number)]
        if kind == INNER_TABLE:
            return
        for at in self._pointers(number, page):
            try:
                yield self._cell(number, page, kind, at)
            except Unreadable as error:
                self.bad.append(BadPage(number, f"a row cannot be read: {error}"))

    def _cell(self, number: int, page: bytes, kind: int, at: int) -> Cell:
        at += 4 if kind == INNER_INDEX else 0
        length, at = varint(page, at)
        rowid = None
        if kind == LEAF_TABLE:
            rowid, at = varint(page, at)
        if not 0 < length <= LONGEST:
            raise Unreadable("its length is impossible")
        local = self._local(length, kind)
        payload = page[at : at + local]
        if len(payload) < local:
            raise Unreadable("it ends behind its page")
        if local == length:
            return Cell(number, rowid, payload, (number,))
        next_page = int.from_bytes(page[at + local : at + local + 4], "big")
        rest, more = self._overflow(next_page, length - local)
        return Cell(number, rowid, payload + rest, (number, *more))

    def _local(self, length: int, kind: int) -> int:
        """How many bytes of a row lie on its own page."""
        usable = self.size
        most = usable - 35 if kind == LEAF_TABLE else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (length - least) % (usable - 4)
        return fitting if fitting <= most else least

    def _overflow(self, number: int, length: int) -> tuple[bytes, list[int]]:
        pieces: list[bytes] = []
        pages: list[int] = []
        if length > self.count * self.size:
            raise Unreadable("it is longer than the file")
        while length > 0:
            if number in pages:
                raise Unreadable("it leads back to itself")
            page = self.page(number)
            pages.append(number)
            pieces.append(page[4 : 4 + min(length, self.size - 4)])
            length -= len(pieces[-1])
            number = int.from_bytes(page[:4], "big")
        if number:
            raise Unreadable("it goes on behind its end")
        return b"".join(pieces), pages


def _start(number: int) -> int:
    return HEADER if number == 1 else 0


def _log_sum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for one, other in zip(words, words, strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(9):
        if at >= len(data):
            raise Unreadable("it ends too early")
        byte = data[at]
        at += 1
        if place == 8:
            value = value << 8 | byte
            break
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return (value - (1 << 64) if value >= 1 << 63 else value), at


def decode_record(payload: bytes) -> list[Any]:
    """The values of a row; a text as `Text`, since its bytes may be none."""
    end, at = varint(payload, 0)
    if not at <= end <= len(payload):
        raise Unreadable("its head is damaged")
    kinds = []
    while at < end:
        kind, at = varint(payload, at)
        kinds.append(kind)
    if at != end:
        raise Unreadable("its head is damaged")
    values: list[Any] = []
    for kind in kinds:
        value, at = _value(payload, kind, at)
        values.append(value)
    if at != len(payload):
        raise Unreadable("its length is wrong")
    return values


def _value(payload: bytes, kind: int, at: int) -> tuple[Any, int]:
    if kind < 0 or kind in (10, 11):
        raise Unreadable("a value of no kind")
    length = FIXED[kind] if kind < len(FIXED) else (kind - 12) // 2
    raw = payload[at : at + length]
    if len(raw) < length:
        raise Unreadable("a value ends too late")
    return _meaning(raw, kind), at + length


def _meaning(raw: bytes, kind: int) -> Any:
    if kind >= len(FIXED):
        return TextBytes(raw) if kind % 2 else raw
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == REAL:
        return struct.unpack(">d", raw)[0]
    return int.from_bytes(raw, "big", signed=True)


class TextBytes(bytes):
    """The bytes of a text, which may be damaged."""

    __slots__ = ()
