"""The figures of import: `python bench/import.py [--tenfold]` prints them as JSON.

First import against `orjson.loads` over every line, memory, size, and how long
it takes when nothing or little is new. The corpus is made by gen_corpus.py.
"""

from __future__ import annotations

import argparse
import json
import os
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

HERE = Path(__file__).parent
RIREKI = Path(sys.executable).with_name("rireki")
REPEAT = 7


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        figures = measure(Path(folder), arguments.corpus, arguments.sessions)
        if arguments.tenfold:
            figures["tenfold"] = tenfold(Path(folder), figures)
    print(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--tenfold", action="store_true", help="also import ten times as much")
    return parser.parse_args()


def measure(folder: Path, corpus: Path | None, sessions: int) -> dict[str, Any]:
    home = folder / "home"
    if corpus:
        shutil.copytree(corpus, home)
    else:
        make_corpus(home, sessions)
    archive = folder / "archive.sqlite3"
    size, loads = baseline(home)
    first, memory = timed_with_memory(_import(home, archive))
    figures: dict[str, Any] = {
        "source_bytes": size,
        "orjson_seconds": round(loads, 3),
        "first_import_seconds": round(first, 3),
        "first_import_times_orjson": round(first / loads, 2),
        "first_import_memory_mb": round(memory / 1e6, 1),
        "archive_to_source": round(archive.stat().st_size / size, 3),
        "nothing_new_seconds": median(_import(home, archive)),
    }
    appended = []
    for number in range(REPEAT):
        turn = [
            sys.executable,
            "-W",
            "ignore",
            str(HERE / "append_turn.py"),
            str(home),
            f"word{number}",
        ]
        subprocess.run(turn, check=True, stdout=subprocess.DEVNULL)
        appended.append(timed(_import(home, archive)))
    figures["one_turn_seconds"] = round(statistics.median(appended), 3)
    figures["list_seconds"] = median([str(RIREKI), "list", "--archive", str(archive)])
    figures["version_seconds"] = median([str(RIREKI), "--version"])
    return figures


def tenfold(folder: Path, figures: dict[str, Any]) -> dict[str, Any]:
    home = folder / "ten"
    make_corpus(home, 10_000)
    archive = folder / "ten.sqlite3"
    baseline(home)  # brings the files into the page cache, as for the small corpus
    seconds, memory = timed_with_memory(_import(home, archive))
    return {
        "first_import_seconds": round(seconds, 3),
        "times_the_small_one": round(seconds / figures["first_import_seconds"], 2),
        "memory_mb": round(memory / 1e6, 1),
        "nothing_new_seconds": median(_import(home, archive)),
    }


def make_corpus(home: Path, sessions: int) -> None:
    command = [sys.executable, str(HERE / "gen_corpus.py"), "--out", str(home)]
    command += ["--sessions", str(sessions), "--turns", "9", "--seed", "1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


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


def _import(home: Path, archive: Path) -> list[str]:
    return [str(RIREKI), "import", "--home", str(home), "--archive", str(archive)]


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
        peak[0] = max(peak[0], sum(_resident(pid) for pid in _family(process.pid)))
        time.sleep(0.02)


def _family(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return [pid]
    return [pid, *(member for child in text.split() for member in _family(int(child)))]


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
