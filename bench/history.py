"""The figures of MessageHistory: `python -m bench.history` prints them as JSON.

What adding, rendering, closing and importing cost; and, in the same run, what the session of
another library costs that keeps its items on disk: once with both surviving the end of their
process, once with both surviving a power cut. For that one, `pip install openai-agents` into any
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
from typing import IO, Any, NamedTuple

from bench.measure import REPEAT, at_most, percentile

from rireki import AsyncMessageHistory, MessageHistory
from rireki.history.journal import Sync
from rireki.providers import PROVIDERS

ITEMS = 1000
#: How often both read all of it.
ROUNDS = 31
#: Messages that are rendered.
MANY = 2000
#: Messages of a history that went on for long.
LONG = 10_000
WORDS = "What the agent said, in a few words that are neither short nor long. " * 4
IMPORT = """
import time
started = time.process_time()
from rireki import MessageHistory
print((time.process_time() - started) * 1000)
"""
#: Does one thing for every line it is told, and says how long it took.
PEER = """
import asyncio, json, sqlite3, sys, time
try:
    from agents import SQLiteSession
except ImportError:
    print("null")
    sys.exit()

path, safe = sys.argv[1:3]
connect = sqlite3.connect


def connected(*args, **kwargs):
    # FULL is what the library has by itself: it waits for the disk. OFF leaves that to the system.
    connection = connect(*args, **kwargs)
    connection.execute(f"PRAGMA synchronous = {'FULL' if safe == 'full' else 'OFF'}")
    return connection


sqlite3.connect = connected


async def main():
    session = SQLiteSession("bench", path)
    print("0", flush=True)
    for line in sys.stdin:
        what, item = json.loads(line)
        started = time.perf_counter()
        if what == "add":
            await session.add_items([item])
        elif what == "read":
            await session.get_items()
        else:
            session.close()
            started = time.perf_counter()
            session = SQLiteSession("bench", path)
            await session.get_items()
        print((time.perf_counter() - started) * 1000, flush=True)
    session.close()


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
            "render_cpu_ms": rendering(),
            "render_one_more_cpu_ms": one_more(folder / "more" / "archive.sqlite3"),
            "close_ms": closing(folder / "close"),
            "side_by_side": {
                "survives_the_process": side_by_side(folder, arguments.peer, "os"),
                "survives_a_power_cut": side_by_side(folder, arguments.peer, "full"),
            },
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


def timed(
    calls: list[Callable[[], Any]], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Milliseconds of each call."""
    took = []
    for call in calls:
        started = clock()
        call()
        took.append((clock() - started) * 1000)
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
    """A history of which each message was rendered before, as a loop does it; and the first time.

    Of the processor alone: nothing else is needed, and others may want it, too.
    """
    cpu = time.process_time
    history = MessageHistory()
    all_added(history, MANY)
    found: dict[str, Any] = {"first": round(timed([lambda: history.render("openai")], cpu)[0], 1)}
    for provider in PROVIDERS:
        took = timed([lambda p=provider: history.render(p)] * REPEAT, cpu)  # type: ignore[misc]
        found[provider] = at_most(round(statistics.median(took), 1), 30)
    return {"messages": len(history), **found}


def one_more(archive: Path) -> dict[str, Any]:
    """A message more in a history of 10,000, rendered before: what a loop does each step."""
    cpu = time.process_time
    found: dict[str, Any] = {}
    with MessageHistory.open("bench", archive=archive) as on_disk:
        for name, history in (("in_memory", MessageHistory()), ("on_disk", on_disk)):
            all_added(history, LONG)
            found[name] = {}
            for provider in PROVIDERS:
                history.render(provider)
                took: list[float] = []
                for _ in range(REPEAT):
                    history.add_user_message("one more")
                    took += timed([lambda p=provider, h=history: h.render(p)], cpu)  # type: ignore[misc]
                found[name][provider] = at_most(round(statistics.median(took), 1), 10)
    return found


def closing(folder: Path) -> dict[str, Any]:
    """A message is added to a history that is in the archive already, and it is closed."""
    found: dict[str, Any] = {}
    for count in (2, 1000, LONG):
        archive = folder / str(count) / "archive.sqlite3"
        with MessageHistory.open("bench", archive=archive) as history:
            all_added(history, max(count, 4))
        took: list[float] = []
        for _ in range(REPEAT):
            history = MessageHistory.open("bench", archive=archive)
            history.add_user_message("one more")
            took += timed([history.close])
        found[str(count)] = at_most(round(statistics.median(took), 1), 10)
    return found


# ── beside another library ──


def side_by_side(folder: Path, peer: str, sync: Sync) -> dict[str, Any]:
    """Both with an event loop, turn by turn, one item at a time, equally safe when the call returns."""
    command = [peer, "-c", PEER, str(folder / f"peer-{sync}.db"), sync]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        if json.loads(process.stdout.readline()) is None:
            return {
                "openai-agents": f"not installed: {peer} -m pip install openai-agents, or --peer"
            }
        theirs = _Peer(process.stdin, process.stdout)
        took = asyncio.run(_both(folder / f"ours-{sync}" / "archive.sqlite3", theirs, sync))
        process.stdin.close()
    figures: dict[str, Any] = {"items": ITEMS}
    for name, pairs in took.items():
        mine, other = (round(statistics.median(each), 3) for each in zip(*pairs, strict=True))
        figures[f"{name}_ms"] = {"MessageHistory": at_most(mine, other), "SQLiteSession": other}
    return figures


class _Peer(NamedTuple):
    asked: IO[str]
    answered: IO[str]

    def do(self, what: str, item: Any = None) -> float:
        self.asked.write(json.dumps([what, item]) + "\n")
        self.asked.flush()
        return float(self.answered.readline())


async def _both(archive: Path, peer: _Peer, sync: Sync) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of ours and theirs."""
    history = await AsyncMessageHistory.open("bench", archive=archive, sync=sync)
    took: dict[str, list[tuple[float, float]]] = {"add": [], "read": [], "open_and_read": []}
    for number in range(ITEMS):
        role = "user" if number % 2 else "assistant"
        item = {"role": role, "content": f"{number} {WORDS}"}
        started = time.perf_counter()
        await history.add_raw_message(item)
        took["add"].append((_since(started), peer.do("add", item)))
    for _ in range(ROUNDS):
        started = time.perf_counter()
        assert len(await history.get_messages()) == ITEMS
        took["read"].append((_since(started), peer.do("read")))
    for _ in range(ROUNDS):
        await history.close()
        # Letting go of the last one is no part of opening the next.
        del history
        await asyncio.sleep(0.002)
        started = time.perf_counter()
        history = await AsyncMessageHistory.open("bench", archive=archive, sync=sync)
        assert len(await history.get_messages()) == ITEMS
        took["open_and_read"].append((_since(started), peer.do("open")))
    await history.close()
    return took


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
