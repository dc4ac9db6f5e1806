"""Messages on their way into the story, with what the counting still needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rireki.model.message import Author, Display, Entry, Message
from rireki.model.parts import Part, Unknown
from rireki.model.strand import Ref

__all__ = ["Draft", "make", "unknown"]


@dataclass(slots=True)
class Draft:
    message: Message
    #: A person typed it: it starts a turn.
    typed: bool = False
    #: True: the agent had its say. False: something is still to come. None: does not matter.
    ends: bool | None = None
    #: The records it was made of.
    refs: list[Ref] = field(default_factory=list)


def make(
    name: str,
    author: Author,
    display: Display,
    parts: Sequence[Part],
    rule: str,
    *,
    label: str | None = None,
    flags: tuple[str, ...] = (),
    ends: bool | None = None,
) -> Draft:
    """A message that the rule of this name decided. Its place and type are noted later."""
    message = Message(
        id=name,
        author=author,
        display=display,
        label=label,
        parts=list(parts),
        entry=Entry(0, "", flags, rule),
    )
    return Draft(message, ends=ends)


def unknown(name: str, what: str, raw: Any) -> Draft:
    """Something we do not understand: kept, shown folded."""
    return make(name, "harness", "fold", [Unknown(what, raw)], "not understood", label=what)
