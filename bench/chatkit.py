"""The figures of RirekiStore: `python -m bench.chatkit` prints them as JSON.

In the same run, what a store made after the well-known sample's design costs: plain sqlite3, a
connection per call, sorted by the clock, on the loop's own thread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
from bench.measure import at_most, percentile
from tests.chatkit.stores import SampleStore, user_of

from rireki.chatkit import RirekiStore
from rireki.chatkit.conformance.samples import moment, reply, thread

ADDS = 500
#: Items of the long thread, and the size of a page.
LONG, PAGE = 100_000, 20
LOOKS = 40
STORMS = 5
CONTEXT = {"user_id": "bench"}
THREAD = "thr_0000000a"


class PlainStore(SampleStore):
    """As the sample is: with SQLite's own settings, so that what it has saved is on disk."""

    fast = False


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-", dir=arguments.folder) as name:
        print(json.dumps(asyncio.run(_figures(Path(name), arguments.items)), indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=LONG, help="of the long thread")
    parser.add_argument("--folder", help="where to write; on the disk that is meant")
    return parser.parse_args()


async def _figures(folder: Path, items: int) -> dict[str, Any]:
    ours: RirekiStore[dict[str, str]] = RirekiStore(
        user_key=user_of, archive=folder / "archive.sqlite3"
    )
    plain = PlainStore(folder / "plain.db")
    # In turns, so that both meet the same disk.
    ours_took, plain_took = await _adding(ours, plain)
    idle = await _idle()
    stalls = [round(await _stall(ours, storm), 2) for storm in range(STORMS)]
    limit = round(percentile(plain_took, 0.95), 3)
    pages = {
        "RirekiStore": await _pages(ours, _fill_ours(ours, items), items, 5.0),
        "plain sqlite3": await _pages(plain, _fill_plain(plain, items), items, None),
    }
    figures = {
        "add_thread_item_ms": {
            "RirekiStore": {
                "p50": round(statistics.median(ours_took), 3),
                "p95": at_most(round(percentile(ours_took, 0.95), 3), limit),
            },
            "plain sqlite3": {"p50": round(statistics.median(plain_took), 3), "p95": limit},
        },
        # The worst counts; a loop that does nothing else tells how much of it is the machine's.
        "longest_loop_stall_ms": {
            **at_most(max(stalls), 20),
            "each_time": stalls,
            "of_an_idle_loop": round(idle, 2),
        },
        "page_ms": pages,
    }
    ours.work.close()
    return figures


async def _adding(ours: Any, plain: Any) -> tuple[list[float], list[float]]:
    took: tuple[list[float], list[float]] = ([], [])
    for store in (ours, plain):
        await store.save_thread(thread(), CONTEXT)
    for number in range(ADDS):
        for store, times in zip((ours, plain), took, strict=True):
            started = time.perf_counter()
            await store.add_thread_item(THREAD, reply(number), CONTEXT)
            times.append((time.perf_counter() - started) * 1000)
    return took


async def _stall(store: Any, storm: int) -> float:
    """32 tasks add to 8 threads: the longest that the loop stood still, in milliseconds."""
    threads = [f"thr_0001{storm:02x}{number:02x}" for number in range(8)]
    for id in threads:
        await store.save_thread(thread(id), CONTEXT)
    longest, done = 0.0, False

    async def tick() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not done:
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    async def add(task: int) -> None:
        for number in range(20):
            await store.add_thread_item(threads[task % 8], reply(task * 100 + number), CONTEXT)

    ticking = asyncio.create_task(tick())
    await asyncio.gather(*(add(task) for task in range(32)))
    done = True
    await ticking
    return longest * 1000


async def _idle() -> float:
    """The longest that a loop stands still for two seconds in which nobody wants anything of it."""
    longest, last = 0.0, time.perf_counter()
    end = last + 2
    while last < end:
        await asyncio.sleep(0)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest * 1000


# ── pages ──


async def _pages(store: Any, ids: Sequence[str], items: int, limit: float | None) -> dict[str, Any]:
    """The median of a page at the beginning, in the middle and at the end, both ways."""
    found: dict[str, Any] = {"items": items}
    for order in ("asc", "desc"):
        for part in (0, 50, 99):
            place = min(len(ids) - 1, len(ids) * part // 100)
            after = ids[place if order == "asc" else len(ids) - 1 - place]
            took = []
            for _ in range(LOOKS if limit else 5):
                started = time.perf_counter()
                await store.load_thread_items("thr_0000ffff", after, PAGE, order, CONTEXT)
                took.append((time.perf_counter() - started) * 1000)
            value = round(statistics.median(took), 2)
            found[f"{order} at {part} %"] = at_most(value, limit) if limit else value
    return found


def _rows(items: int) -> list[tuple[str, str, str]]:
    rows = []
    for number in range(items):
        item = reply(number, moment(number), id=f"itm_{number:08x}", thread_id="thr_0000ffff")
        rows.append((item.id, item.created_at.isoformat(), item.model_dump_json()))
    return rows


def _fill_ours(store: Any, items: int) -> list[str]:
    """Put in by hand, in one transaction: what is measured is reading."""
    database = apsw.Connection(str(store.path))
    database.set_busy_timeout(10_000)
    rows = _rows(items)
    data = thread("thr_0000ffff").model_dump_json()
    with database:
        statement = "INSERT INTO threads (id, user_id, created_at, data) VALUES (?, 'bench', ?, ?)"
        database.execute(statement, ("thr_0000ffff", rows[0][1], data))
        database.executemany(
            """INSERT INTO items (id, thread_id, user_id, created_at, data)
               VALUES (?, 'thr_0000ffff', 'bench', ?, ?)""",
            rows,
        )
    database.close()
    return [id for id, _, _ in rows]


def _fill_plain(store: Any, items: int) -> list[str]:
    database = sqlite3.connect(store.path)
    rows = _rows(items)
    with database:
        database.executemany(
            "INSERT INTO items VALUES (?, 'thr_0000ffff', 'bench', ?, ?)",
            [(id, at, f'{{"item": {data}}}') for id, at, data in rows],
        )
    database.close()
    return [id for id, _, _ in rows]


if __name__ == "__main__":
    main()
