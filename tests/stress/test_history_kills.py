"""A program that keeps a history is killed at random moments: what a method returned for is there, once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rireki import MessageHistory

#: Adds numbered messages of all sizes, and says each number after the method returned.
WRITER = """
import os, random, sys
from rireki import MessageHistory

history = MessageHistory.open("x", archive=sys.argv[1])
history.repair()
chance = random.Random(int(sys.argv[2]))
number = sum(1 for m in history.messages if m["role"] != "user" or isinstance(m["content"], str))
while True:
    size = chance.choice([1, 100, 10_000, 100_000])
    if number % 3 == 2:
        call = {"type": "tool_use", "id": f"c{number}", "name": "ls", "input": {"n": number}}
        history.add_raw_message({"role": "assistant", "content": [call]})
    else:
        history.add_user_message(f"{number} " + "x" * size)
    os.write(1, f"{number}\\n".encode())
    if number % 3 == 2 and chance.random() < 0.9:
        history.add_tool_result(f"c{number}", "ok", "ls")
    number += 1
"""


def numbers(messages: list[object]) -> list[int]:
    """The numbers of what was added, in order; results and repairs have none."""
    found: list[int] = []
    for message in messages:
        assert isinstance(message, dict)
        content = message["content"]
        if isinstance(content, str):
            found.append(int(content.split()[0]))
        elif content[0]["type"] == "tool_use":
            found.append(content[0]["input"]["n"])
    return found


def kill_once(place: Path, chance: random.Random) -> int:
    """Start a writer, kill it in the middle; the last number it had said."""
    seed = str(chance.randrange(1 << 30))
    command = [sys.executable, "-c", WRITER, str(place), seed]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        said += process.stdout.read()
    whole = said[: said.rfind(b"\n")].split()
    assert whole, "it was killed before it had said anything"
    return int(whole[-1])


def test_what_a_method_returned_for_is_there_once(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = 200 if pytestconfig.getoption("campaign") else 10
    place = tmp_path / "archive.sqlite3"
    chance = random.Random(5)
    for kill in range(wanted):
        # A history of its own now and then: they grow.
        if kill % 5 == 0:
            place = tmp_path / str(kill) / "archive.sqlite3"
        acknowledged = kill_once(place, chance)
        with MessageHistory.open("x", archive=place, read_only=True) as history:
            found = numbers(history.messages)
            assert found == list(range(len(found))), "none is missing, and none is there twice"
            assert len(found) > acknowledged
    lines = (place.parent / "histories" / "x.jsonl").read_bytes().splitlines()
    seqs = [json.loads(line)["seq"] for line in lines[:-1]]
    assert seqs == sorted(set(seqs))
    with MessageHistory.open("x", archive=place) as history:
        history.repair()
        for provider in ("anthropic", "openai", "gemini"):
            codes = {problem.code for problem in history.validate(provider)}
            assert not codes & {"call-interrupted", "orphan-result"}
