"""Agents that write in bursts while the keeper is killed and started again; nothing may be missing.

Used by the short form in tests/live and the long one in tests/stress.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.verify import verify
from rireki.journals.lock import KeeperLock
from rireki.live.feed import Feed, News
from tests.live.conftest import SESSION, line, until
from tests.support.q_rows import said, talk

#: Appends to files and saves rows, as several agents do at once; prints when it has done so.
WRITER = """
import json, sqlite3, sys, time
for text in sys.stdin:
    kind, path, name, text = json.loads(text)
    if kind == "file":
        with open(path, "a") as file:
            file.write(text)
    elif kind == "pause":
        time.sleep(float(text))
    else:
        db = sqlite3.connect(path, timeout=5, isolation_level=None)
        db.execute("CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)")
        db.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?)", (name, text))
        db.close()
    print(path, flush=True)
"""


class Listener:
    """Hears the feed in a thread, and now and then forgets all but the number it has reached."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.number = 0
        self.heard: dict[str, list[str]] = {}
        self.rounds = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def stop(self) -> None:
        """Once everything was written: after this, everything was heard."""
        self._done.set()
        self._thread.join()

    def _listen(self) -> None:
        while not self.archive.exists():
            time.sleep(0.01)
        ending = False
        while not ending:
            ending = self._done.is_set()
            with closing(open_archive(self.archive, create=True)) as archive:
                feed = Feed(archive)
                for _ in range(20):
                    self._hear(feed.since(self.number))
                    self._done.wait(0.01)

    def _hear(self, news: News) -> None:
        self.number = news.number
        self.rounds += 1
        for touched in news.changes:
            assert touched.messages is not None
            self.heard.setdefault(touched.conversation, []).extend(touched.messages)


class Burst:
    def __init__(self, home: Path, archive: Path, appends: int, files: int) -> None:
        self.home, self.archive = home, archive
        self.chance = random.Random(appends)
        self.appends = appends
        self.files = [
            home / ".claude" / "projects" / f"-p{number % 7}" / f"{SESSION.format(number)}.jsonl"
            for number in range(files)
        ]
        share = home / ".local" / "share"
        self.databases = [share / name / "data.sqlite3" for name in ("amazon-q", "kiro-cli")]
        #: How many turns each conversation has in the end.
        self.turns: dict[str, int] = {}
        for path in (*self.files, *self.databases):
            path.parent.mkdir(parents=True, exist_ok=True)

    def steps(self) -> list[list[str]]:
        """What the agents do, in order: mostly lines, some rows, now and then a breath."""
        steps: list[list[str]] = []
        for number in range(self.appends):
            if self.chance.random() < 0.2:
                place = self.chance.randrange(2)
                name = f"row-{place}-{self.chance.randrange(3)}"
                count = self.turns[name] = self.turns.get(name, 0) + 1
                value = talk(name, *(said(f"{name}-{n}", f"q{n}", f"a{n}") for n in range(count)))
                steps.append(["row", str(self.databases[place]), f"/d/{name}", json.dumps(value)])
            else:
                file = self.chance.choice(self.files)
                count = self.turns[file.stem] = self.turns.get(file.stem, 0) + 1
                steps.append(["file", str(file), "", line(count, file.stem)])
            if number % 25 == 24:
                steps.append(["pause", "", "", str(self.chance.uniform(0.05, 0.3))])
        return steps

    def run(self, kills: int) -> None:
        steps = self.steps()
        listener = Listener(self.archive)
        try:
            self._run(kills, steps)
        finally:
            listener.stop()
        with closing(open_archive(self.archive)) as archive:
            assert verify(archive) == []
            assert listener.heard == {
                id: _ids(archive, id) for id in [each.id for each in archive.headings()]
            }
        assert listener.rounds > len(steps) / 50

    def _run(self, kills: int, steps: list[list[str]]) -> None:
        keeper = self.keeper()
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert writer.stdin is not None and writer.stdout is not None
        moments = {len(steps) * (kill + 1) // (kills + 1) for kill in range(kills)}
        for number, step in enumerate(steps):
            if number in moments:
                os.kill(keeper.pid, signal.SIGKILL)
                keeper.wait()
                keeper = self.keeper()
            writer.stdin.write(json.dumps(step) + "\n")
            writer.stdin.flush()
            writer.stdout.readline()
        writer.communicate(timeout=30)
        until(self.is_complete, "all that was written")
        os.kill(keeper.pid, signal.SIGTERM)
        assert keeper.wait(30) == 0

    def keeper(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "rireki", "watch", "--quiet"]
        where = ["--home", str(self.home), "--archive", str(self.archive)]
        process = subprocess.Popen([*command, *where])
        lock = KeeperLock(self.archive)
        until(lambda: lock.holder() == process.pid, "the keeper")
        return process

    def is_complete(self) -> bool:
        if not self.archive.exists():
            return False
        with closing(open_archive(self.archive)) as archive:
            found = {
                id.partition("/")[2]: c
                for id, c in archive.pick(sorted(each.id for each in archive.headings())).items()
            }
        missing = [
            n for n, turns in self.turns.items() if n not in found or found[n].turns != turns
        ]
        if missing:
            time.sleep(0.2)
        return not missing


def _ids(archive: Archive, conversation: str) -> list[str]:
    return [m.id for m in read_conversation(archive, archive.find(conversation)).messages()]
