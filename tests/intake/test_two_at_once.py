"""Two processes import the same home into the same archive at the same time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.rebuild import rebuild
from rireki.intake.verify import verify
from tests.support.at_once import assert_many_can
from tests.support.dump import dump
from tests.support.homes import lay_out
from tests.support.searching import append_turn


def start(home: Path, archive: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rireki", "import", "--home", str(home)]
    return subprocess.Popen([*command, "--archive", str(archive)], stdout=subprocess.DEVNULL)


def test_they_end_with_what_one_alone_would_have_made(home: Path, tmp_path: Path) -> None:
    lay_out("claude-code-2.1.325", home)
    lay_out("amazon-q-1.19", home)
    lay_out("kiro", home)
    calm, shared = tmp_path / "calm.sqlite3", tmp_path / "shared.sqlite3"
    assert start(home, calm).wait() == 0
    together = [start(home, shared) for _ in range(3)]
    assert [process.wait() for process in together] == [0, 0, 0]
    archive = open_archive(shared)
    assert dump(archive) == dump(open_archive(calm))
    assert verify(archive) == []


def test_many_can_make_the_archive_at_once(tmp_path: Path) -> None:
    """SQLite does not wait for others that make a new file too."""
    assert_many_can(tmp_path, lambda path: open_archive(path, create=True).close())


@pytest.mark.parametrize("verb", ["groups", "strands", "kept_as"])
@pytest.mark.parametrize("interpret_anew", [Archive.mark_stale, rebuild], ids=["begun", "finished"])
def test_what_another_process_interprets_anew_meanwhile_is_no_trouble(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    interpret_anew: Callable[[Archive], object],
) -> None:
    lay_out("claude-code-2.1.325", home)
    path = tmp_path / "archive.sqlite3"
    assert start(home, path).wait() == 0
    archive, other = open_archive(path), open_archive(path)
    look = getattr(archive, verb)
    begun: list[str] = []

    def begin_and_look(*arguments: Any) -> Any:
        if not begun:
            begun.append(verb)
            interpret_anew(other)
        return look(*arguments)

    monkeypatch.setattr(archive, verb, begin_and_look)
    assert verify(archive) == [] and begun


def test_what_grows_while_it_is_verified_is_no_trouble(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out("claude-code-2.1.325", home)
    path = tmp_path / "archive.sqlite3"
    assert start(home, path).wait() == 0
    archive = open_archive(path)
    look = archive.kept_as

    def go_on_and_look(family: str, grouping: str) -> Any:
        for transcript in home.rglob(f"{grouping}.jsonl"):
            append_turn(transcript, "one more turn")
        assert start(home, path).wait() == 0
        monkeypatch.undo()
        return look(family, grouping)

    monkeypatch.setattr(archive, "kept_as", go_on_and_look)
    number = archive.number()
    assert verify(archive) == [] and archive.number() > number
