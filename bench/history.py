"""The figures of MessageHistory: `python -m bench.history` prints them as JSON.

What adding, rendering and importing cost; and, in the same run, what the session of another
library costs that keeps its items on disk. For that one, `pip install openai-agents` into any
environment and name its interpreter with `--peer`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measure import REPEAT, at_most, percentile

from rireki import AsyncMessageHistory, MessageHistory

ITEMS = 1000
#: Messages that are rendered.
MANY = 2000
WORDS = "What the agent said, in a few words that are neither short nor long. " * 4
IMPORT = """
import time
started = time.process_time()
from rireki import MessageHistory
print((time.process_time() - started) * 1000)
"""
PEER = """
import asyncio, json, sys, time
try:
    from agents import SQLiteSession
except ImportError:
    print("null")
    sys.exit()

items, path = int(sys.argv[1]), sys.argv[2]
words = sys.argv[3]


async def main():
    session = SQLiteSession("bench", path)
    took = []
    for number in range(items):
        item = {"role": "user" if number % 2 else "assistant", "content": f"{number} {words}"}
        started = time.perf_counter()
        await session.add_items([item])
        took.append((time.perf_counter() - started) * 1000)
    reads = []
    for _ in range(7):
        started = time.perf_counter()
        found = await session.get_items()
        reads.append((time.perf_counter() - started) * 1000)
    assert len(found) == items
    session.close()
    again = []
    for _ in range(7):
        started = time.perf_counter()
        other = SQLiteSession("bench", path)
        assert len(await other.get_items()) == items
        again.append((time.perf_counter() - started) * 1000)
        other.close()
    print(json.dumps({"add": took, "read": reads, "open_and_read": again}))


asyncio.run(main())
"""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as name:
        folder = Path(name)
        figures = {
            "import_cpu_ms": import_cost(),
            "in_memory_add_us": in_memory(),
            "durable_add_ms": durable(folder / "durable" / "archive.sqlite3"),
            "render_ms": rendering(),
            "side_by_side": side_by_side(folder, arguments.peer),
        }
    print(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has openai-agents")
    return parser.parse_args()


# ── what it costs ──


def import_cost() -> dict[str, Any]:
    command = [sys.executable, "-c", IMPORT]
    took = [float(subprocess.check_output(command)) for _ in range(REPEAT)]
    return at_most(round(statistics.median(took), 1), 60)


def timed(calls: list[Callable[[], Any]]) -> list[float]:
    """Milliseconds of each call."""
    took = []
    for call in calls:
        started = time.perf_counter()
        call()
        took.append((time.perf_counter() - started) * 1000)
    return took


def adding(history: MessageHistory, number: int) -> list[Callable[[], Any]]:
    """Every kind of message, many times."""
    use = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"path": "a.py"}}
    answer = {"role": "assistant", "content": [{"type": "text", "text": WORDS}, use]}
    return [
        lambda: history.add_user_message(f"{number} {WORDS}"),
        lambda: history.add_raw_message(answer),
        lambda: history.add_tool_result(f"t{number}", WORDS, "read"),
        lambda: history.add_raw_message({"role": "assistant", "content": WORDS}),
    ]


def all_added(history: MessageHistory, messages: int) -> list[float]:
    return timed([call for number in range(messages // 4) for call in adding(history, number)])


def in_memory() -> dict[str, Any]:
    took = [each * 1000 for each in all_added(MessageHistory(), 4 * ITEMS)]
    return {
        "p50": round(statistics.median(took), 1),
        "p95": at_most(round(percentile(took, 0.95), 1), 20),
    }


def durable(archive: Path) -> dict[str, Any]:
    with MessageHistory.open("bench", archive=archive) as history:
        history.add_raw_message({"role": "assistant", "content": "warm"})
        took = all_added(history, 4 * ITEMS)
    return {
        "p50": round(statistics.median(took), 3),
        "p95": at_most(round(percentile(took, 0.95), 3), 5),
    }


def rendering() -> dict[str, Any]:
    history = MessageHistory()
    all_added(history, MANY)
    found = {}
    for provider in ("anthropic", "openai", "responses", "gemini", "bedrock", "ollama"):
        took = timed([lambda p=provider: history.render(p)] * REPEAT)  # type: ignore[misc]
        found[provider] = at_most(round(statistics.median(took), 1), 30)
    return {"messages": len(history), **found}


# ── beside another library ──


def side_by_side(folder: Path, peer: str) -> dict[str, Any]:
    """Both with an event loop, one item at a time, each on disk when the call returns."""
    ours = asyncio.run(_ours(folder / "ours" / "archive.sqlite3"))
    command = [peer, "-c", PEER, str(ITEMS), str(folder / "peer.db"), WORDS]
    theirs = json.loads(subprocess.check_output(command))
    if theirs is None:
        return {"openai-agents": f"not installed: {peer} -m pip install openai-agents, or --peer"}
    figures: dict[str, Any] = {"items": ITEMS}
    for name in ("add", "read", "open_and_read"):
        mine, other = (round(statistics.median(each[name]), 3) for each in (ours, theirs))
        # Opening is not held to theirs: it reads everything there is, and locks, and mends.
        held = mine if name == "open_and_read" else at_most(mine, other)
        figures[f"{name}_ms"] = {"MessageHistory": held, "SQLiteSession": other}
    return figures


async def _ours(archive: Path) -> dict[str, list[float]]:
    history = await AsyncMessageHistory.open("bench", archive=archive)
    add, read, reopen = [], [], []
    for number in range(ITEMS):
        role = "user" if number % 2 else "assistant"
        item = {"role": role, "content": f"{number} {WORDS}"}
        started = time.perf_counter()
        await history.add_raw_message(item)
        add.append((time.perf_counter() - started) * 1000)
    for _ in range(REPEAT):
        started = time.perf_counter()
        assert len(await history.get_messages()) == ITEMS
        read.append((time.perf_counter() - started) * 1000)
    await history.close()
    for _ in range(REPEAT):
        started = time.perf_counter()
        again = await AsyncMessageHistory.open("bench", archive=archive)
        assert len(await again.get_messages()) == ITEMS
        reopen.append((time.perf_counter() - started) * 1000)
        await again.close()
    return {"add": add, "read": read, "open_and_read": reopen}


if __name__ == "__main__":
    main()
