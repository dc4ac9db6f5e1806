"""Two processes import the same home into the same archive at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rireki.archive.open import open_archive
from rireki.intake.verify import verify
from tests.support.dump import dump
from tests.support.homes import CLAUDE, lay_out


def start(home: Path, archive: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rireki", "import", "--home", str(home)]
    return subprocess.Popen([*command, "--archive", str(archive)], stdout=subprocess.DEVNULL)


def test_they_end_with_what_one_alone_would_have_made(home: Path, tmp_path: Path) -> None:
    lay_out(f"claude-code-{CLAUDE[-1]}", home)
    lay_out("amazon-q-1.19", home)
    lay_out("kiro", home)
    calm, shared = tmp_path / "calm.sqlite3", tmp_path / "shared.sqlite3"
    assert start(home, calm).wait() == 0
    together = [start(home, shared) for _ in range(3)]
    assert [process.wait() for process in together] == [0, 0, 0]
    archive = open_archive(shared)
    assert dump(archive) == dump(open_archive(calm))
    assert verify(archive) == []
