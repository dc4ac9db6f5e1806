"""The bridge is killed at any moment: what it acknowledged is there, and ran once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.drive.conftest import Desk

ROOT = Path(__file__).parents[2]
SESSIONS = ["one", "two", "three"]
#: A short campaign; `make stress` has the long one.
KILLS = 3


def program(archive_reader: Desk, run: str, seed: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.support.bridge_program",
            str(archive_reader.folder),
            run,
            str(seed),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def killed(archive_reader: Desk, run: str, word: bytes, chance: random.Random) -> list[str]:
    """What it acknowledged before it was killed: any moment after it said the word a few times."""
    process = program(archive_reader, run, chance.randrange(1 << 30))
    assert process.stdout is not None
    told: list[bytes] = []
    wanted = chance.randint(1, 6)
    while sum(line.startswith(word) for line in told) < wanted:
        told.append(process.stdout.readline())
        assert told[-1], "it ended by itself"
    time.sleep(chance.random() * 0.5)
    process.kill()
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    # A line that was cut off tells of nothing.
    return (b"".join(told) + rest).decode().rpartition("\n")[0].split("\n")


def test_what_was_acknowledged_survives_any_kill_and_runs_once(archive_reader: Desk) -> None:
    chance = random.Random(7)
    told: list[str] = []
    for number in range(KILLS):
        word = b"answered" if number % 2 == 0 else b"ack"
        told += killed(archive_reader, f"r{number}", word, chance)
    end = program(archive_reader, "end", 1)
    out, _ = end.communicate(timeout=180)
    assert end.returncode == 0 and out.decode().split("\n")[-2] == "done"

    prompts = [line.split()[1] for line in told if line.startswith("ack ")]
    answers = [line.split()[1] for line in told if line.startswith("answered ")]
    assert len(prompts) > 2 * KILLS and answers
    entries = [entry for id in SESSIONS for entry in archive_reader.journal(id)]
    stored = Counter(entry["id"] for entry in entries if entry["kind"] == "prompt")
    given = Counter(entry["id"] for entry in entries if entry["kind"] == "given")
    ended = Counter(entry["prompt"] for entry in entries if entry["kind"] == "turn_end")
    answered = Counter(entry["id"] for entry in entries if entry["kind"] == "answer")
    assert {stored[id] for id in prompts} == {1}
    assert {given[id] for id in prompts} == {1} and {ended[id] for id in prompts} == {1}
    assert {answered[id] for id in answers} == {1}
    assert max(Counter(archive_reader.given_prompts()).values()) == 1
    # What was not interrupted reached its agent.
    whole = {e["prompt"] for e in entries if e["kind"] == "turn_end" and e["reason"] == "end_turn"}
    texts = {entry["id"]: entry["text"] for entry in entries if entry["kind"] == "prompt"}
    assert {texts[id] for id in whole} <= set(archive_reader.given_prompts())


def test_no_agent_outlives_the_bridge_for_long(archive_reader: Desk) -> None:
    """One that takes no hint is ended by the bridge that comes after."""
    ignorant = """
import asyncio, sys
from pathlib import Path
from rireki.drive.bridge import Bridge
from rireki.drive.values import Prompt
from tests.drive.conftest import Desk
async def main():
    desk = Desk(Path(sys.argv[1]))
    bridge = Bridge(desk.settings())
    await bridge.open()
    session = await desk.start(bridge)
    if len(sys.argv) == 2:
        await session.send(Prompt("p1", "forever deaf"), "web")
        while not session.status.blocks:
            await asyncio.sleep(0.01)
        print("ready", flush=True)
        await asyncio.sleep(600)
    await bridge.close()
asyncio.run(main())
"""
    command = [sys.executable, "-c", ignorant, str(archive_reader.folder)]
    first = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": f"{ROOT}/src"}
    )
    assert first.stdout is not None and first.stdout.readline() == b"ready\n"
    first.kill()
    first.wait()
    first.stdout.close()
    pid = archive_reader.kinds("process")[0]["pid"]
    os.kill(pid, 0)
    subprocess.run(
        [*command, "again"], cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT}/src"}, check=True
    )
    gone = time.monotonic() + 30
    while _runs(pid) and time.monotonic() < gone:
        time.sleep(0.05)
    assert not _runs(pid)
    assert archive_reader.kinds("turn_end")[0]["reason"] == "interrupted"
    assert "and" in archive_reader.said() or not archive_reader.kinds("text")


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
