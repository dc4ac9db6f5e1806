"""An agent that outlived rireki is ended; whatever else a journal names is left alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rireki.drive.leftover import end_leftover, note_process
from rireki.drive.process import born
from rireki.drive.values import Prompt
from rireki.home import private_path
from rireki.journals.session_entry import BridgeEntry, spell
from tests.drive.conftest import Desk, run, until


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user's that has nothing to do with rireki, in a group of its own."""
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    process = subprocess.Popen(command, start_new_session=True)
    yield process
    process.kill()
    process.wait()


def plant(archive_reader: Desk, pid: int, folder: Path) -> Path:
    """A journal whose conversation was cut off, and that names this process as its agent's."""
    at, number = "2026-11-15T10:00:00.000Z", 1_790_000_000_000_000
    start = {"agent": "scripted", "source": "claude-code", "project": str(archive_reader.project)}
    entries: list[tuple[str, dict[str, Any]]] = [
        ("start", start),
        ("process", {"pid": pid, "born": born(pid)}),
    ]
    lines = [
        spell(BridgeEntry(number + n, at, kind, more)) for n, (kind, more) in enumerate(entries)
    ]
    file = folder / "bridge" / "one.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"".join(lines))
    return file


def recover(archive_reader: Desk) -> None:
    """As after a restart, and then with a prompt."""

    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            await bridge.session("one").send(Prompt("p1", "hello"), "web")
            await until(lambda: archive_reader.kinds("turn_end"))

    run(story())


def test_a_journal_in_a_foreign_folder_ends_no_process(
    archive_reader: Desk, child: subprocess.Popen[bytes]
) -> None:
    plant(archive_reader, child.pid, archive_reader.archive.parent)
    recover(archive_reader)
    assert child.poll() is None
    assert [entry["kind"] for entry in archive_reader.kinds("turn_end")] == ["turn_end"]


def test_one_in_the_users_data_directory_does(
    archive_reader: Desk,
    child: subprocess.Popen[bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As earlier versions left it: noted in the journal alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    archive_reader.archive = tmp_path / "data" / "rireki" / "archive.sqlite3"
    plant(archive_reader, child.pid, archive_reader.archive.parent)
    recover(archive_reader)
    assert child.wait(30) < 0


def test_what_is_noted_counts_for_its_own_journal_and_once(
    archive_reader: Desk, child: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    journal = plant(archive_reader, child.pid, archive_reader.archive.parent)
    other = journal.with_name("two.jsonl")
    note_process(other, child.pid)
    end_leftover(journal, {"pid": child.pid, "born": born(child.pid)})
    assert child.poll() is None
    end_leftover(other, {})
    assert child.wait(30) < 0
    assert not private_path(other, "two.process").exists()


def test_another_process_of_the_same_number_is_left_alone(
    archive_reader: Desk, child: subprocess.Popen[bytes]
) -> None:
    journal = archive_reader.archive.parent / "bridge" / "one.jsonl"
    note_process(journal, child.pid)
    note = private_path(journal, "one.process")
    note.write_text(note.read_text().replace(born(child.pid), "1"))
    end_leftover(journal, {})
    assert child.poll() is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "1", "born": 2}', b"\xff"])
def test_a_note_that_makes_no_sense_ends_nothing(
    archive_reader: Desk, child: subprocess.Popen[bytes], content: bytes
) -> None:
    journal = archive_reader.archive.parent / "bridge" / "one.jsonl"
    note_process(journal, child.pid)
    private_path(journal, "one.process").write_bytes(content)
    end_leftover(journal, {"pid": child.pid, "born": born(child.pid)})
    assert child.poll() is None


def test_nothing_is_noted_of_an_agent_that_has_ended(archive_reader: Desk) -> None:
    note = private_path(archive_reader.archive.parent / "bridge" / "one.jsonl", "one.process")

    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "hello"), "web")
            await until(lambda: archive_reader.kinds("turn_end"))
            assert note.exists()

    run(story())
    assert not note.exists()
