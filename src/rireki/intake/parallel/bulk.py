"""Taking in many files that were never seen before, with the help of other processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from typing import Any

import msgspec

from rireki.archive.base import Archive, PendingGroup, Stale, StoredReading
from rireki.archive.batch import Batch
from rireki.intake.interpret import as_readings
from rireki.intake.memory import HEAVY
from rireki.intake.parallel.follow import Followed, Follower
from rireki.intake.parallel.pool import LostTask, WorkerPool
from rireki.intake.parallel.worker import (
    FreshGroup,
    LeftGroup,
    Packed,
    PackedGroup,
    PackedOrigin,
    PackTask,
)
from rireki.model.conversation import Trouble
from rireki.model.record import Origin
from rireki.sources.kit.stamps import modified

__all__ = ["Bulk"]

#: Bytes per task; towards the end they become smaller, so that all workers end together.
TASK, LAST_TASK = 3 << 20, 256 << 10
#: Compressed bytes per transaction. These become smaller too: when the last file is read, little is to
#: be left to write.
BATCH, LAST_BATCH = 2 << 20, 512 << 10
#: Conversations that are looked at first: the newest, in tasks and transactions of their own.
NEWEST, NEWEST_TASK, NEWEST_BATCH = 64, 512 << 10, 128 << 10
#: Bytes before the end from which on nothing that could be written waits for more.
END = 16 << 20


class Bulk(msgspec.Struct):
    """Fresh files on their way in, and what became of them."""

    archive: Archive
    #: Family by source.
    families: dict[str, str]
    #: Called for each file that was read: bytes that were new, and the trouble it gave, if any.
    done: Callable[[Origin, int, Trouble | None], None]
    follower: Follower | None = None
    #: Files that have to be taken in one by one after all.
    left: dict[str, Origin] = msgspec.field(default_factory=dict)
    cursors: dict[str, Any] = msgspec.field(default_factory=dict)
    sizes: dict[str, int] = msgspec.field(default_factory=dict)
    #: The files that somebody waits for, as far as they did not come yet.
    newest: set[str] = msgspec.field(default_factory=set)
    #: What the follower is told once these are there.
    waiting: list[Followed] = msgspec.field(default_factory=list)

    def take(self, pool: WorkerPool, origins: Sequence[Origin]) -> Iterator[StoredReading]:
        """Keep the files; yields the conversations they turn out to be."""
        whole = left = sum(origin.size for origin in origins) or 1
        for group in self._batches(pool, self._tasks(origins)):
            kept = [item for item in group if not self._is_left(item)]
            try:
                with self.archive.writing() as batch:
                    stored = [one for item in kept for one in self._write(batch, item)]
            except Stale:
                # Another process imports the same files at the same time: take them singly.
                self.left.update((o.place, o) for item in kept for o in _origins(item))
                continue
            yield from stored
            left -= sum(item.origin.size for item in kept if isinstance(item, PackedOrigin))
            self._tell_follower(
                kept, {one.conversation.id for one in stored}, batch.number, left / whole
            )
            for item in kept:
                if isinstance(item, PackedOrigin):
                    self.cursors.pop(item.origin.place, None)
                    self.done(item.origin, self.sizes.pop(item.origin.place, 0), item.trouble)

    def _tasks(self, origins: Sequence[Origin]) -> list[PackTask]:
        """The newest conversations first, one after the other; then the largest."""
        groups = self._groups(origins)
        newest = nlargest(NEWEST, (group for group in groups if group.whole), key=_modified)
        first = {id(group) for group in newest}
        others = [group for group in groups if id(group) not in first]
        self.newest = {origin.place for group in newest for origin in group.origins}
        left = sum(_size(group) for group in others)
        tasks = self._cut(newest, lambda _: NEWEST_TASK)
        return tasks + self._cut(others, lambda done: min(TASK, max((left - done) // 8, LAST_TASK)))

    def _cut(self, groups: Sequence[FreshGroup], enough: Callable[[int], int]) -> list[PackTask]:
        """Tasks of these groups in their order; `enough` says how large one is after so many bytes."""
        digest = self.follower.digest if self.follower is not None else ""
        tasks: list[PackTask] = []
        some: list[FreshGroup] = []
        size = done = 0
        for group in groups:
            some.append(group)
            size += _size(group)
            if size >= enough(done):
                tasks.append(PackTask(some, digest))
                done += size
                some, size = [], 0
        return [*tasks, PackTask(some, digest)] if some else tasks

    def _tell_follower(
        self, kept: Sequence[Any], stored: set[str], number: int, left: float
    ) -> None:
        if self.follower is None:
            return
        for item in kept:
            if not isinstance(item, PackedGroup):
                continue
            for (conversation, _, _), digest in zip(item.readings, item.digests, strict=True):
                if conversation.id in stored:
                    self.waiting.append(Followed(conversation.id, number, digest))
        # To follow takes time as well, and somebody waits for the newest.
        if self.waiting and not self.newest:
            self.follower.take(self.waiting, left)
            self.waiting = []

    def _groups(self, origins: Sequence[Origin]) -> list[FreshGroup]:
        """The files by conversation, the largest first."""
        known = {group[:2] for group in self.archive.groups()}
        groups: dict[tuple[str, str | None], FreshGroup] = {}
        for origin in origins:
            family, conversation = self.families[origin.source], origin.conversation
            # What many conversations share has to wait until those are known.
            whole = conversation is not None and not conversation.startswith("@")
            whole = whole and (family, conversation) not in known
            group = groups.setdefault(
                (family, conversation), FreshGroup(family, conversation, [], whole)
            )
            group.origins.append(origin)
        for group in groups.values():
            # A very long one is only packed: what it means is too much to be handed over.
            group.whole = group.whole and _size(group) < HEAVY
        return sorted(groups.values(), key=_size, reverse=True)

    def _batches(self, pool: WorkerPool, tasks: Sequence[PackTask]) -> Iterator[list[Any]]:
        """What goes into one transaction: so much, or at last what there is."""
        group: list[Any] = []
        size, left = 0, sum(origin.size for task in tasks for origin in _of_task(task))
        hurries = bool(self.newest)
        for answer in pool.run(tasks):
            if isinstance(answer, LostTask):
                self._leave(_of_task(answer.task))
                continue
            if isinstance(answer, LeftGroup):
                self._leave(answer.origins)
                left -= sum(origin.size for origin in answer.origins)
                continue
            group.append(answer)
            if isinstance(answer, Packed):
                size += sum(len(chunk.data) for chunk in answer.chunks)
            elif isinstance(answer, PackedOrigin):
                left -= answer.origin.size
                self.newest.discard(answer.origin.place)
            # What is left becomes about a quarter as large: some six more of these.
            enough = NEWEST_BATCH if hurries else min(BATCH, max(left // 24, LAST_BATCH))
            # What the last of the newest means comes right behind it.
            ends = hurries and not self.newest and not isinstance(answer, PackedOrigin)
            if size >= enough or ends or (pool.waits and left < END):
                yield group
                group, size = [], 0
                hurries = hurries and not ends
        if group:
            yield group

    def _leave(self, origins: Sequence[Origin]) -> None:
        """For being taken singly."""
        self.left.update((origin.place, origin) for origin in origins)
        self.newest.difference_update(origin.place for origin in origins)

    def _is_left(self, item: Any) -> bool:
        return any(origin.place in self.left for origin in _origins(item))

    def _write(self, batch: Batch, item: Any) -> list[StoredReading]:
        if isinstance(item, PackedGroup):
            group = item.group
            assert group.conversation is not None
            pending = PendingGroup(group.family, group.conversation)
            return batch.project(pending, as_readings(item.readings), strands=len(group.origins))
        if isinstance(item, PackedOrigin):
            if item.trouble is None:
                batch.finish(item.origin)
            else:
                batch.fail(item.origin, item.trouble)
            return []
        place = item.origin.place
        family = self.families[item.origin.source]
        size = batch.add(item.origin, family, item.update, self.cursors.get(place), item.chunks)
        self.cursors[place] = item.update.cursor
        self.sizes[place] = self.sizes.get(place, 0) + size
        return []


def _size(group: FreshGroup) -> int:
    return sum(origin.size for origin in group.origins)


def _modified(group: FreshGroup) -> int:
    return max(modified(origin.stamp) for origin in group.origins)


def _of_task(task: PackTask) -> list[Origin]:
    return [origin for group in task.groups for origin in group.origins]


def _origins(item: Any) -> list[Origin]:
    return item.group.origins if isinstance(item, PackedGroup) else [item.origin]
