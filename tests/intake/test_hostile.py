"""Bad input costs nothing else and loses nothing."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import Report, import_history
from rireki.intake.verify import verify
from rireki.sources.kit import jsonl
from rireki.sources.kit.places import Places

GOOD = "aaaaaaaa-0000-4000-8000-000000000000"
BAD = "bbbbbbbb-0000-4000-8000-000000000000"


def user(text: str, session: str = BAD, **more: Any) -> bytes:
    line = {
        "type": "user",
        "uuid": f"u-{abs(hash(text))}",
        "parentUuid": None,
        "sessionId": session,
        "cwd": "/home/u/x",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": text},
        **more,
    }
    return json.dumps(line).encode() + b"\n"


@pytest.fixture
def project(home: Path) -> Path:
    """A project folder with one healthy session, whose neighbours are about to misbehave."""
    folder = home / ".claude" / "projects" / "-home-u-x"
    folder.mkdir(parents=True)
    (folder / f"{GOOD}.jsonl").write_bytes(user("the good neighbour", GOOD))
    return folder


def take_in(archive: Archive, home: Path) -> Report:
    report = import_history(archive, places=Places.at(home))
    assert archive.find(GOOD).conversation.title == "the good neighbour"
    return report


def text_of(archive: Archive, name: str = BAD) -> str:
    return str([m.parts for m in read_conversation(archive, archive.find(name)).messages()])


def test_a_line_of_ten_megabytes(archive: Archive, home: Path, project: Path) -> None:
    file = project / f"{BAD}.jsonl"
    file.write_bytes(user("before") + user("x" * (10 << 20)) + user("after"))
    take_in(archive, home)
    assert archive.find(BAD).conversation.turns == 3
    (strand,) = archive.strands("claude-code", BAD)
    assert strand.document() == file.read_bytes()


def test_nesting_without_end(archive: Archive, home: Path, project: Path) -> None:
    deep = b'{"type":"user","message":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n"
    (project / f"{BAD}.jsonl").write_bytes(user("before") + deep + user("after"))
    take_in(archive, home)
    assert "before" in text_of(archive) and "after" in text_of(archive)
    assert len(archive.find(BAD).conversation.troubles) == 1


def test_bytes_that_are_not_text(archive: Archive, home: Path, project: Path) -> None:
    (project / f"{BAD}.jsonl").write_bytes(
        user("before")
        + b'{"type":"user","x":"\xff\xfe"}\n'
        + b"\x00" * 5000
        + b"\n"
        + user("after")
    )
    take_in(archive, home)
    assert "before" in text_of(archive) and "after" in text_of(archive)


def test_half_a_surrogate_pair(archive: Archive, home: Path, project: Path) -> None:
    line = user("half of an emoji: HERE").replace(b"HERE", b"\\ud83d")
    (project / f"{BAD}.jsonl").write_bytes(line)
    take_in(archive, home)
    text_of(archive).encode()
    assert "half of an emoji" in text_of(archive)


def test_things_that_are_not_files(archive: Archive, home: Path, project: Path) -> None:
    os.mkfifo(project / f"{BAD}.jsonl")
    (project / "cccccccc-0000-4000-8000-000000000000.jsonl").mkdir()
    (project / "loop").symlink_to(project)
    (project / GOOD).mkdir()
    (project / GOOD / "subagents").symlink_to(project.parent)
    (project / "dddddddd-0000-4000-8000-000000000000.jsonl").symlink_to("nowhere")
    take_in(archive, home)
    assert [c.native_id for c in archive.conversations()] == [GOOD]


def test_a_name_that_is_no_text(archive: Archive, home: Path, project: Path) -> None:
    os.close(os.open(os.fsencode(project) + b"/\xff\xfe.jsonl", os.O_CREAT | os.O_WRONLY))
    (project / "ääää 日本語\n.jsonl").write_bytes(user("odd, but text"))
    report = take_in(archive, home)
    # It is a file like every other (tests/intake/test_names.py).
    assert not [t for s in report.sources for t in s.troubles]
    # A file with a name of its own belongs to the session that its lines name.
    assert "odd, but text" in text_of(archive, BAD)


def test_a_file_that_may_not_be_read(
    archive: Archive, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / f"{BAD}.jsonl"
    file.write_bytes(user("mine alone"))
    original = os.open

    def refuse(path: Any, *rest: Any, **more: Any) -> int:
        if str(path) == str(file):
            raise PermissionError(13, "Permission denied", str(path))
        return original(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    report = take_in(archive, home)
    (trouble,) = [t for s in report.sources for t in s.troubles]
    assert trouble.place == str(file) and "Permission denied" in trouble.message and trouble.hint
    monkeypatch.undo()
    take_in(archive, home)
    assert "mine alone" in text_of(archive)
    assert archive.troubles() == []


def test_a_file_that_shrinks_while_it_is_read(
    archive: Archive, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / f"{BAD}.jsonl"
    file.write_bytes(b"".join(user(f"prompt {n} " + "x" * 2000) for n in range(5000)))
    monkeypatch.setattr(jsonl, "BLOCK", 1 << 20)
    original = jsonl.split_lines
    shrunk: list[int] = []

    def split(data: bytes) -> tuple[list[bytes], bytes]:
        if not shrunk and b"prompt 0 " in data:
            shrunk.append(1)
            os.truncate(file, 1000)
        return original(data)

    monkeypatch.setattr(jsonl, "split_lines", split)
    take_in(archive, home)
    monkeypatch.undo()
    take_in(archive, home)
    (strand,) = archive.strands("claude-code", BAD)
    assert strand.document() == file.read_bytes()
    assert "prompt 0 " in text_of(archive), "what was read before it shrank is kept"
    assert verify(archive) == []


def test_a_row_of_fifty_megabytes(archive: Archive, home: Path, project: Path) -> None:
    folder = home / ".local" / "share" / "amazon-q"
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "data.sqlite3")
    database.execute("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
    entry = {
        "user": {"content": {"Prompt": {"prompt": "find me"}}},
        "assistant": {"Response": {"message_id": "m1", "content": "y" * (50 << 20)}},
    }
    value = json.dumps({"conversation_id": "big", "history": [entry], "transcript": []})
    database.execute("INSERT INTO conversations VALUES ('/home/u/x', ?)", (value,))
    database.commit()
    database.close()
    take_in(archive, home)
    assert archive.find("big").conversation.title == "find me"
    (strand,) = archive.strands("amazon-q", "big")
    assert json.loads(strand.document()) == json.loads(value)


@pytest.mark.parametrize(
    "content",
    [b"", b"SQLite format 3\x00" + b"\x00" * 84, b"not a database at all" * 100],
    ids=["empty", "cut off", "something else"],
)
def test_a_database_that_is_none(
    content: bytes, archive: Archive, home: Path, project: Path
) -> None:
    file = home / ".local" / "share" / "amazon-q" / "data.sqlite3"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    report = take_in(archive, home)
    troubles = [t for s in report.sources for t in s.troubles]
    assert len(troubles) <= 1
    for trouble in troubles:
        assert str(file) in trouble.place + trouble.message and trouble.hint
    assert file.read_bytes() == content, "a source is only read"


def test_a_database_whose_pages_are_damaged(archive: Archive, home: Path, project: Path) -> None:
    from tests.support.homes import FIXTURES

    file = home / ".local" / "share" / "amazon-q" / "data.sqlite3"
    file.parent.mkdir(parents=True)
    data = bytearray((FIXTURES / "amazon-q" / "q-1.19" / "data.sqlite3").read_bytes())
    for page in range(20, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    file.write_bytes(data)
    report = take_in(archive, home)
    assert [t for s in report.sources for t in s.troubles], "it is said"
    assert verify(archive) == []


def test_a_trouble_is_told_by_the_import_that_met_it_and_not_again(
    archive: Archive, home: Path, project: Path
) -> None:
    from tests.support.homes import lay_out

    lay_out("amazon-q-1.19", home)
    assert len([t for s in take_in(archive, home).sources for t in s.troubles]) == 3
    assert [t for s in take_in(archive, home).sources for t in s.troubles] == []
    assert len(archive.troubles()) == 3, "`rireki sources` still tells them"
