"""What a team's server takes through HTTP: of one laptop, of fifty at once, and of what goes on.

The server is the program that people run, on a PostgreSQL of its own with fsync; laptops are
processes with threads, which keep their connection. For `python -m bench.team push`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from bench.measure import at_least, at_most, percentile, rireki
from tests.support.postgres import PostgresServer, running

from rireki.archive.base import Archive
from rireki.archive.delta import Delta
from rireki.archive.open import open_archive
from rireki.shares.link import TeamRemote
from rireki.shares.pushing import TeamPush
from rireki.shares.rules import Level, ShareRule
from rireki.sync.http import HttpRemote
from rireki.sync.machine import Machine
from rireki.sync.outbox import Outbox
from rireki.sync.sender import Sender, Transferred
from rireki.sync.wire import (
    PushBatch,
    RecordsTaken,
    StreamOpening,
    StreamPosition,
    encode_batch,
)

#: Seconds until what was pushed has to be found, at the most that the bench waits.
PATIENCE = 300
#: How often a push with nothing new is measured.
TURNS = 20
#: A word of the corpus's English, to search for.
WORD = "return"
#: Processes that stand for laptops.
PROCESSES = 2


class Office(NamedTuple):
    """A team's server, and what opens it."""

    database: PostgresServer
    #: The name of its database there.
    name: str
    url: str
    tokens: dict[str, str]


@contextmanager
def office(folder: Path, version: int, people: Sequence[str]) -> Iterator[Office]:
    with running(version, durable=True) as database:
        address = database.database()
        environment = {
            **os.environ,
            "RIREKI_TEAM_DATABASE": address,
            "XDG_DATA_HOME": str(folder / "server"),
        }
        tokens = _tokens(environment, people)
        command = rireki("team", "serve", "--port", "0", "--json")
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            url = json.loads(process.stdout.readline())["url"].rstrip("/")
            yield Office(database, address.rpartition("/")[2].partition("?")[0], url, tokens)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _tokens(environment: dict[str, str], people: Sequence[str]) -> dict[str, str]:
    def token(*words: str) -> str:
        said = subprocess.check_output(rireki("team", *words, "--json"), env=environment)
        return str(json.loads(said)["token"])

    first, *others = people
    tokens = {first: token("init", first, "--team", "acme")}
    # One process each would take longer than what is measured.
    from rireki.team.store import Team

    with closing(Team(environment["RIREKI_TEAM_DATABASE"], Path("/nonexistent"))) as team:
        return tokens | {name: team.people.add(name, "acme") for name in others}


# ── one laptop ──


def one_laptop(archive: Path, folder: Path, version: int, level: Level) -> dict[str, Any]:
    """Everything it has, then nothing new; as others come to see it."""
    # It notes what it has told a server of this name: each server gets a laptop that knows of none.
    folder.mkdir(parents=True, exist_ok=True)
    archive = Path(shutil.copy(archive, folder / "laptop.sqlite3"))
    with (
        office(folder, version, ["ann", "bob"]) as server,
        closing(open_archive(archive)) as laptop,
    ):
        raw = sum(size for (size,) in laptop.rows.get("chunk", "size"))
        shared = len(TeamPush(laptop, "acme", [_everything(level)]).plan.groups)
        began = time.perf_counter()
        done = _push(laptop, server, level)
        taken = time.perf_counter() - began
        readable, seen = _until_found(server, "bob")
        return {
            "level": level,
            "raw_mb": round(raw / 1e6, 1),
            "groups": shared,
            "batches": done.batches,
            "acknowledged_s": at_most(round(taken, 2), 4),
            "readable_s": at_most(round(readable - began, 2), 30),
            "found_by_others_s": at_most(round(seen - began, 2), 30),
            "wire_of_raw": at_most(round(done.bytes / raw, 3), 0.25),
            **_nothing_new(laptop, server, level),
        }


def _everything(level: Level) -> ShareRule:
    return ShareRule(what="/", kind="directory", team="acme", remote="acme", level=level)


def _push(laptop: Archive, server: Office, level: Level) -> Transferred:
    """As `rireki push` does."""
    token = server.tokens["ann"]
    with closing(TeamRemote(server.url, token)) as team:
        outgoing = TeamPush(laptop, "acme", [_everything(level)]).prepare(team)
    outbox = Outbox(laptop, Machine("bench", ""), "team", outgoing)
    with closing(HttpRemote(server.url, token)) as records:
        return Sender(outbox, records, "acme", "team").push()


def _until_found(server: Office, person: str) -> tuple[float, float]:
    """When all that was pushed can be read, and when somebody else finds it in the index."""
    headers = {"Authorization": f"Bearer {server.tokens[person]}"}
    deadline = time.monotonic() + PATIENCE
    while _waiting(server):
        assert time.monotonic() < deadline, "it is never interpreted"
        time.sleep(0.2)
    readable = time.perf_counter()
    with httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE) as client:
        while time.monotonic() < deadline:
            answer = client.get("/api/v1/search", params={"q": WORD}).json()
            if answer["messages"] and not answer["scope"]["direct"]:
                return readable, time.perf_counter()
            time.sleep(1)
    raise SystemExit(f"not found by others within {PATIENCE} s")


def _waiting(server: Office) -> int:
    ((count,),) = server.database.execute("SELECT count(*) FROM dirty", server.name)
    return int(count)


def _nothing_new(laptop: Archive, server: Office, level: Level) -> dict[str, Any]:
    before, seconds = _written(server), []
    asked = _requests(server)
    for _ in range(TURNS):
        began = time.perf_counter()
        assert _push(laptop, server, level).batches == 0
        seconds.append(time.perf_counter() - began)
    return {
        "nothing_new_p95_ms": at_most(round(percentile(seconds, 0.95) * 1000, 1), 50),
        "nothing_new_requests": at_most((_requests(server) - asked) / TURNS, 1),
        "nothing_new_writes": at_most(_written(server) - before, 0),
    }


def _written(server: Office) -> int:
    """Rows that were written in the archives."""
    question = """SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables
                   WHERE relname NOT LIKE 'team_%' AND relname <> 'lease'"""
    time.sleep(1.5)
    ((count,),) = server.database.execute(question, server.name)
    return int(count)


def _requests(server: Office) -> int:
    """That laptops have made."""
    text = httpx.get(f"{server.url}/metrics").text
    lines = (line.rpartition(" ") for line in text.splitlines())
    return sum(int(n) for what, _, n in lines if _is_of_push(what))


def _is_of_push(what: str) -> bool:
    return what.startswith("rireki_requests_total") and (
        'kind="push"' in what or 'kind="team"' in what
    )


# ── many laptops ──


class Laptops(NamedTuple):
    """What each of them pushes, as it goes over the wire, and what that was in the beginning."""

    archive: str
    bodies: list[bytes]
    raw: int


def laptops(archive: str, deltas: Sequence[Delta]) -> Laptops:
    seals = ["", *(f"seal {number}" for number in range(1, len(deltas) + 1))]
    batches = [
        PushBatch(seal=before, sealed=after, delta=delta)
        for before, after, delta in zip(seals, seals[1:], deltas, strict=False)
    ]
    raw = sum(c.size for delta in deltas for part in delta.parts for c in part.chunks)
    return Laptops(archive, [encode_batch(batch) for batch in batches], raw)


def at_once(server: Office, told: Laptops, people: Sequence[str]) -> tuple[list[float], float]:
    """How long each batch was waited for, and all of them, when everybody pushes."""
    share = -(-len(people) // PROCESSES)
    parts = [people[first : first + share] for first in range(0, len(people), share)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        work = partial(_pushers, server.url, told)
        tokens = [[server.tokens[name] for name in part] for part in parts]
        found = list(pool.map(work, tokens))
    seconds = [each for part, *_ in found for each in part]
    return seconds, max(end for *_, end in found) - min(start for _, start, _ in found)


def _pushers(url: str, told: Laptops, tokens: Sequence[str]) -> tuple[list[float], float, float]:
    with ThreadPoolExecutor(len(tokens)) as threads:
        remotes = [HttpRemote(url, token) for token in tokens]
        streams = list(threads.map(partial(_open, told.archive), remotes))
        began = time.time()
        parts = list(threads.map(partial(_push_all, told.bodies), remotes, streams))
        ended = time.time()
        for remote in remotes:
            remote.close()
    return [each for part in parts for each in part], began, ended


def _open(archive: str, remote: HttpRemote) -> str:
    answer = remote.open(StreamOpening(archive=archive, epoch=1, machine=""))
    assert isinstance(answer, StreamPosition), answer
    return answer.stream


def _push_all(bodies: Sequence[bytes], remote: HttpRemote, stream: str) -> list[float]:
    seconds = []
    for body in bodies:
        began = time.perf_counter()
        answer = remote.take(stream, body)
        seconds.append(time.perf_counter() - began)
        assert isinstance(answer, RecordsTaken), answer
    return seconds


def many_laptops(
    folder: Path, version: int, people: int, seeds: Laptops, live: Laptops
) -> dict[str, Any]:
    """Each with some megabytes, then each with records of a conversation that goes on."""
    names = [f"p{number}" for number in range(people)]
    with office(folder / "seeds", version, names) as server:
        seconds, whole = at_once(server, seeds, names)
    found = {
        "pushers": people,
        "pushers_mb_per_s": at_least(round(seeds.raw * people / 1e6 / whole, 1), 60),
        "pushers_p95_ms": at_most(round(percentile(seconds, 0.95) * 1000, 1), 1000),
    }
    with office(folder / "live", version, names) as server:
        seconds, whole = at_once(server, live, names)
    return found | {
        "live_per_s": at_least(round(len(seconds) / whole), 300),
        "live_p50_ms": round(percentile(seconds, 0.5) * 1000, 1),
        "live_p95_ms": at_most(round(percentile(seconds, 0.95) * 1000, 1), 200),
    }
