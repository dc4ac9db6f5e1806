"""Histories of programs in PostgreSQL: what adding a message costs beside another library's session in
the same database, and many workers at once. For `python -m bench.team histories`.

The other library is openai-agents with its SQLAlchemySession: `pip install 'openai-agents[sqlalchemy]'
asyncpg` into any environment, and name its interpreter with `--peer`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any

from bench.measure import at_most, percentile
from tests.support.postgres import PostgresServer, running

from rireki import AsyncMessageHistory, MessageHistory

#: Messages that both add, turn by turn.
ITEMS = 1000
#: Workers at once, each with a conversation of its own; the processes they are in, and what each adds.
WORKERS, PROCESSES, EACH = 50, 2, 40
WORDS = "What the agent said, in a few words that are neither short nor long. " * 4
#: Adds one item for every line it is told, and says how long that took.
PEER = """
import asyncio, json, sys, time
try:
    from agents.extensions.memory import SQLAlchemySession
    import asyncpg
except ImportError:
    print("null")
    sys.exit()


async def main():
    session = SQLAlchemySession.from_url("bench", url=sys.argv[1], create_tables=True)
    await session.get_items()
    print("0", flush=True)
    for line in sys.stdin:
        item = json.loads(line)
        started = time.perf_counter()
        await session.add_items([item])
        print((time.perf_counter() - started) * 1000, flush=True)


asyncio.run(main())
"""


def histories(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    with running(arguments.version, durable=True) as server:
        return {
            "version": arguments.version,
            **_side_by_side(server, arguments.peer),
            **_many(server),
        }


def _side_by_side(server: PostgresServer, peer: str) -> dict[str, Any]:
    """Milliseconds until one message is committed."""
    address = server.database()
    url = address.replace("postgresql:", "postgresql+asyncpg:")
    with subprocess.Popen(
        [peer, "-c", PEER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        if json.loads(process.stdout.readline()) is None:
            how = "pip install 'openai-agents[sqlalchemy]' asyncpg, or --peer"
            return {"openai-agents": f"not installed: {how}"}
        ours, theirs = asyncio.run(_both(address, process.stdin, process.stdout))
        process.stdin.close()
    limit = round(percentile(theirs, 0.95), 3)
    return {
        "add_p50_ms": {
            "MessageHistory": round(statistics.median(ours), 3),
            "SQLAlchemySession": round(statistics.median(theirs), 3),
        },
        "add_p95_ms": {
            "MessageHistory": at_most(round(percentile(ours, 0.95), 3), limit),
            "SQLAlchemySession": limit,
        },
    }


async def _both(address: str, asked: IO[str], answered: IO[str]) -> tuple[list[float], list[float]]:
    ours, theirs = [], []
    async with await AsyncMessageHistory.open("bench", store=address) as history:
        for number in range(ITEMS):
            item = {"role": "user" if number % 2 else "assistant", "content": f"{number} {WORDS}"}
            started = time.perf_counter()
            await history.add_raw_message(item)
            ours.append((time.perf_counter() - started) * 1000)
            asked.write(json.dumps(item) + "\n")
            asked.flush()
            theirs.append(float(answered.readline()))
    return ours, theirs


def _many(server: PostgresServer) -> dict[str, Any]:
    address = server.database()
    share = WORKERS // PROCESSES
    began = time.perf_counter()
    with ProcessPoolExecutor(PROCESSES) as pool:
        firsts = range(0, WORKERS, share)
        parts = list(pool.map(partial(_workers, address, share), firsts))
    whole = time.perf_counter() - began
    seconds = [each for part in parts for each in part]
    return {
        "workers": WORKERS,
        "workers_added": len(seconds),
        "workers_per_s": round(len(seconds) / whole),
        "workers_p95_ms": round(percentile(seconds, 0.95) * 1000, 1),
        "workers_lost": at_most(sum(_missing(address, n) for n in range(WORKERS)), 0),
    }


def _workers(address: str, count: int, first: int) -> list[float]:
    with ThreadPoolExecutor(count) as threads:
        found = threads.map(partial(_worker, address), range(first, first + count))
        return [each for part in found for each in part]


def _worker(address: str, number: int) -> list[float]:
    seconds = []
    with MessageHistory.open(f"worker-{number}", store=address) as history:
        for count in range(EACH):
            started = time.perf_counter()
            history.add_user_message(f"{count} {WORDS}")
            seconds.append(time.perf_counter() - started)
    return seconds


def _missing(address: str, number: int) -> int:
    """Messages of a worker that are not there, or not in their order."""
    with MessageHistory.open(f"worker-{number}", store=address) as history:
        said = [str(message["content"]).split()[0] for message in history.messages]
    return EACH if said != [str(count) for count in range(EACH)] else 0
