"""The readers that are installed: ours and strangers', through the same entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path

from rireki.errors import NotFound
from rireki.sources.reader import Reader

__all__ = ["names", "reader", "readers"]

GROUP = "rireki.readers"


@cache
def _addresses() -> dict[str, str]:
    """Reader names and where they live, by name.

    importlib.metadata would tell the same, but importing it costs 30 ms, a fifth
    of what an import with nothing new may take.
    """
    found: dict[str, str] = {}
    for folder in dict.fromkeys(sys.path):
        for file in sorted(Path(folder or ".").glob("*-info/entry_points.txt")):
            found = {**_parse(file.read_text(encoding="utf-8")), **found}
    return dict(sorted(found.items()))


def _parse(text: str) -> dict[str, str]:
    """The entries of our group in an entry_points.txt."""
    _, found, rest = text.partition(f"[{GROUP}]")
    lines = rest.partition("\n[")[0].splitlines() if found else []
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.strip(): address.strip() for name, _, address in pairs}


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
