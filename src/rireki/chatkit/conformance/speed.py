"""Properties 22 and 23: a store holds up nobody, and does not tire as threads grow.

Judged so that a busy machine does not decide: by what the loop's own thread does, by the call in
the middle rather than the worst, and by time of the processor rather than of the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Coroutine, Generator
from pathlib import Path
from statistics import median
from typing import Any

from chatkit.store import Store

from rireki.chatkit.conformance.case import ConformanceCase, Property, collect, expect
from rireki.chatkit.conformance.samples import reply, thread

__all__ = ["PROPERTIES", "file_bytes"]

PROPERTIES: list[Property] = []
#: The longest that a call may hold the loop, in seconds.
STALL = 0.02
CALLS = 150
#: Bytes per call that a loop's thread may move itself: it wakes up by a few, a page of a file has more.
WAKING = 64
#: Items of a thread that just began, and of one that did not.
FEW, MANY = 60, 3000
LOOKS = 60
#: How much dearer a page may be where there are fifty times as many.
GROWTH = 1.4


@collect(PROPERTIES, "22")
async def unblocking(case: ConformanceCase) -> None:
    """The event loop goes on while a store works"""
    await case.store.save_thread(thread(), case.alice)
    # Whatever is made ready once is made ready before.
    await _measured(case, 0, 5)
    before = file_bytes()
    held = await _measured(case, 5, CALLS)
    after = file_bytes()
    if before is not None and after is not None:
        moved = (after - before) / (2 * CALLS)
        expect(
            moved < WAKING,
            f"the loop's own thread reads and writes files, {moved:,.0f} bytes a call, and waits for them",
        )
    expect(median(held) <= STALL, f"a call holds the loop for {median(held) * 1000:.0f} ms")


async def _measured(case: ConformanceCase, first: int, count: int) -> list[float]:
    """Of each call, how long it held the loop at most."""
    held: list[float] = []
    for number in range(first, first + count):
        adding = _Timed(case.store.add_thread_item("thr_0000000a", reply(number), case.alice))
        await adding
        loading = _Timed(case.store.load_thread_items("thr_0000000a", None, 2, "desc", case.alice))
        await loading
        held += [adding.longest, loading.longest]
    return held


class _Timed:
    """A call, and the longest that it went on without letting others go on."""

    def __init__(self, call: Coroutine[Any, Any, Any]) -> None:
        self.call = call
        self.longest = 0.0

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self.call.__await__()
        send, value = steps.send, None
        while True:
            started = time.perf_counter()
            try:
                waited_for = send(value)
            except StopIteration as end:
                return end.value
            finally:
                self.longest = max(self.longest, time.perf_counter() - started)
            try:
                send, value = steps.send, (yield waited_for)
            except BaseException as error:  # noqa: BLE001 - it is the call's own
                send, value = steps.throw, error


def file_bytes() -> int | None:
    """What this thread has read from and written to files so far, where the system tells (Linux)."""
    try:
        lines = Path("/proc/thread-self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    counts = dict(line.split(": ") for line in lines)
    return int(counts["rchar"]) + int(counts["wchar"])


@collect(PROPERTIES, "23")
async def scaling(case: ConformanceCase) -> None:
    """A page costs the same in a long thread as in a short one"""
    short, long = case.open("short"), case.open("long")
    stores = [(short, await _filled(case, short, FEW)), (long, await _filled(case, long, MANY))]
    for order in ("asc", "desc"):
        least = [math.inf, math.inf]
        # By turns, so that both meet the same machine.
        for _ in range(LOOKS):
            for which, (store, middle) in enumerate(stores):
                least[which] = min(least[which], await _price(case, store, middle, order))
        few, many = (price * 1000 for price in least)
        expect(
            many < GROWTH * few + 0.1,
            f"a page takes {many:.2f} ms of the processor when there are {MANY:,} items, "
            f"and {few:.2f} ms when there are {FEW}",
        )


async def _filled(case: ConformanceCase, store: Store[Any], count: int) -> str:
    """The id of the item in the middle."""
    await store.save_thread(thread(), case.alice)
    for number in range(count):
        await store.add_thread_item("thr_0000000a", reply(number), case.alice)
    return reply(count // 2).id


async def _price(case: ConformanceCase, store: Store[Any], after: str, order: str) -> float:
    started = time.process_time()
    await store.load_thread_items("thr_0000000a", after, 1, order, case.alice)
    return time.process_time() - started
