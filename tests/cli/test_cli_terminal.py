"""What somebody at a terminal sees: pager, colours, progress, a question before forgetting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rireki.cli.output import ProgressBar
from tests.cli.conftest import Rireki

pty = pytest.importorskip("pty")

START = (
    "import sys; from rireki.sources import registry;"
    "registry._addresses = lambda: {'toy': 'tests.cli.toy:READER'};"
    "from rireki.cli.main import run; sys.exit(run(sys.argv[1:]))"
)


def at_terminal(*arguments: str, typed: str = "", **environment: str) -> str:
    """Everything a terminal of 80 columns shows."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment},
        close_fds=True,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed.
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    process.wait()
    return shown.decode()


def test_a_long_story_goes_through_the_pager_unless_told_not_to(imported: Rireki) -> None:
    assert "P:  読みました" in at_terminal("show", "aaaa", PAGER="sed s/^/P:/", NO_COLOR="1")
    shown = at_terminal("show", "aaaa", "--no-pager", PAGER="sed s/^/P:/", NO_COLOR="1")
    assert "読みました" in shown and "P:" not in shown


def test_a_list_has_its_head_and_a_legend(imported: Rireki) -> None:
    shown = at_terminal("list", PAGER="cat")
    assert "TITLE" in shown and "2 conversations   … unfinished" in shown and "\x1b[" in shown
    assert "\x1b[" not in at_terminal("list", PAGER="cat", NO_COLOR="1")


def test_an_import_draws_its_progress_and_wipes_it(rireki: Rireki, home: Path) -> None:
    shown = at_terminal("import", "--home", str(home), NO_COLOR="1")
    assert "\rreading ─" in shown and "\r\x1b[K" in shown
    assert "2 new conversations" in shown


def test_forgetting_asks_first(imported: Rireki) -> None:
    shown = at_terminal("forget", "bbbb", typed="n\n")
    assert "Other talk" in shown and "for good?" in shown
    assert imported("show", "bbbb").code == 0
    assert "of records removed" in at_terminal("forget", "bbbb", typed="y\n")
    assert imported("show", "bbbb").code == 1


def test_raw_bytes_are_made_harmless_on_a_terminal(imported: Rireki, home: Path) -> None:
    (home / ".toy" / "eeee5555.jsonl").write_bytes(b'{"about":{"title":"\xc2\x9b2Jx\\u001b[2J"}}\n')
    imported("import", "--home", str(home))
    assert "\x9b" in imported("show", "eeee", "--raw").out
    assert "\x9b" not in at_terminal("show", "eeee", "--raw")


class Slow(ProgressBar):
    EVERY = 0.0


def test_the_bar_never_passes_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Slow(sys.stdout)
    bar.start("reading", 10)
    bar.advance(5)
    bar.advance(50)
    bar.finish()
    drawn = capsys.readouterr().out
    assert " 50%" in drawn and "100%" in drawn and "550%" not in drawn
