"""The agent's text while it grows: shown at once, written down when a stretch is complete.

A block is what the agent said in one go: consecutive pieces of one kind. Knows neither the
journal nor listeners: `Blocks` tells its owner what to write.
"""

from __future__ import annotations

from collections import deque
from typing import Literal, Protocol, TypeAlias

__all__ = ["Blocks", "Growing", "Kind", "Writer", "length"]

Kind: TypeAlias = Literal["text", "thought"]
#: Blocks that were settled lately: a listener that comes a little late still gets their end.
LATELY = 16
#: And how many of them are remembered by name.
REMEMBERED = 500


def length(text: str) -> int:
    """How long a text is for a browser, which counts in units of UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Growing:
    """A block, and how much of it is in the journal."""

    def __init__(self, id: str, kind: Kind, message: str | None, provisional: bool) -> None:
        self.id = id
        self.kind = kind
        self.message = message
        self.provisional = provisional
        self.written = 0
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


class Writer(Protocol):
    def number(self) -> int: ...

    def stretch(self, block: Growing, text: str) -> None:
        """Write a further stretch of a block."""

    def settled(self, block: Growing) -> None:
        """All of the block is written."""


class Blocks:
    def __init__(self, prefix: str, writer: Writer) -> None:
        self.growing: Growing | None = None
        self.lately: deque[Growing] = deque(maxlen=LATELY)
        #: Ids of blocks and the numbers they were settled at.
        self.settled: deque[tuple[int, str]] = deque(maxlen=REMEMBERED)
        self._prefix = prefix
        self._writer = writer

    def add(self, kind: Kind, piece: str, message: str | None, provisional: bool) -> None:
        block = self.growing
        if block is None or (block.kind, block.message, block.provisional) != (
            kind,
            message,
            provisional,
        ):
            self.settle()
            id = f"{self._prefix}-{self._writer.number()}"
            block = self.growing = Growing(id, kind, message, provisional)
        block.add(piece)

    def flush(self) -> None:
        """Write what is not written yet; the block may go on growing."""
        block = self.growing
        if block is not None and (rest := block.text[block.written :]):
            block.written += len(rest)
            self._writer.stretch(block, rest)

    def settle(self) -> None:
        """The block is complete: something else follows."""
        self.flush()
        block, self.growing = self.growing, None
        if block is not None:
            self.lately.append(block)
            self.settled.append((self._writer.number(), block.id))
            self._writer.settled(block)
