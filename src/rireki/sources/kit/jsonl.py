"""Files of lines that an agent appends to: read the tail, notice a rewrite, hold an unfinished line.

A record is one line with its newline; records and tail joined are the file.
Nothing here looks inside a line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from rireki.errors import SourceTrouble
from rireki.sources.kit.digests import digest_of_bytes
from rireki.sources.kit.stamps import is_regular
from rireki.sources.reader import Content, Known, Origin, Piece, Update

__all__ = ["LANE", "read_lines", "split_lines"]

LANE = "lines"
#: How much is read at once: bounds memory, whatever the size of the file.
BLOCK = 4 << 20
#: How much of what lies before the cursor is compared to see whether the file was rewritten.
PROBE = 4096


def read_lines(origin: Origin, known: Known) -> Iterator[Update]:
    """What is new in a file of lines: its tail when it grew, all of it when it was rewritten."""
    cursor = known.cursors.get("")
    with _open(origin) as file:
        status = os.fstat(file.fileno())
        identity = [status.st_dev, status.st_ino]
        if cursor is None:
            yield from _read_on(origin, file, 0, identity)
        elif _only_grew(file, cursor, identity, status.st_size):
            yield from _read_on(origin, file, cursor["offset"], identity)
        else:
            yield _read_whole(origin, file, identity)


def split_lines(data: bytes) -> tuple[list[bytes], bytes]:
    """Complete lines, each with its newline, and what is left. Splits at b"\\n" only."""
    lines = BytesIO(data).readlines()
    tail = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
    return lines, tail


def _open(origin: Origin) -> Any:
    try:
        # O_NONBLOCK: a named pipe put in place of the file must not hang us.
        descriptor = os.open(
            origin.place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except OSError as error:
        raise SourceTrouble(
            f"{origin.place}: cannot be opened ({error.strerror})",
            "Check that the file is there and that you may read it.",
        ) from error
    if not is_regular(os.fstat(descriptor)):
        os.close(descriptor)
        raise SourceTrouble(f"{origin.place}: not a plain file", "It was left alone.")
    return os.fdopen(descriptor, "rb", buffering=0)


def _only_grew(file: Any, cursor: Any, identity: list[int], size: int) -> bool:
    """Whether what lies before the cursor is still what we read."""
    offset, tail = cursor["offset"], cursor["tail"]
    if not offset or cursor["identity"] != identity or size < offset + tail:
        # A file that was empty may have been emptied: its lines may be old acquaintances.
        return False
    return bool(_probe(file, offset, tail) == cursor["probe"])


def _probe(file: Any, offset: int, tail: int) -> str:
    """A digest of what stands before the cursor, and of the unfinished line after it."""
    start = max(0, offset - PROBE)
    file.seek(start)
    return digest_of_bytes(file.read(offset - start + tail)).hex()


def _read_on(origin: Origin, file: Any, offset: int, identity: list[int]) -> Iterator[Update]:
    """The lines from `offset` on, in updates of bounded size."""
    tail = b""
    while True:
        file.seek(offset + len(tail))
        block = file.read(BLOCK)
        lines, rest = split_lines(tail + block)
        offset += sum(map(len, lines))
        tail = rest
        ended = len(block) < BLOCK
        # A line longer than a block gathers in the tail until its end comes.
        if lines or ended:
            yield Update(
                role=origin.role,
                conversation=origin.conversation,
                contents=[Content(LANE, [Piece(line, b"") for line in lines])],
                grows=True,
                tail=tail,
                cursor=_cursor(file, offset, tail, identity),
            )
        if ended:
            return


def _read_whole(origin: Origin, file: Any, identity: list[int]) -> Update:
    file.seek(0)
    lines, tail = split_lines(b"".join(iter(lambda: file.read(BLOCK), b"")))
    return Update(
        role=origin.role,
        conversation=origin.conversation,
        contents=[Content(LANE, [Piece(line, digest_of_bytes(line)) for line in lines])],
        tail=tail,
        cursor=_cursor(file, sum(map(len, lines)), tail, identity),
    )


def _cursor(file: Any, offset: int, tail: bytes, identity: list[int]) -> dict[str, Any]:
    return {
        "offset": offset,
        "tail": len(tail),
        "identity": identity,
        "probe": _probe(file, offset, len(tail)),
    }
