"""Agents and the server that drives them are killed at 100 random moments (a few, without --campaign).

Whatever was acknowledged is there once: in the journals, with the agents, and in the archive.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.message import Message
from rireki.model.parts import Text
from tests.support.bridge_server import SESSIONS, settings

ROOT = Path(__file__).parents[2]


class Campaign:
    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        (folder / "project").mkdir(parents=True)
        (folder / "home").mkdir()
        #: What was tried and not acknowledged yet; what was.
        self.outbox: dict[str, dict[str, Any]] = {}
        self.stored: dict[str, str] = {}
        self.answered: list[str] = []
        self.kills = Counter[str]()

    def life(self) -> None:
        """A server that works, loses some agents, and is killed."""
        with self._server("work") as server:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line, "it did not even start"
            for _ in range(self.chance.choice([0, 1, 1, 2, 3])):
                self._kill_an_agent()
            time.sleep(self.chance.uniform(0, 1.0))
            server.kill()
            self.kills["server"] += 1
            self._hear(line + server.stdout.read())

    def finish(self) -> None:
        with self._server("finish") as server:
            said, _ = server.communicate(timeout=300)
            self._hear(said)
        assert server.returncode == 0
        assert not self.outbox

    def _server(self, mode: str) -> subprocess.Popen[bytes]:
        outbox = json.dumps(list(self.outbox.values()))
        seed = str(self.chance.randrange(1 << 30))
        command = [sys.executable, "-m", "tests.support.bridge_server", str(self.folder), seed]
        return subprocess.Popen([*command, mode, outbox], stdout=subprocess.PIPE, cwd=ROOT)

    def _hear(self, said: bytes) -> None:
        """A last line that was torn says nothing."""
        for line in said[: said.rfind(b"\n") + 1].splitlines():
            told = json.loads(line)
            if "prompt" in told:
                self.outbox[told["prompt"]] = told
            elif "stored" in told:
                self.stored[told["stored"]] = self.outbox.pop(told["stored"])["text"]
            elif "answered" in told:
                self.answered.append(told["answered"])

    def _kill_an_agent(self) -> None:
        """One that runs, a moment after it was seen running."""
        session = self.chance.choice(SESSIONS)
        for _ in range(100):
            started = [entry["pid"] for entry in self.journal(session, "process")]
            if started and _is_agent(started[-1]):
                time.sleep(self.chance.uniform(0, 0.8))
                if _is_agent(started[-1]):
                    os.killpg(started[-1], signal.SIGKILL)
                    self.kills["agent"] += 1
                return
            time.sleep(0.1)

    def journal(self, session: str, *kinds: str) -> list[dict[str, Any]]:
        path = settings(self.folder).archive.parent / "bridge" / f"{session}.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        entries = [entry for line in lines if (entry := _parsed(line)) is not None]
        return [entry for entry in entries if not kinds or entry["kind"] in kinds]

    # ── what has to be true ──

    def check(self) -> None:
        entries = [entry for session in SESSIONS for entry in self.journal(session)]
        self._check_journal(entries)
        self._check_received()
        place = settings(self.folder)
        with closing(open_archive(place.archive, create=True)) as archive:
            import_history(archive, places=place.places)
            for session in SESSIONS:
                found = archive.find(f"bridge/{session}")
                messages = list(read_conversation(archive, found).messages())
                self._check_archive(self.journal(session), messages)

    def _check_journal(self, entries: list[dict[str, Any]]) -> None:
        counts = Counter((entry["kind"], entry.get("id")) for entry in entries)
        for prompt in self.stored:
            assert counts["prompt", prompt] == 1, f"{prompt} was acknowledged"
        for ask in self.answered:
            assert counts["answer", ask] == 1, f"the answer to {ask} was acknowledged"
        for (kind, id), count in counts.items():
            if kind in ("prompt", "given", "ask", "answer"):
                assert count == 1, f"{kind} {id} is there {count} times"
        numbers = [entry["n"] for entry in entries]
        assert len(numbers) == len(set(numbers))

    def _check_received(self) -> None:
        """No agent got anything twice."""
        path = self.folder / "received.jsonl"
        received = Counter(json.loads(line) for line in path.read_bytes().splitlines())
        assert max(received.values()) == 1, received.most_common(3)

    def _check_archive(self, entries: list[dict[str, Any]], messages: list[Message]) -> None:
        ids = Counter(message.id for message in messages)
        assert max(ids.values()) == 1, ids.most_common(3)
        decided = {entry["id"] for entry in entries if entry["kind"] == "answer"}
        people = [
            _text(message)
            for message in messages
            if message.author == "person" and message.id not in decided
        ]
        texts = {e["id"]: e["text"] for e in entries if e["kind"] == "prompt"}
        given = [texts[e["id"]] for e in entries if e["kind"] == "given"]
        assert [text for text in people if text in set(given)] == given, "each once, in order"
        assert sorted(people) == sorted(texts.values())
        agents = [_text(message) for message in messages if message.author == "agent"]
        for entry in entries:
            if entry["kind"] == "turn_end" and entry["reason"] == "end_turn":
                text = texts[entry["prompt"]]
                if text.startswith("echo "):
                    answer = text.removeprefix("echo ")
                    assert sum(answer in said for said in agents) == 1, f"the answer to {text}"
            elif entry["kind"] == "answer" and entry["outcome"] in ("selected", "refused"):
                assert ids[entry["id"]] == 1, "what was allowed can be read"


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return value


def _text(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def _is_agent(pid: int) -> bool:
    """Numbers of processes are used again; only what is ours is killed."""
    try:
        return b"acp_agent.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_nothing_that_was_acknowledged_is_lost_or_doubled(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted = 100 if pytestconfig.getoption("campaign") else 4
    chance = random.Random(7)
    place = 0
    killed = Counter[str]()
    while killed.total() < wanted:
        # Conversations of their own now and then: they grow.
        campaign = Campaign(tmp_path / str(place), chance)
        place += 1
        while campaign.kills.total() < min(20, wanted - killed.total()):
            campaign.life()
        campaign.finish()
        campaign.check()
        print(campaign.kills, len(campaign.stored), "prompts", len(campaign.answered), "answers")
        assert len(campaign.stored) > campaign.kills.total()
        killed += campaign.kills
    assert killed["server"] and (wanted < 20 or killed["agent"] > 10)
