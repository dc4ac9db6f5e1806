"""A team of many people: how long its pages take, how much memory, and how soon listeners hear.

For `python -m bench.team pages` and `python -m bench.team live`.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
from bench.measure import at_most, percentile, resident
from bench.team_people import Populated, populate
from tests.support.postgres import running

from rireki.archive.base import Archive
from rireki.team.store import Team

__all__ = ["live", "pages"]

#: How often each page is asked for, by how many people in turn.
TIMES, VIEWERS = 60, 20
#: Seconds of changes.
SECONDS = 20
SETTLING = 15


class ScaleServer(NamedTuple):
    url: str
    pid: int
    database: str
    folder: Path
    people: Populated


@contextmanager
def _serving(folder: Path, arguments: argparse.Namespace) -> Iterator[ScaleServer]:
    with running(arguments.version) as database:
        address = database.database()
        people = populate(address, folder / "team", arguments.people, arguments.each)
        command = [sys.executable, "-m", "bench.team_server", address, str(folder / "team")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            yield ScaleServer(url, process.pid, address, folder / "team", people)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


# ── pages ──


def pages(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    with _serving(folder, arguments) as server:
        return {
            "conversations": arguments.people * arguments.each,
            "people": arguments.people,
            **measured(server.url, server.pid, server.people),
        }


def measured(url: str, pid: int, people: Populated) -> dict[str, Any]:
    many = people.members[:: max(len(people.members) // VIEWERS, 1)][:VIEWERS]
    found: dict[str, Any] = {}
    for name, tokens, path, limit in (
        ("home", many, "/", 100),
        ("home_of_few", [people.few], "/", 100),
        ("list", many, "/api/v1/conversations?limit=50", 100),
        ("one_person", many, "/?person=p0007", 200),
        ("one_team", many, "/?team=everybody", 200),
        ("one_source", many, "/?source=codex", 200),
        ("one_project", many, "/?project=/srv/together", 200),
        ("subagents", many, "/?subagents=1", 200),
        ("second_page", many, f"/?fragment=1&after={_after(url, many[0])}", 200),
        ("beginning", many, "/c/00000007-000", 100),
    ):
        first, seconds = _asked(url, tokens, path)
        found[f"{name}_first_ms"] = round(first * 1000, 1)
        found[f"{name}_p50_ms"] = round(statistics.median(seconds) * 1000, 1)
        found[f"{name}_p95_ms"] = at_most(round(percentile(seconds, 0.95) * 1000, 1), limit)
    for name, path in (
        ("stats", "/stats"),
        ("usage", "/usage"),
    ):
        first, seconds = _asked(url, many[:1], path, 2)
        found[f"{name}_ms"] = round(max(first, *seconds) * 1000, 1)
    found["memory_mb"] = at_most(round(resident(pid) / 1e6, 1), 600)
    return found


def _asked(
    url: str, tokens: Sequence[str], path: str, times: int = TIMES
) -> tuple[float, list[float]]:
    """How long the very first took, and each of the others; everybody has asked once before."""
    with httpx.Client(base_url=url, timeout=120) as client:

        def ask(token: str) -> float:
            started = time.perf_counter()
            answer = client.get(path, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code in (200, 409), (path, answer.status_code, answer.text[:300])
            return time.perf_counter() - started

        first = ask(tokens[0])
        for token in tokens[1:]:
            ask(token)
        return first, [ask(tokens[place % len(tokens)]) for place in range(times)]


def _after(url: str, token: str) -> str:
    answer = httpx.get(
        f"{url}?fragment=1", headers={"Authorization": f"Bearer {token}"}, timeout=120
    )
    return str(answer.json()["next"])


# ── live ──


class _Heard:
    """What one listener was told: at which moment, up to which number, and of which conversations."""

    def __init__(self) -> None:
        self.events: list[tuple[float, int, set[str]]] = []
        self.greeted = threading.Event()


def live(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Changes are put into the feed by another server of the team, which is this process: half of the
    listeners look at a conversation each, the others at lists."""
    with _serving(folder, arguments) as server:
        team = Team(server.database, server.folder)
        try:
            return _live(server, team, arguments)
        finally:
            team.close()


def _live(server: ScaleServer, team: Team, arguments: argparse.Namespace) -> dict[str, Any]:
    chance = random.Random(7)
    shown = _shown(team, arguments.listeners // 2, chance)
    lists, talks = [_Heard() for _ in shown], [_Heard() for _ in shown]
    tokens = server.people.members
    for place, heard in enumerate((*lists, *talks)):
        about = "" if place < len(lists) else shown[place - len(lists)][1]
        given = (server.url, tokens[place % len(tokens)], about, heard)
        threading.Thread(target=_listen, args=given, daemon=True).start()
    for heard in (*lists, *talks):
        assert heard.greeted.wait(60)
    # The server counts everything once when it starts.
    time.sleep(SETTLING)
    sent = _change(team, shown, arguments.changes, chance)
    time.sleep(3)
    delays = [
        delay
        for (_, id), heard in zip(shown, talks, strict=True)
        for delay in _delays(sent.get(id, ()), heard)
    ]
    late = [delay for heard in lists for each in sent.values() for delay in _delays(each, heard)]
    count = sum(map(len, sent.values()))
    return {
        "listeners": len(lists) + len(talks),
        "changes": count,
        "changes_per_s": round(count / SECONDS, 1),
        "heard_of_a_conversation": len(delays),
        "never_heard": delays.count(float("inf")) + late.count(float("inf")),
        "conversation_p50_ms": round(statistics.median(delays) * 1000, 1),
        "conversation_p95_ms": at_most(round(percentile(delays, 0.95) * 1000, 1), 500),
        "list_p95_ms": at_most(round(percentile(late, 0.95) * 1000, 1), 1500),
        "list_events_per_s": at_most(
            round(max(len(heard.events) for heard in lists) / (SECONDS + 3), 2), 1.05
        ),
        "memory_mb": at_most(round(resident(server.pid) / 1e6, 1), 600),
    }


def _shown(team: Team, count: int, chance: random.Random) -> list[tuple[int, str]]:
    """Conversations that everybody may see, each with whose it is."""
    rows = team.tables.ask(
        """SELECT c.owner, c.id FROM conversation c JOIN team_audience s ON s.person = c.owner
             AND s.family = c.family AND s.grouping = c.grouping
            WHERE s.team = 1 AND c.number <= 20"""
    )
    return chance.sample(rows, count)


def _listen(url: str, token: str, conversation: str, heard: _Heard) -> None:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    query = f"?conversation={conversation}" if conversation else ""
    with socket.create_connection((host, port)) as connection:
        connection.sendall(
            f"GET /api/v1/events{query} HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n".encode()
        )
        kind = b""
        for line in connection.makefile("rb"):
            arrived = time.time()
            if line.startswith(b"event:"):
                kind = line[6:].strip()
            elif line.startswith(b"data:") and kind == b"hello":
                heard.greeted.set()
            elif line.startswith(b"data:") and kind == b"change":
                told = json.loads(line[5:])
                ids = {change["conversation"] for change in told["changes"]}
                heard.events.append((arrived, told["number"], ids))


def _change(
    team: Team, shown: Sequence[tuple[int, str]], rate: int, chance: random.Random
) -> dict[str, list[tuple[float, int]]]:
    """Each change as it is noted when something was interpreted: when, and at which number."""
    waker = team.waker(lambda: None)
    waker.start()
    sent: dict[str, list[tuple[float, int]]] = {}
    archives: dict[int, Archive] = {person: team.store.archive(person) for person, _ in shown}
    begun = time.time()
    for place in range(rate * SECONDS):
        time.sleep(max(begun + place / rate - time.time(), 0))
        person, id = chance.choice(shown)
        with archives[person].writing() as batch:
            batch.projection.log(batch.number, id, batch.number)
        team.feed(person)
        sent.setdefault(id, []).append((time.time(), team.fed()))
        waker.announce()
    waker.close()
    return sent


def _delays(sent: Sequence[tuple[float, int]], heard: _Heard) -> Iterator[float]:
    for at, number in sent:
        yield next(
            (arrived - at for arrived, reached, _ in heard.events if reached >= number),
            float("inf"),
        )
