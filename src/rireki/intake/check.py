"""Comparing files that look unchanged with what is kept of them.

A stamp tells nearly every change, and a file that grew is looked at where it went on. What
escapes both, a line rewritten in place together with an addition, is found by comparing bytes:
a little with every sweep of the keeper, or everything at once when the user asks for it.
Which reader a file belongs to does not matter here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rireki.archive.base import Archive
from rireki.errors import ArchiveTrouble, SourceTrouble
from rireki.model.names import as_path
from rireki.model.record import Origin
from rireki.model.strand import StrandBytes
from rireki.sources.kit.stamps import open_plain

__all__ = ["PER_SWEEP", "Checker"]

#: How many bytes the keeper compares with every sweep.
PER_SWEEP = 20 << 20
#: What did not change since is compared again after so many seconds.
AGAIN = 24 * 3600.0
#: Under which name the archive remembers where the last keeper stopped.
NOTE = "compared"


class _Name(NamedTuple):
    source: str
    place: str


class _Done(NamedTuple):
    stamp: str
    at: float


class Checker:
    """Which files were compared, and when; those that waited longest come first."""

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        #: What was compared in the last run: files, and bytes of them.
        self.files = 0
        self.bytes = 0
        self._done: dict[_Name, _Done] = {}
        #: How far a file has come that is too large for one run.
        self._partly: dict[_Name, tuple[str, int]] = {}
        self._last: _Name | None = None

    def differing(self, archive: Archive, origins: Sequence[Origin]) -> Iterator[Origin]:
        """Those of the files that are not what is kept of them, as far as one run goes."""
        self.files = self.bytes = 0
        if self.budget is not None and self._last is None:
            self._last = _noted(archive)
        before = self._last
        for origin in self._order(origins):
            if self.budget is not None and self.bytes >= self.budget:
                break
            if not self._is_same(archive, origin):
                yield origin
        if self.budget is not None and self._last is not None and self._last != before:
            archive.set_note(NOTE, json.dumps(self._last))

    def _order(self, origins: Sequence[Origin]) -> list[Origin]:
        """Never compared as they are now, going on where the last keeper stopped; then the oldest."""
        now = time.monotonic()
        waiting: list[tuple[float, bool, _Name, Origin]] = []
        for origin in origins:
            name = _name(origin)
            done = self._done.get(name)
            at = done.at if done and done.stamp == origin.stamp else float("-inf")
            if self.budget is None or now - at >= AGAIN:
                behind = self._last is not None and name <= self._last and name not in self._partly
                waiting.append((at, behind, name, origin))
        return [item[-1] for item in sorted(waiting, key=lambda item: item[:3])]

    def _is_same(self, archive: Archive, origin: Origin) -> bool:
        name = _name(origin)
        stamp, start = self._partly.pop(name, ("", 0))
        start = start if stamp == origin.stamp else 0
        left = None if self.budget is None else self.budget - self.bytes
        try:
            held = archive.held_bytes(*name)
            end, same = (start, True) if held is None else _compare(origin, held, start, left)
        except SourceTrouble:
            # Whoever reads it next says what is wrong with it.
            return True
        except ArchiveTrouble:
            # What is kept is damaged: it is kept once more while the file is there.
            end, same = start, False
        self.files += 1
        self.bytes += end - start
        if same and left is not None and end - start >= left:
            self._partly[name] = (origin.stamp, end)
            return True
        self._done[name] = _Done(origin.stamp, time.monotonic())
        self._last = name
        return same


def _compare(origin: Origin, held: StrandBytes, start: int, limit: int | None) -> tuple[int, bool]:
    """How far the file was compared from `start` on, and whether it is the same so far."""
    position = start
    with open_plain(as_path(origin.place)) as file:
        for begin, records in held.blocks(start):
            data = b"".join(records)[position - begin :]
            if limit is not None:
                data = data[: start + limit - position]
            file.seek(position)
            if file.read(len(data)) != data:
                return position + len(data), False
            position += len(data)
            if limit is not None and position - start >= limit:
                return position, True
        file.seek(position)
        same = file.read(len(held.tail)) == held.tail
    return position + len(held.tail), same


def _name(origin: Origin) -> _Name:
    return _Name(origin.source, origin.place)


def _noted(archive: Archive) -> _Name | None:
    noted = archive.note_of(NOTE)
    return _Name(*json.loads(noted)) if noted else None
