"""Properties 22 and 23: a store holds up nobody, and does not tire as threads grow.

Measured so that a busy machine does not decide: of several attempts, the best counts.
"""

from __future__ import annotations

import asyncio
import time

from rireki.faces.chatkit.conformance.case import Case, Property, collect, expect
from rireki.faces.chatkit.conformance.samples import reply, thread

__all__ = ["PROPERTIES"]

PROPERTIES: list[Property] = []
#: The longest that a loop may stand still, in seconds.
STALL = 0.05
CALLS = 150
ATTEMPTS = 5
#: Items of a thread that just began, and of one that did not.
FEW, MANY = 60, 3000
LOOKS = 25


@collect(PROPERTIES, "22")
async def unblocking(case: Case) -> None:
    """The event loop goes on while a store works"""
    await case.store.save_thread(thread(), case.alice)
    stalls: list[float] = []
    for attempt in range(ATTEMPTS):
        stalls.append(await _longest_stall(case, attempt * CALLS))
        if stalls[-1] <= STALL:
            return
    raise AssertionError(
        f"the loop stood still for {min(stalls) * 1000:.0f} ms while {CALLS} items were added"
    )


async def _longest_stall(case: Case, first: int) -> float:
    """While one task adds items, how long others had to wait."""
    done = False
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not done:
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    for number in range(first, first + CALLS):
        await case.store.add_thread_item("thr_0000000a", reply(number), case.alice)
        await case.store.load_thread_items("thr_0000000a", None, 2, "desc", case.alice)
    done = True
    await ticking
    return longest


@collect(PROPERTIES, "23")
async def scaling(case: Case) -> None:
    """A page costs the same in a long thread as in a short one"""
    short = await _filled(case, "thr_0000000a", 0, FEW)
    long = await _filled(case, "thr_0000000b", FEW, MANY)
    expect(
        long < 1.5 * short + 0.0002,
        f"a page takes {long * 1000:.2f} ms of the processor when there are {MANY:,} items, "
        f"and {short * 1000:.2f} ms when there are {FEW}",
    )


async def _filled(case: Case, id: str, first: int, count: int) -> float:
    """The price of a page in the middle, the dearer way round."""
    await case.store.save_thread(thread(id), case.alice)
    await case.add(*(reply(first + n, thread_id=id) for n in range(count)), thread=id)
    middle = reply(first + count // 2).id
    return max([await _page(case, id, middle, order) for order in ("asc", "desc")])


async def _page(case: Case, id: str, after: str, order: str) -> float:
    took: list[float] = []
    for _ in range(LOOKS):
        started = time.process_time()
        await case.store.load_thread_items(id, after, 1, order, case.alice)
        took.append(time.process_time() - started)
    return min(took)
