"""Stores of agents that no reader understands yet: where they lie, and how much is there.

So that `rireki sources` can say that it saw them. Names are counted, no file is opened. An agent
whose reader is installed is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from rireki.sources.kit.places import Places

__all__ = ["MOST", "Unread", "unread_stores"]

#: Files of one store that are counted.
MOST = 10_000

#: Files below an agent's own folder in the home, which a variable may name instead.
_IN_HOME = {
    "codex": ("CODEX_HOME", ".codex", "sessions", "*/*/*/rollout-*.jsonl"),
    "cursor-cli": ("CURSOR_CONFIG_DIR", ".cursor", "chats", "*/*/store.db"),
}


class Unread(msgspec.Struct, frozen=True):
    """A store that was seen."""

    source: str
    place: str
    files: int


def unread_stores(places: Places, known: Iterable[str] = ()) -> list[Unread]:
    """The stores of this home; `known` are the readers there are."""
    found = _home(places)
    passed = set(known)
    return sorted((one for one in found if one.source not in passed), key=lambda one: one.source)


def _home(places: Places) -> Iterator[Unread]:
    for source, (variable, folder, below, pattern) in _IN_HOME.items():
        root = (places.variable(variable) if variable else None) or places.home / folder
        yield from _seen(source, root / below, [pattern])


def _seen(source: str, root: Path, patterns: Iterable[str]) -> Iterator[Unread]:
    try:
        files = sum(1 for pattern in patterns for _ in islice(root.glob(pattern), MOST))
    except (OSError, ValueError):
        # A folder that may not be looked into, or a path that is none.
        return
    if files:
        yield Unread(source, str(root), files)
