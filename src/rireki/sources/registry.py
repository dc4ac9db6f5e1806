"""The readers that are installed: ours and strangers', through the same entry points."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from rireki.errors import NotFound
from rireki.sources.reader import Reader

__all__ = ["names", "reader", "readers"]

GROUP = "rireki.readers"


@cache
def _addresses() -> dict[str, str]:
    """Reader names and where they live, in a stable order."""
    return {point.name: point.value for point in sorted(entry_points(group=GROUP))}


def names() -> list[str]:
    return list(_addresses())


@cache
def reader(name: str) -> Reader:
    """The reader of a source; importing it only now keeps start-up short."""
    address = _addresses().get(name)
    if address is None:
        raise NotFound(
            f"no reader for the source {name!r}", f"Known sources: {', '.join(names())}."
        )
    module, _, attribute = address.partition(":")
    found: Reader = getattr(import_module(module), attribute)
    return found


def readers(only: Iterable[str] = ()) -> list[Reader]:
    return [reader(name) for name in (list(only) or names())]
