"""A message: who said it, how to show it, whether the source still has it, and its parts."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from rireki.model.parts import Part

__all__ = ["Author", "Display", "Entry", "Message", "Upstream", "Usage"]

Author: TypeAlias = Literal["person", "agent", "tool", "harness"]
Display: TypeAlias = Literal["bubble", "chip", "divider", "fold", "hidden"]
Upstream: TypeAlias = Literal["present", "gone"]


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=False):
    """Tokens of one answer, or of many; `lower_bound` when the source noted only a start value."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    lower_bound: bool = False


class Entry(msgspec.Struct, frozen=True, gc=False):
    """Where a message stood in its source and what decided its author and display.

    `position` is the line number in the file or the place in the history list,
    counted from 1. `rule` names the row of the classification table that hit.
    """

    position: int
    role: str
    flags: tuple[str, ...] = ()
    rule: str = ""


class Message(msgspec.Struct, kw_only=True, gc=False):
    id: str
    author: Author
    display: Display
    label: str | None = None
    at: str | None = None
    model: str | None = None
    turn: int | None = None
    upstream: Upstream = "present"
    replaced_by: str | None = None
    parts: list[Part] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    #: The message this one answers or follows, where the source keeps a tree.
    parent: str | None = None
    #: True on a branch the person left (a rewind); it is still part of the story.
    abandoned: bool = False
    entry: Entry | None = None
