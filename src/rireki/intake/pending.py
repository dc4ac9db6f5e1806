"""Interpreting the conversations whose records changed, and storing what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rireki.archive.base import Archive, PendingGroup, StoredReading
from rireki.intake.interpret import as_readings, interpret
from rireki.intake.progress import Progress
from rireki.late import LateModule
from rireki.model.conversation import Reading

# A run with little to do needs no workers.
if TYPE_CHECKING:
    from rireki.intake.parallel import pool, worker
else:
    pool = LateModule("rireki.intake.parallel.pool")
    worker = LateModule("rireki.intake.parallel.worker")

__all__ = ["Witness", "interpret_pending"]

#: Sees what each group was read as, with its messages, before it is stored.
Witness: TypeAlias = Callable[[PendingGroup, Sequence[Reading]], None]

#: From this many conversations on, other processors are worth their start.
MANY = 100
TASK = 12
#: Conversations per transaction.
BATCH = 200


def interpret_pending(
    archive: Archive, progress: Progress, witness: Witness | None = None, *, alone: bool = False
) -> Iterator[StoredReading]:
    """Bring the projection up to date with the records, conversation by conversation.

    Other processors help where there is much to do, unless it is to be done `alone`. The
    `witness` sees only what is read in this process.
    """
    groups = list(archive.pending())
    progress.start("understanding", len(groups))
    batch: list[tuple[PendingGroup, list[Reading]]] = []
    for group, readings in _interpreted(archive, groups, witness, alone):
        batch.append((group, readings))
        if len(batch) >= BATCH:
            yield from _store(archive, batch, progress)
    yield from _store(archive, batch, progress)
    progress.finish()


def _store(
    archive: Archive, batch: list[tuple[PendingGroup, list[Reading]]], progress: Progress
) -> list[StoredReading]:
    if not batch:
        return []
    # Groups that many conversations share come last: a transcript outranks them.
    batch.sort(key=lambda item: item[0].conversation.startswith("@"))
    with archive.writing() as writing:
        stored = [one for group, readings in batch for one in writing.project(group, readings)]
    progress.advance(len(batch))
    batch.clear()
    return stored


def _interpreted(
    archive: Archive,
    groups: Sequence[PendingGroup],
    witness: Witness | None,
    alone: bool,
) -> Iterator[tuple[PendingGroup, list[Reading]]]:
    if alone or len(groups) < MANY:
        for group in groups:
            readings = interpret(group.conversation, archive.strands(*group[:2]))
            if witness is not None:
                witness(group, readings)
            # A reading holds the records it was made of: many of them wait here, and only to be stored.
            yield group, as_readings([(r.conversation, r.answers, r.link_tokens) for r in readings])
        return
    tasks = [
        worker.ProjectTask(archive.address, list(groups[i : i + TASK]))
        for i in range(0, len(groups), TASK)
    ]
    with pool.WorkerPool(pool.processors()) as workers:
        for answer in workers.run(tasks):
            if isinstance(answer, pool.LostTask):
                yield from _interpreted(archive, answer.task.groups, witness, True)
                continue
            assert isinstance(answer, worker.Projected)
            yield answer.group, as_readings(answer.readings)
