"""`rireki watch` in a process of its own, as a person or a service starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from tests.cli.conftest import TALK, said, write

START = (
    "import sys; from rireki.sources import registry;"
    "registry._addresses = lambda: {'toy': 'tests.cli.toy:READER'};"
    "from rireki.cli.main import run; sys.exit(run(sys.argv[1:]))"
)
PATIENCE = 30.0


class Watch:
    """A running `rireki watch`, and what it has said."""

    def __init__(self, home: Path, archive: Path, *options: str) -> None:
        where = ["--home", str(home), "--archive", str(archive)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, "watch", *where, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        self.lines: Queue[str] = Queue()
        self.said: list[str] = []
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def until(self, wanted: Callable[[str], bool]) -> str:
        """The next line of that kind."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                line = self.lines.get(timeout=0.2)
            except Empty:
                continue
            self.said.append(line)
            if wanted(line):
                return line
        raise AssertionError(f"it said only {self.said}")

    def end(self, number: int) -> tuple[int, str]:
        os.kill(self.process.pid, number)
        code = self.process.wait(PATIENCE)
        assert self.process.stderr is not None
        complaints = self.process.stderr.read()
        self.close()
        return code, complaints

    def close(self) -> None:
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


Start = Callable[..., Watch]


@pytest.fixture
def start(home: Path, tmp_path: Path) -> Iterator[Start]:
    started: list[Watch] = []

    def run(*options: str) -> Watch:
        started.append(Watch(home, tmp_path / "archive.sqlite3", *options))
        return started[-1]

    yield run
    for watch in started:
        if watch.process.poll() is None:
            watch.end(signal.SIGKILL)


def add(home: Path, text: str, minute: int) -> None:
    with (home / ".toy" / f"{TALK}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(said(f"new-{minute}", "person", text, minute, turn=2)) + "\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_tells_what_it_took_in_what_it_watches_and_each_change(
    start: Start, home: Path, number: int
) -> None:
    watch = start()
    assert "2 new conversations" in watch.until(lambda line: line.startswith("toy"))
    assert watch.until(lambda line: line.startswith("Watching")) == (
        "Watching 3 files in 1 folder; Ctrl-C ends."
    )
    add(home, "and on", 20)
    line = watch.until(lambda line: "設定ファイルを読む" in line)
    assert line.split("  ")[1:] == ["toy", "api", "設定ファイルを読む", "1 message"]
    write(home, "dddd4444", [{"about": {"title": "A new one"}}, said("x", "person", "hi", 30)])
    assert watch.until(lambda line: "A new one" in line).endswith("new, 1 message")
    code, complaints = watch.end(number)
    assert (code, complaints) == (0, "")


def test_json_is_one_object_per_change(start: Start, home: Path) -> None:
    watch = start("--json")
    deadline = time.monotonic() + PATIENCE
    minute = 0
    while watch.lines.empty() and time.monotonic() < deadline:
        # Until the first import is over a change is part of it, and not told.
        add(home, "and on", minute := (minute + 1) % 60)
        time.sleep(0.5)
    change = json.loads(watch.until(bool))
    assert change["id"] == f"toy/{TALK}" and change["kind"] == "changed"
    assert change["messages"] >= 1 and change["project"] == "/w/api" and change["number"] > 0
    assert watch.end(signal.SIGTERM)[0] == 0


def test_a_second_one_says_who_keeps_the_archive_follows_and_takes_over(
    start: Start, home: Path
) -> None:
    first = start()
    first.until(lambda line: line.startswith("Watching"))
    second = start()
    line = second.until(lambda line: "kept by" in line)
    assert f"process {first.process.pid}" in line
    add(home, "and on", 20)
    second.until(lambda line: "設定ファイルを読む" in line)
    first.end(signal.SIGKILL)
    second.until(lambda line: "takes over" in line)
    second.until(lambda line: line.startswith("Watching"))
    assert second.end(signal.SIGINT)[0] == 0


def test_quiet_says_nothing_but_what_is_wrong(start: Start, home: Path, tmp_path: Path) -> None:
    (tmp_path / "archive.sqlite3").write_bytes(b"no archive" * 100)
    watch = start("--quiet")
    code = watch.process.wait(PATIENCE)
    assert watch.process.stderr is not None
    complaint = watch.process.stderr.read()
    assert code == 1 and "is not a rireki archive" in complaint and "hint:" in complaint
    assert watch.lines.empty()
    watch.close()


def test_an_idle_keeper_is_small(start: Start, home: Path) -> None:
    watch = start()
    watch.until(lambda line: line.startswith("Watching"))
    add(home, "and on", 20)
    watch.until(lambda line: "設定ファイルを読む" in line)
    status = Path(f"/proc/{watch.process.pid}/status").read_text()
    (size,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    assert int(size) < 80_000, "kilobytes"
