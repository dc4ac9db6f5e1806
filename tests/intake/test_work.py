"""Work is counted: what is unchanged is not opened, what grew is read from where it grew."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.archive.pack import FULL
from rireki.intake import sweep
from rireki.intake.parallel import bulk, pool
from rireki.intake.parallel import spawn as spawning
from rireki.intake.parallel.spawn import Worker, spawn
from rireki.intake.rebuild import rebuild
from rireki.intake.sweep import import_history
from rireki.search.index.update import catch_up
from rireki.search.results import SearchOptions
from rireki.search.search import Search
from rireki.sources.kit import jsonl
from rireki.sources.kit.places import Places
from tests.support.engine import sql_of

SESSION = "00000000-0000-4000-8000-{:012d}"
_opened: list[str] | None = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is not None and event == "open":
        _opened.append(str(arguments[0]))


sys.addaudithook(_hook)


@contextmanager
def counting_opens(below: Path) -> Iterator[list[str]]:
    global _opened
    found: list[str] = []
    _opened = found
    yield found
    _opened = None
    found[:] = [path for path in found if path.startswith(str(below))]


def line(number: int, session: str) -> str:
    return (
        json.dumps(
            {
                "type": "user",
                "uuid": f"{number:08d}-0000-4000-8000-{session[-12:]}",
                "parentUuid": None,
                "sessionId": session,
                "cwd": "/home/u/x",
                "timestamp": "2026-01-01T00:00:00.000Z",
                "message": {"role": "user", "content": f"prompt {number}"},
            }
        )
        + "\n"
    )


def sessions(home: Path, count: int) -> Path:
    """As many transcripts of two prompts each."""
    folder = home / ".claude" / "projects" / "-home-u-x"
    folder.mkdir(parents=True)
    for number in range(count):
        session = SESSION.format(number)
        (folder / f"{session}.jsonl").write_text(line(1, session) + line(2, session))
    return folder


@pytest.fixture
def thousand(home: Path) -> Path:
    return sessions(home, 1000)


def take_in(archive: Archive, home: Path) -> None:
    import_history(archive, places=Places.at(home), sources=["claude-code"])


def test_a_thousand_unchanged_files_are_not_opened_and_nothing_is_written(
    archive: Archive, home: Path, thousand: Path
) -> None:
    take_in(archive, home)
    assert len(list(archive.conversations())) == 1000
    archive.settle()
    before = [
        (p.name, p.stat().st_size, p.stat().st_mtime_ns)
        for p in archive.home.archive.parent.iterdir()
    ]
    with counting_opens(home) as opened:
        take_in(archive, home)
    assert [path for path in opened if Path(path).is_file()] == []
    after = [
        (p.name, p.stat().st_size, p.stat().st_mtime_ns)
        for p in archive.home.archive.parent.iterdir()
    ]
    assert after == before


def test_one_appended_line_reads_only_the_tail(
    archive: Archive, home: Path, thousand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SESSION.format(7)
    file = thousand / f"{session}.jsonl"
    file.write_text("".join(line(number, session) for number in range(5000)))
    take_in(archive, home)
    with file.open("a") as more:
        more.write(line(5000, session))
    read: list[int] = []
    original = jsonl._open

    def counted(origin: Any) -> Any:
        inner = original(origin)

        class Counting:
            def read(self, size: int) -> bytes:
                data: bytes = inner.read(size)
                read.append(len(data))
                return data

            def __getattr__(self, name: str) -> Any:
                return getattr(inner, name)

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: object) -> None:
                inner.close()

        return Counting()

    monkeypatch.setattr(jsonl, "_open", counted)
    with counting_opens(home) as opened:
        take_in(archive, home)
    assert [Path(path).name for path in opened if Path(path).is_file()] == [file.name]
    # Besides, one chunk somewhere before is compared with what is kept of it.
    assert sum(read) < 3 * jsonl.PROBE + 2 * FULL, f"of {file.stat().st_size} bytes"
    assert archive.find(session).conversation.turns == 5001


def test_saves_of_a_growing_row_cost_about_as_many_entries(
    archive: Archive, home: Path, pytestconfig: pytest.Config
) -> None:
    import sqlite3

    saves = 500 if pytestconfig.getoption("campaign") else 60

    folder = home / ".local" / "share" / "amazon-q"
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "data.sqlite3", isolation_level=None)
    database.execute("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
    tools = {
        "native___": [
            {"ToolSpecification": {"name": f"tool{n}", "description": "d" * 2000}}
            for n in range(20)
        ]
    }
    history: list[Any] = []
    transcript: list[str] = []
    for number in range(saves):
        history.append(_entry(number))
        transcript += [f"> question {number}", f"answer {number}\n[Tool uses: none]"]
        value = {
            "conversation_id": "c-1",
            "next_message": None,
            "history": history,
            "valid_history_range": [0, number],
            "transcript": transcript,
            "tools": tools,
            "context_message_length": number,
            "latest_summary": None,
        }
        database.execute(
            "INSERT OR REPLACE INTO conversations VALUES ('/home/u/x', ?)", (json.dumps(value),)
        )
        import_history(archive, places=Places.at(home), sources=["amazon-q"])
    (strand,) = archive.strands("amazon-q", "c-1")
    assert json.loads(strand.document()) == value
    kept = sql_of(archive).execute("SELECT sum(size) FROM chunk").get
    states = sql_of(archive).execute("SELECT sum(length(runs)) FROM state").get
    once = len(json.dumps(value))
    assert kept < 1.5 * once, "records: each entry once, and a little head per save"
    assert states < saves * 400, "a state is a few ranges, however long the conversation"
    assert archive.find("c-1").conversation.turns == saves


def _entry(number: int) -> dict[str, Any]:
    return {
        "user": {
            "additional_context": "",
            "env_context": {"env_state": None},
            "content": {"Prompt": {"prompt": f"question {number}"}},
            "timestamp": None,
            "images": None,
        },
        "assistant": {
            "Response": {"message_id": f"m{number}", "content": f"answer {number} " + "y" * 500}
        },
        "request_metadata": None,
    }


@pytest.mark.parametrize("refused", ["processes", "all but one", "threads", "Python"])
def test_without_workers_the_work_is_done_all_the_same(
    archive: Archive,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: str,
) -> None:
    sessions(home, 250)
    left = 1 if refused == "all but one" else 0

    def spawn_no_more(copy: bool) -> Worker:
        nonlocal left
        if not left:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        left -= 1
        return spawn(copy)

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    if refused == "Python":
        monkeypatch.setattr(sys, "executable", "/gone/python")
        monkeypatch.setattr(spawning, "_is_alone", lambda: False)
    elif refused == "threads":
        monkeypatch.setattr(threading.Thread, "start", no_thread)
    else:
        monkeypatch.setattr(pool, "spawn", spawn_no_more)
    monkeypatch.setattr(pool, "processors", lambda: 2)
    monkeypatch.setattr(sweep, "BULK", 0)
    take_in(archive, home)
    assert archive.count() == 250 and not any(archive.pending())
    assert rebuild(archive) == 250
    assert archive.count() == 250 and not any(archive.pending())
    if refused != "threads":
        # Tantivy has threads of its own, without which there is no index.
        assert catch_up(archive)
        assert Search(archive).find("prompt", SearchOptions(limit=500)).conversations == 250


def test_of_many_fresh_files_the_newest_are_there_first(tmp_path: Path, archive: Archive) -> None:
    folder = tmp_path / ".claude" / "projects" / "-home-u-x"
    folder.mkdir(parents=True)
    numbers = range(sweep.CROWD + 20)
    for number in numbers:
        session = SESSION.format(number)
        file = folder / f"{session}.jsonl"
        # The elder are longer: without a reason, the long ones come first.
        file.write_text("".join(line(at, session) for at in range(1 + (number < 200))))
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
    (folder / f"{SESSION.format(max(numbers))}.jsonl").write_bytes(b"not json at all\n")
    import_history(archive, places=Places.at(tmp_path))
    changed = {heading.id[-12:]: heading.changed for heading in archive.headings()}
    assert len(changed) >= len(numbers) - 1
    newest = [changed[f"{number:012d}"] for number in numbers[-bulk.NEWEST : -1]]
    others = [changed[f"{number:012d}"] for number in numbers[: -bulk.NEWEST]]
    assert max(newest) < min(others)
