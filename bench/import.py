"""The figures of import: `python -m bench.import [--tenfold]` prints them as JSON.

First import against `orjson.loads` over every line, memory, size, and how long
it takes when nothing or little is new; the first import without the search index,
whose cost bench/search.py measures. The corpus is made by gen_corpus.py.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import (
    REPEAT,
    append_turn,
    baseline,
    copy_corpus,
    import_command,
    median,
    rireki,
    timed,
    timed_with_memory,
)


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
    copy_corpus(home, sessions, corpus)
    archive = folder / "archive.sqlite3"
    size, loads = baseline(home)
    first, memory = timed_with_memory([*import_command(home, archive), "--no-index"])
    figures: dict[str, Any] = {
        "source_bytes": size,
        "orjson_seconds": round(loads, 3),
        "first_import_seconds": round(first, 3),
        "first_import_times_orjson": round(first / loads, 2),
        "first_import_memory_mb": round(memory / 1e6, 1),
        "archive_to_source": round(archive.stat().st_size / size, 3),
        "nothing_new_seconds": median(import_command(home, archive)),
    }
    appended = []
    for number in range(REPEAT):
        append_turn(home, f"word{number}")
        appended.append(timed(import_command(home, archive)))
    figures["one_turn_seconds"] = round(statistics.median(appended), 3)
    figures["list_seconds"] = median(rireki("list", "--archive", archive))
    figures["version_seconds"] = median(rireki("--version"))
    return figures


def tenfold(folder: Path, figures: dict[str, Any]) -> dict[str, Any]:
    home = folder / "ten"
    copy_corpus(home, 10_000)
    archive = folder / "ten.sqlite3"
    baseline(home)  # brings the files into the page cache, as for the small corpus
    seconds, memory = timed_with_memory([*import_command(home, archive), "--no-index"])
    return {
        "first_import_seconds": round(seconds, 3),
        "times_the_small_one": round(seconds / figures["first_import_seconds"], 2),
        "memory_mb": round(memory / 1e6, 1),
        "nothing_new_seconds": median(import_command(home, archive)),
    }


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
