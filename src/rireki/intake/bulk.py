"""Taking in many files that were never seen before, with the help of other processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rireki.archive.base import Archive, Stale
from rireki.intake.crew import Crew, Failed
from rireki.intake.worker import Packed, PackedOrigin, PackTask
from rireki.model.conversation import Trouble
from rireki.model.record import Origin

__all__ = ["BULK", "take_bulk"]

#: From this many bytes on, other processors are worth their start.
BULK = 8 << 20
TASK = 3 << 20
#: Compressed bytes per transaction.
BATCH = 4 << 20


def take_bulk(
    archive: Archive,
    crew: Crew,
    origins: Sequence[Origin],
    families: dict[str, str],
    done: Callable[[Origin, int, Trouble | None], None],
) -> list[Origin]:
    """Keep fresh files; returns those that have to be taken in one by one after all."""
    left: dict[str, Origin] = {}
    cursors: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    for group in _batches(crew.run(_tasks(origins)), left):
        kept = [item for item in group if item.origin.place not in left]
        try:
            _write(archive, kept, families, cursors, sizes)
        except Stale:
            # Another process imports the same files at the same time: take them singly.
            left.update((item.origin.place, item.origin) for item in kept)
            continue
        for item in kept:
            if isinstance(item, PackedOrigin):
                done(item.origin, sizes.pop(item.origin.place, 0), item.trouble)
    return list(left.values())


def _tasks(origins: Sequence[Origin]) -> list[PackTask]:
    tasks: list[PackTask] = []
    group: list[Origin] = []
    size = 0
    for origin in sorted(origins, key=lambda each: each.size, reverse=True):
        group.append(origin)
        size += origin.size
        if size >= TASK:
            tasks.append(PackTask(group))
            group, size = [], 0
    if group:
        tasks.append(PackTask(group))
    return tasks


def _batches(answers: Iterator[Any], left: dict[str, Origin]) -> Iterator[list[Any]]:
    group: list[Any] = []
    size = 0
    for answer in answers:
        if isinstance(answer, Failed):
            left.update((origin.place, origin) for origin in answer.task.origins)
            continue
        group.append(answer)
        if isinstance(answer, Packed):
            size += sum(len(chunk.data) for chunk in answer.chunks)
        if size >= BATCH:
            yield group
            group, size = [], 0
    if group:
        yield group


def _write(
    archive: Archive,
    group: Sequence[Any],
    families: dict[str, str],
    cursors: dict[str, Any],
    sizes: dict[str, int],
) -> None:
    with archive.writing() as batch:
        for item in group:
            place = item.origin.place
            if isinstance(item, PackedOrigin):
                batch.note(item.origin, item.trouble)
                if item.trouble is None:
                    batch.stamp(item.origin)
                continue
            family = families[item.origin.source]
            size = batch.add(item.origin, family, item.update, cursors.get(place), item.chunks)
            cursors[place] = item.update.cursor
            sizes[place] = sizes.get(place, 0) + size
