"""A line, a file or a value that is too large to be one record: kept in pieces, named, given back."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake import limits, sweep
from rireki.intake.restore import restore
from rireki.intake.sweep import Report, import_history
from rireki.intake.verify import verify
from rireki.model.strand import PIECES
from rireki.sources.kit import jsonl
from rireki.sources.kit.places import Places
from tests.support.engine import sql_of

MB = 1 << 20
LARGEST = 1 * MB
PIECE = 64 << 10


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with a hundredth of the bytes: a line of 1 MB is the largest, pieces have 64 KB."""
    monkeypatch.setattr("rireki.intake.take.largest", lambda: LARGEST)
    monkeypatch.setattr("rireki.intake.parallel.worker.largest", lambda: LARGEST)
    monkeypatch.setattr(jsonl, "PIECE", PIECE)
    monkeypatch.setattr("rireki.sources.kit.document.PIECE", PIECE)
    monkeypatch.setattr(jsonl, "BLOCK", PIECE)


def note(number: int, text: str = "") -> bytes:
    return (
        json.dumps({"id": f"m{number}", "who": "me", "text": text or f"note {number}"}).encode()
        + b"\n"
    )


def take_in(archive: Archive, home: Path) -> Report:
    return import_history(archive, places=Places.at(home))


@pytest.fixture
def file(home: Path, plain_source: None) -> Path:
    file = home / "notes" / "talk.jsonl"
    file.parent.mkdir()
    return file


def texts(archive: Archive) -> list[str]:
    from rireki.intake.interpret import read_conversation

    reading = read_conversation(archive, archive.find("talk"))
    return [part.text for m in reading.messages() for part in m.parts]  # type: ignore[union-attr]


def same_everywhere(archive: Archive, file: Path, to: Path) -> None:
    (strand,) = archive.strands("plain", "talk")
    assert strand.document() == file.read_bytes()
    (back,) = restore(archive, archive.find("talk"), to)
    assert back.read_bytes() == file.read_bytes()
    assert verify(archive) == []


@pytest.mark.parametrize("bulk", [False, True], ids=["one by one", "by workers"])
def test_a_line_that_is_too_long_is_kept_in_pieces_and_named(
    archive: Archive,
    file: Path,
    home: Path,
    tmp_path: Path,
    bulk: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweep, "BULK", 1 if bulk else 1 << 40)
    long = b'{"id": "long", "text": "' + os.urandom(3 * MB // 2).hex().encode() + b'"}\n'
    file.write_bytes(note(0) + long + note(1) + note(2, "y" * (LARGEST - 1000)))
    report = take_in(archive, home)
    (trouble,) = report.sources[0].troubles
    assert f"{len(long):,} bytes" in trouble.message and str(file) in trouble.place
    assert [text[:6] for text in texts(archive)] == ["note 0", "note 1", "yyyyyy"]
    assert "too large" in archive.find("talk").conversation.troubles[0].message
    same_everywhere(archive, file, tmp_path / "back")
    (strand,) = archive.strands("plain", "talk")
    assert len(strand.states) == 1, "read in many steps, it is one version"
    # It goes on, and the name stays.
    with file.open("ab") as more:
        more.write(note(3))
    take_in(archive, home)
    assert texts(archive)[-1] == "note 3"
    assert len(archive.troubles()) == 1
    same_everywhere(archive, file, tmp_path / "again")


def test_an_unfinished_line_that_grows_for_long_is_kept_once(
    archive: Archive, file: Path, home: Path, tmp_path: Path
) -> None:
    file.write_bytes(note(0))
    take_in(archive, home)
    with file.open("ab") as more:
        for _ in range(40):
            more.write(os.urandom(PIECE // 2).hex().encode())
            more.flush()
            take_in(archive, home)
            (strand,) = archive.strands("plain", "talk")
            assert strand.document() == file.read_bytes()
            assert len(strand.states[-1].tail) <= PIECE
    stored = sql_of(archive).execute("SELECT sum(size) FROM chunk").get
    assert stored < 1.1 * file.stat().st_size
    assert "bytes is longer" in archive.troubles()[0][2].message
    same_everywhere(archive, file, tmp_path / "back")


def test_an_unfinished_line_that_ends_in_time_becomes_one_entry(
    archive: Archive, file: Path, home: Path, tmp_path: Path
) -> None:
    entry = note(1, "z" * (LARGEST // 2))
    file.write_bytes(note(0) + entry[: LARGEST // 3])
    take_in(archive, home)
    with file.open("ab") as more:
        more.write(entry[LARGEST // 3 :] + note(2))
    take_in(archive, home)
    assert [text[:6] for text in texts(archive)] == ["note 0", "zzzzzz", "note 2"]
    assert archive.find("talk").conversation.troubles == []
    same_everywhere(archive, file, tmp_path / "back")


@pytest.mark.parametrize("place", [10, LARGEST, 2 * LARGEST])
def test_a_rewrite_inside_a_long_line(
    archive: Archive, file: Path, home: Path, tmp_path: Path, place: int
) -> None:
    file.write_bytes(note(0) + os.urandom(3 * MB // 2).hex().encode() + b"\n" + note(1))
    before = file.read_bytes()
    take_in(archive, home)
    at = archive.clock()
    with file.open("r+b") as out:
        out.seek(place + 200)
        out.write(b"-another-")
    report = take_in(archive, home)
    assert report.sources[0].new_bytes <= 2 * PIECE
    same_everywhere(archive, file, tmp_path / "back")
    (then,) = restore(archive, archive.find("talk"), tmp_path / "then", at)
    assert then.read_bytes() == before


def test_a_file_without_a_newline_takes_no_more_memory_than_a_few_pieces(
    archive: Archive, file: Path, home: Path, tmp_path: Path
) -> None:
    with file.open("wb") as out:
        for _ in range(24):
            out.write(os.urandom(MB))
        out.write(b"x")
    data = file.read_bytes()
    file.write_bytes(data.replace(b"\n", b" "))
    del data
    tracemalloc.start()
    take_in(archive, home)
    taking = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    restore(archive, archive.find("talk"), tmp_path / "back")
    giving = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taking < 10 * MB, "BATCH_BYTES and what it is packed to"
    assert giving < 4 * MB
    assert (tmp_path / "back" / "talk.jsonl").read_bytes() == file.read_bytes()


def test_a_document_that_is_too_large(archive: Archive, home: Path, tmp_path: Path) -> None:
    folder = home / ".claude" / "projects" / "-src"
    session = "00000000-0000-4000-8000-000000000001"
    spill = folder / session / "tool-results" / "b.txt"
    spill.parent.mkdir(parents=True)
    line = {
        "type": "user",
        "uuid": "u1",
        "sessionId": session,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "look"},
    }
    (folder / f"{session}.jsonl").write_text(json.dumps(line) + "\n")
    spill.write_bytes(os.urandom(2 * MB))
    report = take_in(archive, home)
    (trouble,) = [t for s in report.sources for t in s.troubles]
    assert trouble.place == str(spill)
    os.utime(spill, ns=(1, 1))
    take_in(archive, home)
    strands = {s.place: s for s in archive.strands("claude-code", session)}
    assert strands[str(spill)].document() == spill.read_bytes()
    assert len(strands[str(spill)].states) == 1
    assert any(r.lane == PIECES for r in strands[str(spill)].states[0].runs)
    restored = restore(archive, archive.find(session), tmp_path / "back")
    assert spill.read_bytes() in [path.read_bytes() for path in restored]
    assert verify(archive) == []


def test_the_limit_stands_in_the_settings_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rireki.errors import RirekiError

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert limits.largest() == 256 * MB
    settings = tmp_path / "rireki" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("[import]\nlargest_mb = 8\n")
    assert limits.largest() == 8 * MB
    settings.write_text("[import]\nlargest_mb = 'much'\n")
    with pytest.raises(RirekiError, match="largest_mb"):
        limits.largest()
