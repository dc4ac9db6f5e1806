"""The figures of usage: `python -m bench.usage` prints them as JSON.

How long the page takes to come, of 30 days and of everything, and how long `rireki usage` takes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import REPEAT, at_most, copy_corpus, import_command, median, rireki, timed
from bench.server import Server, serving

#: Seconds.
LIMIT = 0.3
PAGES = {
    "page_30_days": "/usage",
    "page_everything_by_week": "/usage?period=all&by=week&split=project&of=cost",
}
COMMANDS = {
    "command_by_day": ["--by", "day"],
    "command_by_model": ["--by", "model", "--json"],
    "command_last_7_days": ["--since", "7d"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        home, archive = Path(folder) / "home", Path(folder) / "archive.sqlite3"
        copy_corpus(home, arguments.sessions, arguments.corpus)
        timed(import_command(home, archive))
        figures: dict[str, Any] = {
            name: at_most(median(rireki("usage", "--archive", archive, *options)), LIMIT)
            for name, options in COMMANDS.items()
        }
        with serving(home, archive) as server:
            server.wait_until_keeping()
            figures |= {name: at_most(took(server, path), LIMIT) for name, path in PAGES.items()}
    print(json.dumps(figures, indent=2))


def took(server: Server, path: str) -> float:
    """Until all of the page is there; the median, as nobody opens the first one twice."""
    times = []
    for _ in range(REPEAT):
        started = time.perf_counter()
        server.client.get(path).raise_for_status()
        times.append(time.perf_counter() - started)
    return round(statistics.median(times), 3)


if __name__ == "__main__":
    main()
