"""The figures of search: `python -m bench.search [--tenfold]` prints them as JSON.

What the index costs (time, memory, room), how long queries of every kind take in a
running process and in a new one, how soon a turn is found, and whether all planted
words are. Each figure stands with its limit. The corpus is made by gen_corpus.py.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import (
    REPEAT,
    append_turn,
    at_most,
    baseline,
    copy_corpus,
    import_command,
    median,
    percentile,
    rireki,
    timed,
    timed_with_memory,
)
from bench.queries import KINDS, Vocabulary

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.interpret import interpret
from rireki.intake.known_origins import KnownOrigins
from rireki.intake.sweep import import_history, take_some
from rireki.search.index.index import index_folder
from rireki.search.language.match import Doc
from rireki.search.results import SearchOptions
from rireki.search.search import Search
from rireki.search.text.documents import docs_of
from rireki.sources.claude_code import READER
from rireki.sources.kit.places import Places

#: Different queries of each kind, and those that are asked before anything is measured.
ASKED, BEFORE = 60, 10
#: First imports: the middle one counts, because a shared machine slows single ones down by a fifth.
IMPORTS = 3


def main() -> None:
    arguments = _arguments()
    sessions = 10_000 if arguments.tenfold else arguments.sessions
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        limit, times = (25, 1) if arguments.tenfold else (10, IMPORTS)
        figures = measure(Path(folder), arguments.corpus, sessions, limit, times)
    print(json.dumps(figures, indent=2, ensure_ascii=False))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--tenfold", action="store_true", help="ten times as much")
    return parser.parse_args()


def measure(
    folder: Path, corpus: Path | None, sessions: int, limit: float, times: int
) -> dict[str, Any]:
    home = folder / "home"
    copy_corpus(home, sessions, corpus)
    paths = [folder / f"archive-{number}.sqlite3" for number in range(times)]
    imports = [first_import(home, path) for path in paths]
    path = paths[-1]
    archive = open_archive(path)
    vocabulary = Vocabulary(random.Random(1))
    text = 0
    for doc in all_docs(archive):
        text += sum(len(part.encode("utf-8", "surrogatepass")) for _, part in doc.parts)
        vocabulary.take(doc)
    return {
        "source_bytes": imports[0].size,
        "text_bytes": text,
        "orjson_seconds": [round(each.loads, 3) for each in imports],
        "first_import_seconds": [round(each.seconds, 3) for each in imports],
        "first_import_times_orjson": at_most(
            round(statistics.median(each.seconds / each.loads for each in imports), 2), 10
        ),
        "first_import_memory_mb": at_most(
            round(max(each.memory for each in imports) / 1e6, 1), 300
        ),
        "index_and_archive_to_source": at_most(
            round((index_size(archive) + path.stat().st_size) / imports[0].size, 3), 0.6
        ),
        "planted": planted(archive, home),
        "warm_ms": warm(archive, vocabulary, limit),
        "cold_seconds": at_most(median(rireki("search", "quokkaflux", "--archive", path)), 0.2),
        "one_turn": one_turn(archive, home),
    }


class First(NamedTuple):
    """A first import, and what merely parsing the same took around it."""

    size: int
    seconds: float
    memory: int
    loads: float


def first_import(home: Path, path: Path) -> First:
    size, before = baseline(home)
    seconds, memory = timed_with_memory(import_command(home, path))
    # Before and after: a shared machine changes its pace within seconds.
    return First(size, seconds, memory, (before + baseline(home)[1]) / 2)


def all_docs(archive: Archive) -> Iterator[Doc]:
    """Everything that is searched, read from the archive itself."""
    wanted = {each.id for each in archive.headings()}
    for group in archive.groups():
        strands = archive.strands(group.family, group.conversation)
        for reading in interpret(group.conversation, strands):
            if reading.conversation.id in wanted:
                yield from docs_of(reading.messages())


def index_size(archive: Archive) -> int:
    return sum(path.stat().st_size for path in index_folder(archive).rglob("*") if path.is_file())


def planted(archive: Archive, home: Path) -> dict[str, Any]:
    """How many of the conversations with a planted word are found, and how many without one."""
    needles = json.loads((home / "MANIFEST.json").read_text(encoding="utf-8"))["needles"]
    search = Search(archive)
    right = given = wanted = 0
    for word, sessions in needles.items():
        talks = search.find(word, SearchOptions(limit=10**6)).talks
        right += len({talk.conversation.native_id for talk in talks} & set(sessions))
        given, wanted = given + len(talks), wanted + len(sessions)
    search.close()
    recall, precision = round(right / wanted, 4), round(right / given, 4)
    return {"recall": recall, "precision": precision, "ok": recall == precision == 1}


# ── a running process ──


def warm(archive: Archive, vocabulary: Vocabulary, limit: float) -> dict[str, Any]:
    """How long queries take that were never asked before, by their kind."""
    search = Search(archive)
    for kind in KINDS[:BEFORE]:
        search.find(kind.query(vocabulary))
    figures = {}
    for kind in KINDS:
        taken = {
            query: ask(search, query, kind.newest) for query in kind.queries(vocabulary, ASKED)
        }
        slowest = max(taken, key=lambda query: taken[query])
        p95 = percentile(list(taken.values()), 0.95)
        figures[kind.name] = {
            "p50": percentile(list(taken.values()), 0.5),
            "p95": at_most(p95, min(limit, kind.limit)) if kind.limit else p95,
            "max": taken[slowest],
            "slowest": slowest,
        }
    search.close()
    return figures


def ask(search: Search, query: str, newest: bool = False) -> float:
    started = time.perf_counter()
    search.find(query, SearchOptions(newest=newest))
    return round((time.perf_counter() - started) * 1000, 2)


# ── from a turn to its being found ──


def one_turn(archive: Archive, home: Path) -> dict[str, Any]:
    imports, both = [], []
    for number in range(REPEAT):
        append_turn(home, f"freshword{number}")
        importing = timed(import_command(home, archive.home.archive))
        imports.append(importing)
        both.append(
            importing
            + timed(rireki("search", f"freshword{number}", "--archive", archive.home.archive))
        )
    return {
        "import_seconds": at_most(round(statistics.median(imports), 3), 0.25),
        "import_and_search_seconds": round(statistics.median(both), 3),
        "in_process_ms": in_process(archive, home),
    }


def in_process(archive: Archive, home: Path) -> dict[str, Any]:
    """The same inside a running keeper, which has everything open and is told which file changed."""
    places = Places.at(home)
    search = Search(archive)
    import_history(archive, places=places)
    known_origins = KnownOrigins(archive)
    search.find("quokkaflux")
    turns = [timed_turn(search, known_origins, places, f"laterword{n}") for n in range(REPEAT)]
    search.close()
    return {
        "together": at_most(round(statistics.median(map(sum, turns)), 2), 20),
        "import": round(statistics.median(importing for importing, _ in turns), 2),
        "search": round(statistics.median(finding for _, finding in turns), 2),
    }


def timed_turn(
    search: Search, known_origins: KnownOrigins, places: Places, word: str
) -> tuple[float, float]:
    """Milliseconds to take in one turn, and to find it."""
    file = append_turn(places.home, word)
    started = time.perf_counter()
    take_some(search.archive, READER.locate(places, str(file)), known_origins)
    imported = time.perf_counter()
    talks = search.find(word).talks
    found = time.perf_counter()
    if len(talks) != 1:
        raise SystemExit(f"{word} was not found")
    return (imported - started) * 1000, (found - imported) * 1000


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
