"""All that is known of one provider: how it spells messages, what it accepts, what things are called.

Each provider has a module with one `PROVIDER`; `registry.py` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rireki.providers.neutral import Request, Turn
from rireki.providers.notes import Notes
from rireki.providers.rules import Rules

__all__ = ["Codec", "ModelProvider", "UsageNames", "WireNames"]


@dataclass(frozen=True, slots=True)
class Codec:
    """Functions that know the provider's spelling and none of its rules."""

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


class WireNames(NamedTuple):
    """What the provider's API calls the messages, and the system prompt that stands outside of them."""

    messages: str
    system: str


class UsageNames(NamedTuple):
    """Where an answer says how many tokens it took: paths of names in its JSON."""

    input: str
    output: str
    cache_read: str = ""
    cache_write: str = ""
    #: Tokens of thinking, where the output does not count them.
    thoughts: str = ""
    #: Whether what came from the cache is in the count of the input.
    inclusive: bool = False


@dataclass(frozen=True, slots=True)
class ModelProvider:
    codec: Codec
    rules: Rules
    request: type[Request]
    wire: WireNames
    usage: UsageNames
    #: The class of its client in `rireki.agent.clients`, in a module of the provider's name.
    client: str
    #: Models that want something else: a pattern of their names, and the rules that differ. The first
    #: one that fits decides.
    families: tuple[tuple[str, dict[str, Any]], ...] = ()
