"""A small archive with its search index, what it answers, and other processes that use it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.search.index.importing import take_in
from rireki.search.index.update import verify
from rireki.search.results import Results, SearchOptions
from rireki.search.search import Search
from rireki.sources.kit.places import Places

ROOT = Path(__file__).parents[2]
ALL = SearchOptions(limit=10**6, hits=10**6)
#: One of each kind: planted words, common ones, what the index decides alone and what it cannot.
QUERIES = (
    "quokkaflux",
    "鳳凰",
    "獏",
    "import",
    '"the file"',
    "=def =",
    "tool:bash -self",
    "author:person",
    "is:gone",
    # Holds no text for certain: every message is read.
    "/quokkaflux|x{9}/",
)
Message = tuple[str, str | None]
Answers = dict[str, set[Message]]


def make_home(folder: Path, sessions: int, turns: int = 2, seed: int = 1) -> dict[str, Any]:
    """A home with planted words; returns its manifest."""
    command = [sys.executable, str(ROOT / "bench" / "gen_corpus.py"), "--out", str(folder)]
    command += ["--sessions", str(sessions), "--turns", str(turns), "--seed", str(seed)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    manifest: dict[str, Any] = json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8"))
    return manifest


class Place:
    """A folder with a home, an archive and the archive's index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.path = folder / "archive.sqlite3"
        self.index = folder / "archive.search"

    def copy_to(self, folder: Path) -> Place:
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Place(folder)

    def archive(self) -> Archive:
        return open_archive(self.path, create=True)

    def take_in(self) -> None:
        with opened(self) as archive:
            take_in(archive, Places.at(self.home))

    def files(self) -> list[Path]:
        return sorted(path for path in self.index.rglob("*") if path.is_file())

    def transcripts(self) -> list[Path]:
        """The sessions, always in the same order, without their sub-agents."""
        found = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.name)


@contextmanager
def opened(place: Place) -> Iterator[Archive]:
    archive = place.archive()
    try:
        yield archive
    finally:
        archive.close()


@contextmanager
def searching(place: Place) -> Iterator[Search]:
    with opened(place) as archive:
        search = Search(archive)
        try:
            yield search
        finally:
            search.close()


def messages(results: Results) -> set[Message]:
    """What was found; every message once, and as many as were counted."""
    found = [(t.conversation.id, hit.message) for t in results.talks for hit in t.hits]
    hits = {hit for hit in found if hit[1] is not None}
    assert len(set(found)) == len(found), "a message was found twice"
    assert (results.messages, results.conversations) == (len(hits), len(results.talks))
    return set(found)


def answers(place: Place, queries: Sequence[str] = QUERIES) -> Answers:
    with searching(place) as search:
        return {query: messages(search.find(query, ALL)) for query in queries}


def found(place: Place, query: str) -> set[Message]:
    return answers(place, [query])[query]


def troubles(place: Place) -> list[str]:
    with opened(place) as archive:
        return [trouble.message for trouble in verify(archive)]


def append_turn(transcript: Path, text: str, reply: str = "done") -> list[str]:
    """One prompt and one answer more; returns the ids of the two messages."""
    lines = [json.loads(line) for line in transcript.read_text(encoding="utf-8").splitlines()]
    last = next(line for line in reversed(lines) if line.get("uuid"))
    kept = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch")
    base = {name: last[name] for name in kept} | {"timestamp": "2026-11-15T10:00:00.000Z"}
    ids = [f"{len(lines):08x}-0000-4000-8000-{number:012x}" for number in (1, 2)]
    prompt = {"type": "user", "message": {"role": "user", "content": text}, "uuid": ids[0]}
    said = {"role": "assistant", "content": [{"type": "text", "text": reply}], "usage": {}}
    said |= {"id": f"msg_{ids[1]}", "type": "message", "model": "claude-opus-4-5-20251101"}
    answer = {"type": "assistant", "message": said, "uuid": ids[1]}
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(base | prompt | {"parentUuid": last["uuid"]}) + "\n")
        file.write(json.dumps(base | answer | {"parentUuid": ids[0]}) + "\n")
    return ids


# ── other processes ──


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Python in a process of its own, and in a group of its own, to be killed with its workers."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )


def heard(process: subprocess.Popen[str], word: str) -> None:
    """Wait until the process says so."""
    assert process.stdout is not None
    said = process.stdout.readline().strip()
    assert said == word, f"it said {said!r}"


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    end(process)


def end(process: subprocess.Popen[str]) -> int:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    return process.wait(60)
