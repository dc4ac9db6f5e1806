"""A message before its parts: who, how shown, from which lines. All that counting needs."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, TypeAlias

from msgspec import Struct

from rireki.sources.claude_code.classify import AuthorRule
from rireki.sources.claude_code.lines import TranscriptLine

__all__ = ["Draft", "What", "line_id"]

What: TypeAlias = Literal[
    "prompt",
    "context",
    "answer",
    "result",
    "said",
    "divider",
    "attachment",
    "system",
    "queued",
    "strange",
]


class Draft(Struct, gc=False):
    id: str
    what: What
    line: TranscriptLine
    rule: AuthorRule
    turn: int | None
    #: Further lines of the same message.
    more: list[TranscriptLine] | None = None
    #: The agent said something in words.
    spoke: bool = False
    abandoned: bool = False
    replaced_by: str | None = None

    @property
    def lines(self) -> list[TranscriptLine]:
        return [self.line, *self.more] if self.more else [self.line]

    @property
    def cut(self) -> bool:
        """The answer was stopped while it was coming in."""
        return any(line.look is not None and line.look.isAbortedMidStream for line in self.lines)

    @property
    def uuid(self) -> str | None:
        return self.line.look.uuid if self.line.look is not None else None

    @property
    def present(self) -> bool:
        return self.line.present or any(line.present for line in self.more or ())


def line_id(line: TranscriptLine) -> str:
    """A line's own id, or one made of its bytes: stable wherever the line stands."""
    if line.look is not None and line.look.uuid:
        return line.look.uuid
    return f"line-{sha256(line.data.strip()).hexdigest()[:16]}"
