"""Whoever wants to see conversations as they are interpreted, such as the search index.

Interpreting is most of the work of an import, and often happens in another
process: so a follower names a function that runs there, next to the reading,
and gets what it returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from rireki.model.conversation import Reading

__all__ = ["Followed", "Follower", "digest_of"]


class Followed(NamedTuple):
    """A conversation that was just stored, and what the follower's function made of it."""

    id: str
    #: The number of the change that stored it.
    changed: int
    digest: Any


class Follower(Protocol):
    #: "package.module:function", called with a reading.
    digest: str

    def take(self, conversations: Sequence[Followed], left: float) -> None:
        """Conversations, and which share of the bytes is still to come, from others at work."""


def digest_of(name: str) -> Callable[[Reading], Any]:
    module, _, function = name.partition(":")
    found: Callable[[Reading], Any] = getattr(import_module(module), function)
    return found
