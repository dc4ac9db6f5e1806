"""Runs the tests in two phases: beside each other, then those that wait, two at a time.

`python -m tools.suite` runs all of them. While the first phase runs, what the second needs is
installed; while the second waits, mypy and the check of the scripts take the time that is left.
`… fast` is the first phase alone, without what takes long. What fails is tried once more by
itself, and named at the end: a test that needed it is a defect too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

from tests.phases import WAITS

#: Names the file for `FailedTests`.
VARIABLE = "RIREKI_FAILED_TESTS"
#: With more than these something is broken, and not late.
MOST = 20
PYTEST = [sys.executable, "-m", "pytest", "-p", "tools.failed_tests"]
MYPY = [str(Path(sys.executable).with_name("mypy"))]
JAVASCRIPT = [sys.executable, "-m", "tools.javascript"]
#: Where the packages of npm lie that tests need.
NPM = str(Path(sys.prefix) / "npm")


class Phase(NamedTuple):
    name: str
    options: list[str]


class Outcome(NamedTuple):
    code: int
    failed: list[str]


def phases(fast: bool) -> list[Phase]:
    workers = str(max(2, os.cpu_count() or 2))
    files = sorted({name.partition("::")[0].rstrip("/") for name in WAITS})
    # A phase does not even import what it leaves out whole.
    others = [f"--ignore=tests/{name.rstrip('/')}" for name in WAITS if "::" not in name]
    if fast:
        return [Phase("fast", ["-n", workers, *others, "-m", "not waits and not slow"])]
    together = Phase("beside each other", ["-n", workers, *others, "-m", "not waits"])
    # By file: what a file starts for its tests is started once. In our order, the longest first:
    # xdist would begin with the files of the most tests, and those of one long test come last.
    how = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    waiting = [*how, *(f"tests/{file}" for file in files), "-m", "waits"]
    return [together, Phase("those that wait, two at a time", waiting)]


def run(phase: Phase) -> Outcome:
    print(f"── tests: {phase.name}", flush=True)
    with TemporaryDirectory() as folder:
        told = Path(folder) / "failed.json"
        environment = {**os.environ, VARIABLE: str(told)}
        # Without it every process compiles all of us again: minutes.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        code = subprocess.run([*PYTEST, *phase.options], env=environment, check=False).returncode
        return Outcome(code, json.loads(told.read_text("utf-8")) if told.exists() else [])


def main(arguments: list[str]) -> int:
    fast = arguments == ["fast"]
    if arguments and not fast:
        print("usage: python -m tools.suite [fast]", file=sys.stderr)
        return 2
    began = time.monotonic()
    # What runs beside each phase.
    besides = (
        [[]]
        if fast
        else [
            [["sh", "tools/browser"], ["sh", "tools/adapter", NPM], ["sh", "tools/ccusage", NPM]],
            [MYPY, JAVASCRIPT],
        ]
    )
    failed: list[str] = []
    wrong = 0
    for phase, commands in zip(phases(fast), besides, strict=True):
        started = [Beside(command) for command in commands]
        outcome = run(phase)
        wrong |= max((each.end() for each in started), default=0)
        if outcome.code not in (0, 1) or len(outcome.failed) > MOST:
            return outcome.code or 1
        failed += outcome.failed
    again = run(Phase("once more, by themselves", failed)) if failed else Outcome(0, [])
    _tell(failed, again.failed)
    print(f"── {time.monotonic() - began:.0f} s", flush=True)
    return again.code or wrong


class Beside:
    """A program that takes the time the tests leave; what it says is shown when it has ended."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._said = TemporaryFile("w+")  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(
            ["nice", "-n", "19", *command], stdout=self._said, stderr=self._said
        )

    def end(self) -> int:
        code = self._process.wait()
        self._said.seek(0)
        if said := self._said.read().rstrip():
            print(f"── {Path(self._command[0]).name}\n{said}", flush=True)
        self._said.close()
        return code


def _tell(failed: list[str], still: list[str]) -> None:
    late = [name for name in failed if name not in still]
    if late:
        print("── NEEDED A SECOND TRY, which is a defect:", *late, sep="\n   ", flush=True)
    if still:
        print("── FAILED:", *still, sep="\n   ", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
