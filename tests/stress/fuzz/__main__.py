"""The campaign: `python -m tests.stress.fuzz`, by `make stress`.

Every case follows from the seed and its number, and which cases are done is noted: a
campaign that was interrupted goes on where it was. `--case N` runs one case alone, with its
traceback.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.stress.fuzz.cases import SHOWN, fails, run_case
from tests.stress.fuzz.corpus import READERS

CASES = 200_000
#: Cases between two notes of how far it is.
STEP = 2000


def main(arguments: list[str]) -> int:
    options = _options().parse_args(arguments)
    options.reader = options.reader or list(READERS)
    if options.case is not None:
        for source in options.reader:
            run_case(source, options.seed, options.case)
        return 0
    notes = Path(options.notes)
    notes.mkdir(parents=True, exist_ok=True)
    wrong = sum(_campaign(source, options, notes) for source in options.reader)
    print(f"fuzzing: {wrong} kinds of failure" if wrong else "fuzzing: nothing failed")
    return bool(wrong)


def _campaign(source: str, options: argparse.Namespace, notes: Path) -> int:
    note = notes / f"{options.seed}-{source}"
    start = int(note.read_text().split()[0]) if note.exists() else 0
    kinds: Counter[str] = Counter()
    began = time.monotonic()
    for number in range(start, options.cases):
        if found := fails(source, options.seed, number):
            kind = found.split(": ", 1)[0] + found.rsplit(" at", 1)[-1]
            if not kinds[kind]:
                print(f"{source} --seed {options.seed} --case {number}: {found}", flush=True)
            kinds[kind] += 1
        if (number + 1) % STEP == 0 or number + 1 == options.cases:
            # A failure is met again: what was found stays to be mended.
            if not kinds:
                note.write_text(f"{number + 1}\n")
            _progress(source, number + 1, options.cases, began)
    done = max(0, options.cases - start)
    print(
        f"{source}: {options.cases:,} cases, {options.cases // SHOWN:,} shown, {done:,} of them now "
        f"in {time.monotonic() - began:.0f} s, {sum(kinds.values())} failed",
        flush=True,
    )
    return len(kinds)


def _progress(source: str, done: int, cases: int, began: float) -> None:
    if sys.stdout.isatty():
        print(f"\r\x1b[K{source}: {done:,} of {cases:,}", end="\r", flush=True)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.stress.fuzz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=CASES, help="of every reader")
    parser.add_argument("--reader", action="append", choices=READERS)
    parser.add_argument("--case", type=int, help="this one alone, with its traceback")
    parser.add_argument("--notes", default=".fuzz", help="the folder that tells how far it is")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
