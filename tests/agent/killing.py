"""An agent's run that is killed at a random moment, and what has to be true of its history then."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rireki import MessageHistory
from rireki.agent import Agent, Scripted
from tests.providers.rules_of import complaints

#: Runs for ever: prompts, parallel calls, questions that are answered and some that are not.
#: Says the id of every entry after the method that wrote it returned.
PROGRAM = """
import os, random, sys
from rireki import MessageHistory
from rireki.agent import Agent, Later, Scripted

class Told(MessageHistory):
    def _record(self, entries):
        super()._record(entries)
        os.write(1, "".join(f"{entry.id}\\n" for entry in entries).encode())

chance = random.Random(int(sys.argv[2]))
count = 0

def call(name, **arguments):
    global count
    count += 1
    id = f"c{os.getpid()}_{count}"
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}

def answers():
    while True:
        if chance.random() < 0.3:
            yield "Done. " + "x" * chance.choice([1, 1000, 100_000])
        calls = [call("look", size=chance.choice([1, 1000, 50_000])) for _ in range(3)]
        if chance.random() < 0.3:
            calls.append(call("ask_user", question="Well?"))
        yield {"role": "assistant", "content": calls}

def look(size: int) -> str:
    return "y" * size

def ask(question):
    if chance.random() < 0.3:
        raise Later
    return "Yes."

history = Told.open("x", archive=sys.argv[1])
agent = Agent(Scripted(answers()), [look], history, ask=ask, max_steps=5)
while True:
    agent.run_sync(f"prompt {count}")
"""


def kill_once(place: Path, chance: random.Random) -> list[str]:
    """Start a run and kill it in the middle; the ids of the entries it had said."""
    command = [sys.executable, "-c", PROGRAM, str(place), str(chance.randrange(1 << 30))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        said += process.stdout.read()
    whole = said[: said.rfind(b"\n")].decode().split()
    assert whole, "it was killed before it had kept anything"
    return whole


def kept(place: Path) -> list[str]:
    """The ids of the entries in the file; a line that was torn has none."""
    found: list[str] = []
    for line in (place.parent / "histories" / "x.jsonl").read_bytes().splitlines():
        try:
            found.append(json.loads(line)["id"])
        except (ValueError, KeyError):
            continue
    return found


def check(place: Path, acknowledged: list[str]) -> None:
    """Everything that was acknowledged is there once, and any model can go on."""
    ids = kept(place)
    assert len(ids) == len(set(ids)), "none is there twice"
    missing = set(acknowledged) - set(ids)
    assert not missing, f"{len(missing)} of {len(acknowledged)} entries are gone"
    with MessageHistory.open("x", archive=place) as history:
        results = _results(history)
        assert len(results) == len(set(results)), "no call has two results"
        model = Scripted(["I go on."])
        agent = Agent(model, history=history, ask=lambda question: "Go on.")
        done = agent.run_sync("Go on." if _finished(history) else None)
        assert done.text == "I go on."
        assert complaints("anthropic", model.requests[-1].messages) == []
        assert history.pending_calls() == []


def _finished(history: MessageHistory) -> bool:
    return bool(history.messages[-1]["role"] == "assistant" and not history.pending_calls())


def _results(history: MessageHistory) -> list[Any]:
    return [
        block["tool_use_id"]
        for message in history.messages
        if message["role"] == "user" and isinstance(message["content"], list)
        for block in message["content"]
    ]
