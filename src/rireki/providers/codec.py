"""What a codec is: five functions that know one provider's spelling and none of its rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rireki.providers.neutral import Turn
from rireki.providers.notes import Notes

__all__ = ["Codec"]


@dataclass(frozen=True, slots=True)
class Codec:
    name: str
    #: One stored message → one turn. Never fails: what it does not know becomes opaque.
    decode: Callable[[Any], Turn]
    #: What the provider takes as system prompt → a turn of instructions.
    decode_system: Callable[[Any], Turn]
    #: A turn that keeps the rules → its messages. Parts that have their own JSON keep it.
    encode: Callable[[Turn], list[Any]]
    #: Turns of instructions → what the provider takes as system prompt, if it takes one apart.
    encode_system: Callable[[Sequence[Turn]], Any] | None
    #: Names of what a stored message says beyond the neutral form; with or without its parts'.
    extras: Callable[[Any, bool], list[str]]
    #: All messages, once more: what only those before it can tell of how one is to be spelled.
    settle: Callable[[list[Any]], list[Any]] | None = None
    #: All turns, before they are put in order: without what is sent only together with another.
    prune: Callable[[list[Turn], Notes], list[Turn]] | None = None
    #: One message, or the system prompt, as JSON → as the provider's own package takes it.
    for_package: Callable[[Any], Any] | None = None
