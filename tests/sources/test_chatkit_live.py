"""A thread appears as its app writes it: another process saves, a keeper sees."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rireki.live import keeper_work
from tests.live.conftest import Kept, until
from tests.sources.test_chatkit import SCHEMA, THREAD
from tests.sources.test_chatkit_laws import configure

#: Adds a turn per line it is given, as the sample store does, and says when it is committed.
WRITER = """
import json, sqlite3, sys
path, schema, thread, mode = sys.argv[1:]
at = "2026-11-15T18:00:{:02d}.000000"

def run(statement, *values):
    with sqlite3.connect(path, timeout=0.5) as db:
        db.execute(statement, values)

with sqlite3.connect(path) as db:
    db.execute(f"PRAGMA journal_mode = {mode}")
    db.executescript(schema)
head = {"thread": {"id": thread, "created_at": at.format(0), "status": {"type": "active"}}}
run("INSERT INTO threads VALUES (?, 'u', ?, ?)", thread, at.format(0), json.dumps(head))
print("ready", flush=True)
for number, line in enumerate(sys.stdin):
    for place, (kind, part) in enumerate((("user_message", "input_text"),
                                          ("assistant_message", "output_text"))):
        moment = at.format(1 + 2 * number + place)
        item = {"id": f"{kind}{number}", "thread_id": thread, "created_at": moment, "type": kind,
                "content": [{"type": part, "text": f"{line.strip()} {kind}"}]}
        run("INSERT INTO items VALUES (?, ?, 'u', ?, ?)", item["id"], thread, moment,
            json.dumps({"item": item}))
    print("saved", flush=True)
"""


@pytest.fixture
def kept(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    # Only hints bring anything, from the end of the first import on.
    monkeypatch.setattr(keeper_work, "CALM", 3600.0)
    monkeypatch.setattr(keeper_work, "EAGER", 3600.0)
    configure(home, "~/app/chat.db")
    (home / "app").mkdir()
    kept = Kept(tmp_path / "archive" / "archive.sqlite3", home)
    yield kept
    for keeper in kept.keepers:
        keeper.stop()


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_turn_is_seen_as_another_process_saves_it(kept: Kept, home: Path, mode: str) -> None:
    keeper = kept.start()
    arguments = [str(home / "app" / "chat.db"), SCHEMA, THREAD, mode]
    app = subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert app.stdin and app.stdout
    assert app.stdout.readline() == "ready\n"
    until(lambda: kept.find(THREAD), "the new thread")
    for number in (1, 2, 3):
        app.stdin.write(f"turn {number}\n")
        app.stdin.flush()
        assert app.stdout.readline() == "saved\n", "the keeper was in the way"
        until(lambda number=number: _entries(kept) == 2 * number, f"turn {number}")  # type: ignore[misc]
    found = kept.find(THREAD)
    assert found and found.finished and found.turns == 3 and found.upstream == "present"
    assert not keeper.status.troubles
    app.stdin.close()
    assert app.wait(30) == 0
    app.stdout.close()


def _entries(kept: Kept) -> int:
    found = kept.find(THREAD)
    return found.entries if found else 0
