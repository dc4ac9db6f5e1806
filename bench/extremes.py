"""The figures of what nobody has, yet: `python -m bench.extremes` prints them as JSON.

100,000 tiny transcripts, and one of 2 GB: the first import, the second, in which nothing is
new, and the memory of both.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import at_most, import_command, timed_with_memory

__all__ = ["WORDS", "measure", "write_long", "write_tiny"]

#: Megabytes an import may take, however many files it has before it.
MEMORY = 700
#: Bytes of memory that a long conversation takes per byte: its records, and what is read of them.
PER_BYTE = 2.6
SESSION = "{:08x}-0000-4000-8000-000000000000"
#: About two kilobytes: what a line of a transcript usually has.
WORDS = "The tide table says high water at noon; the pier log agrees with it. " * 26


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        tiny, long = Path(folder) / "tiny", Path(folder) / "long"
        write_tiny(tiny, arguments.files)
        write_long(long, int(arguments.gigabytes * 1e9))
        figures = {
            f"{arguments.files}_tiny_files": measure(tiny, Path(folder) / "tiny.sqlite3"),
            f"{arguments.gigabytes}_gb_transcript": measure(
                long,
                Path(folder) / "long.sqlite3",
                MEMORY + PER_BYTE * arguments.gigabytes * 1000,
            ),
        }
    print(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    return parser.parse_args()


def measure(home: Path, archive: Path, limit: float = MEMORY) -> dict[str, Any]:
    """Two imports of a home."""
    first, memory = timed_with_memory(import_command(home, archive))
    second, less = timed_with_memory(import_command(home, archive))
    return {
        "first_import_seconds": round(first, 2),
        "first_import_memory_mb": at_most(round(memory / 1e6), limit),
        "second_import_seconds": round(second, 2),
        "second_import_memory_mb": at_most(round(less / 1e6), MEMORY),
        "archive_mb": round(archive.stat().st_size / 1e6, 1),
    }


def write_tiny(home: Path, count: int) -> None:
    """So many conversations of one prompt and one answer, a hundred to a project."""
    for number in range(count):
        folder = home / ".claude" / "projects" / f"-home-u-p{number // 100}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        session = SESSION.format(number)
        turns = "".join(_lines(session, f"question {number}", f"answer {number}", 2))
        (folder / f"{session}.jsonl").write_text(turns, encoding="utf-8")


def write_long(home: Path, size: int) -> None:
    """One conversation of so many bytes."""
    folder = home / ".claude" / "projects" / "-home-u-long"
    folder.mkdir(parents=True)
    session = SESSION.format(1)
    with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as file:
        for line in _lines(session, "What does the log say?", WORDS, size):
            file.write(line)
            if file.tell() >= size:
                return


def _lines(session: str, question: str, answer: str, most: int) -> Iterator[str]:
    """A prompt and an answer in turn, each the child of the one before."""
    for number in range(most):
        kind = "assistant" if number % 2 else "user"
        words: Any = [{"type": "text", "text": answer}] if number % 2 else question
        parent = f"{number - 1:08x}-0000-4000-8000-{session[:8]:0>12}" if number else None
        line = {
            "type": kind,
            "uuid": f"{number:08x}-0000-4000-8000-{session[:8]:0>12}",
            "parentUuid": parent,
            "sessionId": session,
            "cwd": "/home/u/long",
            "timestamp": f"2026-01-01T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            "message": {"role": kind, "content": words},
        }
        yield json.dumps(line) + "\n"


if __name__ == "__main__":
    main()
