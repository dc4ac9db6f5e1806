"""The figures of a first start: `python -m bench.first` prints them as JSON.

A server is started where no archive is. Told are the seconds since the process began: until the first
conversation is listed, until the newest fifty are and each can be read, and until every word is found.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from bench.measure import at_most, copy_corpus
from bench.server import Server, serving

#: Conversations that somebody looks at first, and the seconds that they and everything may take.
NEWEST, SOON, ALL = 50, 1.0, 6.0
ROUNDS = 3
#: Between two looks, in seconds: whoever looks takes time from whoever works.
LOOK = 0.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        home = Path(folder) / "home"
        copy_corpus(home, arguments.sessions, arguments.corpus)
        rounds = [first_start(home, Path(folder) / f"{n}") for n in range(arguments.rounds)]
    middle = {name: statistics.median(round[name] for round in rounds) for name in rounds[0]}
    limits = {"newest_listed": SOON, "newest_readable": SOON, "all_searchable": ALL}
    print(
        json.dumps(
            {
                name: at_most(value, limits[name]) if name in limits else value
                for name, value in middle.items()
            },
            indent=2,
        )
    )


def first_start(home: Path, folder: Path) -> dict[str, float]:
    wanted = newest(home)
    folder.mkdir()
    began = time.perf_counter()
    with serving(home, folder / "archive.sqlite3") as server:
        seen = {"listening": since(began)}
        seen["first_listed"] = until(began, lambda: listed(server))
        seen["newest_listed"] = until(began, lambda: listed(server) == wanted)
        for id in (wanted[0], wanted[-1]):
            until(began, partial(readable, server, id))
        seen["newest_readable"] = since(began)
        words = json.loads((home / "MANIFEST.json").read_text())["needles"]
        seen["all_searchable"] = until(began, lambda: all_found(server, words))
    return seen


def newest(home: Path) -> list[str]:
    """The conversations that were written last, as their files say."""
    files = sorted(
        (home / ".claude" / "projects").glob("*/*.jsonl"), key=lambda f: f.stat().st_mtime
    )
    return [f"claude-code/{file.stem}" for file in reversed(files[-NEWEST:])]


def listed(server: Server) -> list[str]:
    found = server.get(f"/api/v1/conversations?limit={NEWEST}")
    return [each["id"] for each in found["conversations"]]


def readable(server: Server, id: str) -> bool:
    """Whether its page has something that was said."""
    page = server.client.get(f"/c/{id}")
    return page.status_code == httpx.codes.OK and "data-message" in page.text


def all_found(server: Server, words: dict[str, list[str]]) -> bool:
    """Every planted word in every conversation that has it."""
    keeper = server.get("/api/v1/sources")["keeper"]
    if keeper["state"] != "keeping":
        return False
    return all(
        server.get(f"/api/v1/search?q={word}&limit=20")["conversations"] >= len(ids)
        for word, ids in words.items()
    )


def until(began: float, happened: Callable[[], Any]) -> float:
    while not happened():
        time.sleep(LOOK)
    return since(began)


def since(began: float) -> float:
    return round(time.perf_counter() - began, 3)


if __name__ == "__main__":
    main()
