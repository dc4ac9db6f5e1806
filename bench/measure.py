"""What the benches share: corpora, processes and their memory, figures with their limits."""

from __future__ import annotations

import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

__all__ = [
    "REPEAT",
    "at_least",
    "append_turn",
    "at_most",
    "baseline",
    "copy_corpus",
    "import_command",
    "make_corpus",
    "median",
    "percentile",
    "resident",
    "rireki",
    "timed",
    "timed_with_memory",
]

HERE = Path(__file__).parent
RIREKI = Path(sys.executable).with_name("rireki")
REPEAT = 7


# ── figures ──


def at_most(value: float, limit: float) -> dict[str, Any]:
    """A figure, its limit, and whether it holds."""
    return {"value": value, "limit": limit, "ok": value <= limit}


def at_least(value: float, limit: float) -> dict[str, Any]:
    """A figure, what it has to reach, and whether it does."""
    return {"value": value, "limit": limit, "ok": value >= limit}


def percentile(values: Sequence[float], part: float) -> float:
    """The smallest value that so large a part of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


# ── corpora ──


def make_corpus(home: Path, sessions: int) -> None:
    command = [sys.executable, str(HERE / "gen_corpus.py"), "--out", str(home)]
    command += ["--sessions", str(sessions), "--turns", "9", "--seed", "1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def copy_corpus(home: Path, sessions: int, corpus: Path | None = None) -> None:
    """A corpus to write to: a copy of the one given, or of one that is made once and kept."""
    if corpus is None:
        # Its text is cut from Python's own library, so each version makes another.
        version = platform.python_version()
        corpus = Path(tempfile.gettempdir()) / f"rireki-bench-corpus-{sessions}-{version}"
        if not (corpus / "MANIFEST.json").exists():
            shutil.rmtree(corpus, ignore_errors=True)
            make_corpus(corpus, sessions)
    shutil.copytree(corpus, home)


def append_turn(home: Path, word: str) -> Path:
    """One prompt and one answer with this word more; returns the file they are in."""
    turn = [sys.executable, "-W", "ignore", str(HERE / "append_turn.py"), str(home), word]
    said = subprocess.run(turn, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Path(said.rpartition(" ")[0])


def baseline(home: Path) -> tuple[int, float]:
    """Bytes of the corpus, and the seconds orjson takes for every line of it."""
    size = 0
    seconds = 0.0
    for path in home.rglob("*.jsonl"):
        data = path.read_bytes()
        size += len(data)
        started = time.perf_counter()
        for line in data.split(b"\n"):
            if line:
                orjson.loads(line)
        seconds += time.perf_counter() - started
    return size, seconds


# ── processes ──


def rireki(*arguments: object) -> list[str]:
    return [str(RIREKI), *map(str, arguments)]


def import_command(home: Path, archive: Path) -> list[str]:
    return rireki("import", "--home", home, "--archive", archive)


def timed(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def median(command: Sequence[str]) -> float:
    return round(statistics.median(timed(command) for _ in range(REPEAT)), 3)


def timed_with_memory(command: Sequence[str]) -> tuple[float, int]:
    """Seconds, and the peak of what the process and its children hold in memory together."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = [0]
    watcher = threading.Thread(target=_watch, args=(process, peak))
    watcher.start()
    code = process.wait()
    seconds = time.perf_counter() - started
    watcher.join()
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return seconds, peak[0]


def _watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(resident(pid) for pid in _family(process.pid)))
        time.sleep(0.05)


def _family(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return [pid]
    return [pid, *(member for child in text.split() for member in _family(int(child)))]


def resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
