"""A writer that saves as Amazon Q does never fails because we are reading."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places

#: Saves 20 times a second with a rollback journal and hardly any patience; prints its failures.
WRITER = """
import json, sqlite3, sys, time
path, times, pause, most = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
db = sqlite3.connect(path, timeout=0.05, isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)")
history, saved, failed = [], 0, 0
for n in range(times):
    history.append({
        "user": {"additional_context": "", "env_context": {"env_state": None},
                 "content": {"Prompt": {"prompt": f"question {n} " + "x" * 2000}},
                 "timestamp": None, "images": None},
        "assistant": {"Response": {"message_id": f"m{n}", "content": f"answer {n} " + "y" * 2000}},
        "request_metadata": None})
    value = json.dumps({"conversation_id": "c-1", "history": history, "transcript": [], "tools": {}})
    try:
        db.execute("INSERT OR REPLACE INTO conversations VALUES ('/home/u/x', ?)", (value,))
        saved += 1
    except sqlite3.OperationalError:
        failed += 1
    # A chat of a few hundred turns, then another one: a row as large as people have them.
    if len(history) >= most:
        history = []
    time.sleep(pause)
print(saved, failed)
"""


def test_no_save_fails_while_import_runs_in_a_loop(
    archive: Archive, home: Path, pytestconfig: pytest.Config
) -> None:
    # Counted, not timed: how fast a loaded machine saves says nothing.
    times = 1000 if pytestconfig.getoption("campaign") else 40
    folder = home / ".local" / "share" / "amazon-q"
    folder.mkdir(parents=True)
    database = folder / "data.sqlite3"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(database), str(times), "0.05", "1000000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    imports = 0
    deadline = time.monotonic() + times
    while writer.poll() is None and time.monotonic() < deadline:
        import_history(archive, places=Places.at(home), sources=["amazon-q"])
        imports += 1
    output, _ = writer.communicate(timeout=30)
    saved, failed = map(int, output.split())
    assert failed == 0
    assert saved == times and imports > 3
    import_history(archive, places=Places.at(home), sources=["amazon-q"])
    assert archive.find("c-1").conversation.turns == saved


def test_no_save_fails_against_import_and_watch_and_serve_at_once(
    home: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """As a person has it: the keeper as a service, a browser open, and an import now and then."""
    times = 10_000 if pytestconfig.getoption("campaign") else 60
    folder = home / ".local" / "share" / "amazon-q"
    folder.mkdir(parents=True)
    base = [sys.executable, "-m", "rireki", "--archive", str(tmp_path / "archive.sqlite3")]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    import_ = [*base, "import", "--home", str(home), "--no-index"]
    subprocess.run(import_, check=True, **quiet)
    watch = subprocess.Popen([*base, "watch", "--home", str(home), "--quiet"], **quiet)
    serve = subprocess.Popen(
        [*base, "serve", "--home", str(home), "--no-open", "--port", "0"], **quiet
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder / "data.sqlite3"), str(times), "0.02", "200"],
        stdout=subprocess.PIPE,
        text=True,
    )
    imports = 0
    try:
        while writer.poll() is None:
            assert watch.poll() is None and serve.poll() is None, "both are at work all the time"
            subprocess.run(import_, check=True, **quiet)
            imports += 1
    finally:
        for process in (watch, serve):
            process.terminate()
            process.wait(30)
    output, _ = writer.communicate(timeout=30)
    saved, failed = map(int, output.split())
    assert (saved, failed) == (times, 0), f"{imports} imports"
    assert imports
