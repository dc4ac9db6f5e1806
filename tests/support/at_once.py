"""The same done by many in the same moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

__all__ = ["assert_many_can"]

MANY, TIMES = 8, 60


def assert_many_can(folder: Path, make: Callable[[Path], object]) -> None:
    """Let many make one file, again and again."""
    together = Barrier(MANY)

    def make_together(path: Path) -> None:
        together.wait()
        make(path)

    with ThreadPoolExecutor(MANY) as others:
        for number in range(TIMES):
            path = folder / f"{number}.sqlite3"
            assert list(others.map(make_together, [path] * MANY)) == [None] * MANY
