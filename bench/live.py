"""The figures of live: `python -m bench.live` prints them as JSON.

How long after a line was appended an open connection hears of it, alone and with 200
listeners, and what a keeper that has nothing to do costs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Queue
from typing import Any
from uuid import uuid4

from bench.measure import at_most, copy_corpus, make_corpus, percentile, resident, rireki
from bench.server import Server, listen, serving

#: Appends that are measured, and how far apart they are, in seconds.
APPENDS, APART = 200, 0.15
LISTENERS = 200
#: Files of the idle keeper's home, and how long it is watched doing nothing.
FILES, IDLE_SECONDS = 5000, 60


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        home = Path(folder) / "home"
        copy_corpus(home, arguments.sessions, arguments.corpus)
        with serving(home, Path(folder) / "archive.sqlite3") as server:
            server.wait_until_keeping()
            figures = {
                "append_to_event_ms": event_delays(server, home, 1, 50),
                "append_to_event_of_200_listeners_ms": event_delays(server, home, LISTENERS, 250),
            }
        figures["idle"] = idle(Path(folder), arguments.idle_seconds)
    print(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--idle-seconds", type=int, default=IDLE_SECONDS)
    return parser.parse_args()


# ── from the append to the event ──


def event_delays(server: Server, home: Path, listeners: int, limit: float) -> dict[str, Any]:
    """Delays of every listener for every append, in milliseconds."""
    heard: Queue[tuple[float, dict[str, Any]]] = Queue()
    ready = threading.Semaphore(0)
    for _ in range(listeners):
        threading.Thread(target=_listener, args=(server, heard, ready), daemon=True).start()
    for _ in range(listeners):
        ready.acquire()
    sent = _append_all(home)
    delays, missing = _delays(heard, sent, listeners)
    return {
        "listeners": listeners,
        "appends": len(sent),
        "never_heard": missing,
        "p50": round(statistics.median(delays), 1),
        "p95": at_most(round(percentile(delays, 0.95), 1), limit),
        "max": round(max(delays), 1),
    }


def _listener(
    server: Server, heard: Queue[tuple[float, dict[str, Any]]], ready: threading.Semaphore
) -> None:
    for arrived, event in listen(server):
        if event["event"] == "hello":
            ready.release()
        else:
            heard.put((arrived, event))


def _append_all(home: Path) -> dict[str, float]:
    """Append prompts to sessions at random; returns when each message was written."""
    chance = random.Random(3)
    sessions = sorted((home / ".claude" / "projects").glob("*/*.jsonl"))
    sent: dict[str, float] = {}
    for _ in range(APPENDS):
        id, line = prompt(chance.choice(sessions))
        sent[id] = time.perf_counter()
        with line[0].open("ab") as file:
            file.write(line[1])
        time.sleep(APART)
    return sent


def prompt(session: Path, text: str = "") -> tuple[str, tuple[Path, bytes]]:
    """The id of a new prompt, the file it belongs into and its line."""
    last: dict[str, Any] = {}
    with session.open("rb") as file:
        file.seek(max(0, session.stat().st_size - 200_000))
        for line in file.read().split(b"\n")[1:]:
            found = json.loads(line) if line else {}
            last = found if found.get("uuid") else last
    id = str(uuid4())
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + ".000Z"
    kept = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch")
    value = {key: last[key] for key in kept if key in last} | {
        "parentUuid": last.get("uuid"),
        "type": "user",
        "message": {"role": "user", "content": text or f"and now {id[:8]}"},
        "uuid": id,
        "timestamp": now,
    }
    return id, (session, json.dumps(value).encode() + b"\n")


def _delays(
    heard: Queue[tuple[float, dict[str, Any]]], sent: dict[str, float], listeners: int
) -> tuple[Sequence[float], int]:
    delays: list[float] = []
    deadline = time.monotonic() + 10
    while len(delays) < len(sent) * listeners and time.monotonic() < deadline:
        if heard.empty():
            time.sleep(0.05)
            continue
        arrived, event = heard.get()
        named = [id for change in event["changes"] for id in change["messages"] or []]
        delays += [(arrived - sent[id]) * 1000 for id in named if id in sent]
    return delays, len(sent) * listeners - len(delays)


# ── doing nothing ──


def idle(folder: Path, seconds: int) -> dict[str, Any]:
    """What a keeper over 5,000 files costs while nothing happens."""
    home = folder / "idle"
    make_corpus(home, FILES * 10 // 11)
    command = rireki("watch", "--home", home, "--archive", folder / "idle.sqlite3", "--json")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_until_quiet(process.pid)
        before = _cpu_seconds(process.pid)
        time.sleep(seconds)
        used = _cpu_seconds(process.pid) - before
        memory = resident(process.pid) / 1e6
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    return {
        "files": sum(1 for _ in home.rglob("*.jsonl")),
        "percent_of_a_core": at_most(round(100 * used / seconds, 2), 1),
        "memory_mb": at_most(round(memory, 1), 80),
    }


def _wait_until_quiet(pid: int) -> None:
    """Until the first import is over: ten seconds in which hardly anything was done."""
    quiet = 0
    while quiet < 10:
        before = _cpu_seconds(pid)
        time.sleep(1)
        quiet = quiet + 1 if _cpu_seconds(pid) - before < 0.1 else 0


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
