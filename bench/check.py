"""What it costs to notice rewrites: `python -m bench.check` prints files opened and bytes read as JSON.

Counted, not timed, except for the comparison of everything: an import with nothing new, one of a
file that grew, one of a file that was only touched, a sweep of the keeper, and `import --check`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

from bench.measure import append_turn, at_most, copy_corpus

from rireki.archive.open import open_archive
from rireki.archive.pack import FULL
from rireki.intake.check import PER_SWEEP, Checker
from rireki.intake.sweep import import_history, sweep
from rireki.sources.kit import stamps
from rireki.sources.kit.places import Places


class Counted(FileIO):
    files = 0
    amount = 0

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        Counted.files += 1

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size)
        Counted.amount += len(data)
        return data


def counted(work: Callable[[], object]) -> dict[str, Any]:
    Counted.files = Counted.amount = 0
    started = time.perf_counter()
    work()
    seconds = round(time.perf_counter() - started, 3)
    return {"files": Counted.files, "bytes": Counted.amount, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        print(json.dumps(measure(Path(folder), arguments.corpus, arguments.sessions), indent=2))


def measure(folder: Path, corpus: Path | None, sessions: int) -> dict[str, Any]:
    home = folder / "home"
    copy_corpus(home, sessions, corpus)
    places = Places.at(home)
    archive = open_archive(folder / "archive.sqlite3", create=True)
    import_history(archive, places=places)
    setattr(stamps, "FileIO", Counted)  # noqa: B010 - counted where it is opened
    figures: dict[str, Any] = {"source_bytes": _size(home)}
    figures["nothing_new"] = counted(lambda: import_history(archive, places=places))
    grown = append_turn(home, "bench")
    figures["one_file_grew"] = counted(lambda: import_history(archive, places=places))
    os.utime(grown, ns=(1, 1))
    figures["one_file_touched"] = counted(lambda: import_history(archive, places=places))
    figures["its_bytes"] = grown.stat().st_size
    checker = Checker(PER_SWEEP)
    sweeps = [counted(lambda: sweep(archive, places, checker=checker)) for _ in range(3)]
    figures["sweeps_of_the_keeper"] = sweeps
    figures["check"] = counted(lambda: import_history(archive, places=places, check=True))
    figures["limits"] = {
        "nothing_new_files": at_most(figures["nothing_new"]["files"], 0),
        "grew_bytes": at_most(figures["one_file_grew"]["bytes"], 4 * FULL),
        "sweep_bytes": at_most(max(each["bytes"] for each in sweeps), PER_SWEEP),
    }
    archive.close()
    return figures


def _size(home: Path) -> int:
    return sum(path.stat().st_size for path in home.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
