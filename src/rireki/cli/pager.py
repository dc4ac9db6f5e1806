"""The pager in which long output is read."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable

from rireki.show.safe import printable

__all__ = ["feed", "find_pager", "opens_in_the_middle"]


def find_pager(at: int) -> list[str] | None:
    """The user's pager; `less` leaves short texts on the screen and can open in the middle."""
    chosen = os.environ.get("PAGER", "less").split()
    path = shutil.which(chosen[0]) if chosen else None
    if path is None or chosen[0] == "cat":
        return None
    if os.path.basename(path) == "less":  # noqa: PTH119
        return [path, *chosen[1:], "-R", *([f"+{at + 1}"] if at else ["-F", "-X"])]
    return [path, *chosen[1:]]


def opens_in_the_middle() -> bool:
    """Whether the pager can be opened at a line, with everything else above and below it."""
    chosen, *_ = os.environ.get("PAGER", "less").split() or [""]
    return chosen.rpartition("/")[2] == "less" and shutil.which(chosen) is not None


def feed(command: list[str], lines: Iterable[str]) -> None:
    pager = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, encoding="utf-8")
    assert pager.stdin is not None
    try:
        for line in lines:
            # What the pager shows, the terminal gets.
            pager.stdin.write(printable(line) + "\n")
        pager.stdin.close()
    except BrokenPipeError:
        # The reader has seen enough and closed the pager.
        pager.stdin = None
    finally:
        _wait(pager)


def _wait(pager: subprocess.Popen[str]) -> None:
    """Ctrl-C belongs to the pager: it stops its reading, not ours."""
    while True:
        try:
            pager.wait()
            return
        except KeyboardInterrupt:
            continue
