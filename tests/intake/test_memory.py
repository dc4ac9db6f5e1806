"""A conversation for which the memory does not suffice: kept, told in two lines, given back."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from bench.extremes import SESSION, write_long, write_tiny
from bench.measure import import_command, rireki

from rireki.archive.base import Archive
from rireki.errors import ArchiveTrouble
from rireki.intake import interpret, memory
from rireki.intake.restore import restore
from rireki.intake.sweep import Report, import_history
from rireki.model.conversation import Trouble
from rireki.model.message import Message
from rireki.search.index.update import catch_up, ensure
from rireki.sources.claude_code import readings, render
from rireki.sources.claude_code.reader import ClaudeCode
from rireki.sources.kit.places import Places

LONG = SESSION.format(1)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only there the limit can be asked for")


def take_in(archive: Archive, home: Path) -> Report:
    return import_history(archive, places=Places.at(home))


def troubles(report: Report) -> list[Trouble]:
    return [trouble for source in report.sources for trouble in source.troubles]


@pytest.fixture
def long(home: Path) -> Path:
    """A home with one long conversation; what counts as long is set to less than it has."""
    write_long(home, 2 << 20)
    (file,) = (home / ".claude" / "projects").rglob("*.jsonl")
    return file


@pytest.fixture
def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (
        "intake.interpret",
        "intake.parallel.bulk",
        "intake.parallel.worker",
        "search.index.update",
    ):
        monkeypatch.setattr(f"rireki.{place}.HEAVY", 1 << 20)


@linux
def test_an_import_within_a_limit_tells_it_and_takes_in_the_rest(tmp_path: Path) -> None:
    home, archive = tmp_path / "home", tmp_path / "archive.sqlite3"
    write_long(home, 2 * memory.HEAVY)
    (file,) = (home / ".claude" / "projects").rglob("*.jsonl")
    whole = file.rename(file.with_name(f"{SESSION.format(0xFFFF)}.jsonl"))
    write_tiny(home, 20)

    def limit() -> None:
        # What the program takes by itself, and a little for each conversation.
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

    # One arena instead of one for each thread, which are 64 MB of addresses each.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "COLUMNS": "200", "LANG": "C.UTF-8"}
    run = subprocess.run(
        [*import_command(home, archive)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env=environment,
    )
    said = run.stdout + run.stderr
    assert run.returncode == 0, said
    assert "Traceback" not in said, said
    assert "MB of memory to read" in said and "rireki restore" in said, said
    assert "21 new conversations" in said, said
    to = tmp_path / "back"
    command = rireki("restore", SESSION.format(0xFFFF), "--archive", archive, "--to", to)
    subprocess.run(command, check=True, capture_output=True, preexec_fn=limit, env=environment)
    (back,) = to.rglob("*.jsonl")
    assert back.read_bytes() == whole.read_bytes()


def test_what_there_is_no_memory_for_is_read_when_there_is(
    archive: Archive,
    home: Path,
    long: Path,
    heavy: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interpret, "free", lambda: 1 << 20)
    (trouble,) = troubles(take_in(archive, home))
    assert trouble.message.startswith("it takes about 6 MB of memory to read, and 1 MB")
    found = archive.find(LONG)
    assert found.conversation.title == interpret.UNREADABLE
    (back,) = restore(archive, found, tmp_path / "back")
    assert back.read_bytes() == long.read_bytes()
    monkeypatch.setattr(interpret, "free", lambda: 1 << 30)
    reading = interpret.read_conversation(archive, archive.find(LONG))
    assert len(reading.messages()) > 1000


def test_a_lack_of_memory_while_it_is_read_is_told_alike(
    archive: Archive, home: Path, long: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(ClaudeCode, "interpret", fail)
    (trouble,) = troubles(take_in(archive, home))
    assert trouble.message == "there was not enough memory to read it"
    assert "mistake" not in trouble.hint and "rireki restore" in trouble.hint


def test_what_cannot_be_indexed_for_lack_of_memory_stays_in_line(
    archive: Archive, home: Path, long: Path, heavy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(archive, home)
    with monkeypatch.context() as less:
        less.setattr(interpret, "free", lambda: 1 << 20)
        catch_up(archive)
        index = ensure(archive)
        assert [kept.id for kept in index.store.talks()[1]] == []
        index.close()
    catch_up(archive)
    index = ensure(archive)
    assert [kept.id for kept in index.store.talks()[1]] == [f"claude-code/{LONG}"]
    index.close()


@linux
def test_free_memory_is_known() -> None:
    free = memory.free()
    assert free is not None and free > (1 << 20)


def test_messages_one_by_one_out_of_a_damaged_archive_are_those_that_can_be_read(
    archive: Archive, home: Path, long: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_in(archive, home)
    plain = render.render_each

    def damaged(*given: Any) -> Iterator[Message]:
        yield from islice(plain(*given), 3)
        raise ArchiveTrouble("chunk 7 is damaged")

    monkeypatch.setattr(readings, "render_each", damaged)
    (reading,) = interpret.interpret(LONG, archive.strands("claude-code", LONG))
    assert reading.stream is not None
    ids = [message.id for message in reading.stream()]
    assert ids == [message.id for message in reading.messages()]
