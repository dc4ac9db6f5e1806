"""A team's archives in PostgreSQL: `python -m bench.team` prints what its store can take, as JSON.

The store's verb alone, without a network: the corpus of one laptop taken whole; many laptops with
some megabytes each; live pushes of one record each; the bytes that all of it takes, and the log that
is written for a small push. `pages` and `live`: a team of many people (`--people 1000 --each 1000`
takes some minutes). A server of its own, with fsync. Clients are processes with threads.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import islice
from os import urandom
from pathlib import Path
from typing import Any

from bench import team_histories, team_push, team_scale, team_search
from bench.measure import at_least, at_most, copy_corpus, import_command, percentile
from tests.support.equal import differences
from tests.support.postgres import PostgresServer, engines, running
from tests.support.pushing import push as push_deltas

from rireki.archive.base import Archive
from rireki.archive.delta import Delta
from rireki.archive.open import open_archive, open_store
from rireki.model.record import Content, Origin, Piece, Update
from rireki.shares.rules import Level
from rireki.team.shelves import SHELVES

#: About what a laptop sends at once: compressed.
BATCH = 4 << 20
#: How much a laptop lets out, in what is pushed through HTTP.
LEVELS: tuple[Level, ...] = ("full", "masked")
#: Laptops at once, the processes that stand for the servers' own, and what each laptop pushes.
LAPTOPS, PROCESSES = 50, 2
SEEDS, SEED_BATCH = 6, 300 << 10
BEFORE, LIVE, RECORD = 20, 40, 3000
ORIGIN = Origin(source="pad", place="/pad", root="/", form="lines", role="journal")
#: Tables that keep what was read, and those that can be made again.
FACTS = (
    *("chunk", "state", "strand", "origin", "stream", "removed", "forgotten", "succession"),
    *("change", "meta", "counter", "fact"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS, help="only this")
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--archive", type=Path, help="an archive of it, made before")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has openai-agents")
    parser.add_argument("--people", type=int, default=200, help="of pages, live and search")
    parser.add_argument("--each", type=int, default=100, help="conversations of each")
    parser.add_argument("--listeners", type=int, default=100)
    parser.add_argument("--changes", type=int, default=100, help="in a second")
    parser.add_argument("--copies", type=int, default=2, help="of the corpus that is searched")
    parser.add_argument("--shelves", type=int, default=SHELVES, help="that hold it")
    parser.add_argument("--version", type=int, choices=engines(), default=next(iter(engines())))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        found = {
            name: part(Path(folder), arguments)
            for name, part in PARTS.items()
            if arguments.part in (None, name)
        }
    print(json.dumps(found, indent=2))


def search(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    archive = arguments.archive or _imported(folder, arguments)
    return team_search.measured(
        archive,
        folder,
        arguments.version,
        arguments.copies,
        arguments.people,
        arguments.shelves,
    )


# ── the store ──


def store(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    archive = arguments.archive or _imported(folder, arguments)
    with running(arguments.version, durable=True) as server:
        return {
            "version": arguments.version,
            **_whole(server, archive),
            **_many(server, archive, folder),
            **_live(server, folder),
        }


def push(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The same through HTTP, and when others can read it."""
    archive = arguments.archive or _imported(folder, arguments)
    with closing(open_archive(archive)) as laptop:
        seeds = team_push.laptops(laptop.identity(), _first_batches(laptop, folder))
    live = team_push.laptops(*_going_on(folder))
    found = {
        level: team_push.one_laptop(archive, folder / level, arguments.version, level)
        for level in LEVELS
    }
    return found | {"many": team_push.many_laptops(folder, arguments.version, LAPTOPS, seeds, live)}


def equality(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Of each conversation messages, links, figures, earlier moments and restored files."""
    archive = arguments.archive or _imported(folder, arguments)
    with (
        running(arguments.version) as server,
        open_store(server.database(), create=True) as team,
        closing(open_archive(archive)) as laptop,
        closing(team.archive(1)) as target,
    ):
        push_deltas(laptop, target, BATCH)
        found = list(differences(laptop, target, folder / "files"))
        return {
            "version": arguments.version,
            "conversations": sum(1 for _ in target.headings()),
            "unequal": at_most(len(found), 0),
        }


def _imported(folder: Path, arguments: argparse.Namespace) -> Path:
    copy_corpus(folder / "home", arguments.sessions, arguments.corpus)
    command = import_command(folder / "home", folder / "laptop.sqlite3")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "laptop.sqlite3"


def _told(laptop: Archive, target: Archive, size: int) -> Iterator[tuple[int, Delta]]:
    """Everything, in batches, each with its stream."""
    stream, reached = target.stream(laptop.identity(), "laptop")
    while True:
        delta = laptop.delta(reached, size, partial(target.held, stream))
        if delta.is_empty:
            return
        yield stream, delta
        reached = target.stream(laptop.identity(), "laptop").reached


def _whole(server: PostgresServer, archive: Path) -> dict[str, Any]:
    """One laptop's corpus: the seconds that its batches were waited for, and the bytes they take."""
    database = server.database()
    log = _log(server)
    with (
        closing(open_archive(archive)) as laptop,
        open_store(database, create=True) as team,
        closing(team.archive(1)) as target,
    ):
        raw = sum(size for (size,) in laptop.rows.get("chunk", "size"))
        seconds = []
        began = time.perf_counter()
        for stream, delta in _told(laptop, target, BATCH):
            started = time.perf_counter()
            target.take(stream, delta)
            seconds.append(time.perf_counter() - started)
        whole = time.perf_counter() - began
        chunks = len(target.rows.get("chunk", "first"))
    name = database.rpartition("/")[2].partition("?")[0]
    server.execute("VACUUM", name)
    size = sum(_size(server, name, table) for table in FACTS)
    return {
        "raw_mb": round(raw / 1e6, 1),
        "chunks": chunks,
        "batches": len(seconds),
        "taken_s": at_most(round(sum(seconds), 2), 4),
        "told_and_taken_s": round(whole, 2),
        "mb_per_s": at_least(round(raw / 1e6 / sum(seconds), 1), 100),
        "batch_p95_ms": round(percentile(seconds, 0.95) * 1000, 1),
        "facts_of_raw": at_most(round(size / raw, 3), 0.27),
        "log_of_raw": round((_log(server) - log) / raw, 3),
    }


def _many(server: PostgresServer, archive: Path, folder: Path) -> dict[str, Any]:
    """Laptops that push at once, each to an owner of its own."""
    database = _prepared(server)
    with closing(open_archive(archive)) as laptop:
        batches = _first_batches(laptop, folder)
        raw = sum(chunk.size for delta in batches for part in delta.parts for chunk in part.chunks)
        identity = laptop.identity()
    seconds, whole = _at_once(database, identity, batches)
    return {
        "pushers": LAPTOPS,
        "pushers_mb_per_s": at_least(round(raw * LAPTOPS / 1e6 / whole, 1), 100),
        "pushers_p95_ms": at_most(round(percentile(seconds, 0.95) * 1000, 1), 600),
    }


def _live(server: PostgresServer, folder: Path) -> dict[str, Any]:
    """One record each, of conversations that go on."""
    database = _prepared(server)
    identity, deltas = _going_on(folder)
    _at_once(database, identity, deltas[:1])
    log = _log(server)
    seconds, whole = _at_once(database, identity, deltas[1:])
    return {
        "live_per_s": at_least(round(len(seconds) / whole), 800),
        "live_p50_ms": round(percentile(seconds, 0.5) * 1000, 1),
        "live_p95_ms": at_most(round(percentile(seconds, 0.95) * 1000, 1), 80),
        "live_log_bytes": at_most(round((_log(server) - log) / len(seconds)), 2500),
    }


def _first_batches(laptop: Archive, folder: Path) -> list[Delta]:
    deltas = []
    with closing(open_archive(folder / "first.sqlite3", create=True)) as mirror:
        for stream, delta in islice(_told(laptop, mirror, SEED_BATCH), SEEDS):
            mirror.take(stream, delta)
            deltas.append(delta)
    return deltas


def _going_on(folder: Path) -> tuple[str, list[Delta]]:
    """What a laptop tells of a conversation, and then each time a record is added to it."""
    deltas: list[Delta] = []
    with (
        closing(open_archive(folder / "live.sqlite3", create=True)) as laptop,
        closing(open_archive(folder / "mirror.sqlite3", create=True)) as mirror,
    ):
        for number in range(LIVE + 1):
            _add(laptop, number, 1 if number else BEFORE)
            for stream, delta in _told(laptop, mirror, BATCH):
                mirror.take(stream, delta)
                deltas.append(delta)
        return laptop.identity(), deltas


def _add(laptop: Archive, number: int, count: int) -> None:
    # Half of it is said twice.
    records = [Piece((urandom(RECORD // 4).hex() * 2).encode(), b"") for _ in range(count)]
    update = Update(
        key="",
        role="journal",
        conversation="one",
        contents=[Content("lines", records)],
        cursor=number,
        grows=True,
    )
    with laptop.writing() as batch:
        batch.add(ORIGIN, "pad", update, number - 1 if number else None)


# ── many at once ──


def _prepared(server: PostgresServer) -> str:
    database = server.database()
    with open_store(database, create=True):
        return database


def _at_once(database: str, identity: str, deltas: Sequence[Delta]) -> tuple[list[float], float]:
    """How long each was waited for, and all of them, when every laptop pushes these at once."""
    share = LAPTOPS // PROCESSES
    firsts = range(1, LAPTOPS + 1, share)
    with ProcessPoolExecutor(PROCESSES) as pool:
        work = partial(_pushers, database, identity, list(deltas), share)
        found = list(pool.map(work, firsts))
    seconds = [each for part, *_ in found for each in part]
    return seconds, max(end for *_, end in found) - min(start for _, start, _ in found)


def _pushers(
    database: str, identity: str, deltas: Sequence[Delta], count: int, first: int
) -> tuple[list[float], float, float]:
    with open_store(database) as team, ThreadPoolExecutor(count) as threads:
        archives = [team.archive(owner) for owner in range(first, first + count)]
        streams = list(threads.map(lambda each: each.stream(identity, "laptop").id, archives))
        began = time.time()
        parts = list(threads.map(partial(_push, deltas), archives, streams))
        return [each for part in parts for each in part], began, time.time()


def _push(deltas: Sequence[Delta], archive: Archive, stream: int) -> list[float]:
    seconds = []
    for delta in deltas:
        started = time.perf_counter()
        reached = archive.take(stream, delta)
        seconds.append(time.perf_counter() - started)
        assert reached == delta.upto, (reached, delta.upto)
    return seconds


# ── bytes ──


def _log(server: PostgresServer) -> int:
    """Where the log that PostgreSQL writes ahead has come to."""
    ((place,),) = server.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
    return int(place)


def _size(server: PostgresServer, database: str, table: str) -> int:
    ((size,),) = server.execute(f"SELECT pg_total_relation_size('{table}')", database)
    return int(size)


PARTS: dict[str, Callable[[Path, argparse.Namespace], dict[str, Any]]] = {
    "store": store,
    "push": push,
    "pages": team_scale.pages,
    "live": team_scale.live,
    "search": search,
    "histories": team_histories.histories,
    "equality": equality,
}

if __name__ == "__main__":
    main()
