"""`rireki serve` as people start it, and sessions that somebody types in while it runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from rireki.archive.open import open_archive
from rireki.search.index.importing import take_in
from rireki.sources.kit.places import Places

__all__ = ["Session", "Site", "save_row"]

#: Saves a row the way an agent does: in a process of its own.
_ROW = """
import json, sqlite3, sys
path, directory, value = json.load(sys.stdin)
db = sqlite3.connect(path, timeout=5, isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)")
db.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?)", (directory, value))
db.close()
"""


class Site:
    """A home, its archive and a server process that shows and keeps them."""

    def __init__(self, folder: Path, *options: str) -> None:
        #: What `rireki serve` is told besides.
        self.options = options
        self.home = folder / "home"
        self.archive = folder / "kept" / "archive.sqlite3"
        self.home.mkdir(parents=True, exist_ok=True)
        self.archive.parent.mkdir(exist_ok=True)
        self.port = 0
        self.url = ""
        #: What it said of itself when it began.
        self.said: dict[str, Any] = {}
        self._process: subprocess.Popen[str] | None = None

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def take_in(self) -> None:
        """Import and index the home, without a server."""
        archive = open_archive(self.archive, create=True)
        take_in(archive, Places.at(self.home))
        archive.close()

    def start(self) -> Site:
        """On the port it had before, if it had one."""
        kept = {name: value for name, value in os.environ.items() if "RIREKI" not in name}
        # The data directory of who runs it: settings count nowhere else.
        kept["XDG_DATA_HOME"] = str(self.home / ".local" / "share")
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "rireki", "serve", "--no-open", "--json"),
                *("--home", str(self.home), "--archive", str(self.archive)),
                *("--port", str(self.port)),
                *self.options,
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=kept,
        )
        self._process = process
        assert process.stdout is not None
        told = self.said = json.loads(process.stdout.readline())
        assert self.port in (0, told["port"]), "the old port was not free any more"
        self.port, self.url = told["port"], told["url"]
        return self

    def end(self, how: int = signal.SIGTERM) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(how)
        self._process.communicate(timeout=30)
        self._process = None


class Session:
    """A Claude Code session that grows line by line."""

    def __init__(self, home: Path, name: str, at: datetime | None = None) -> None:
        #: The same name is the same session.
        self.native = str(uuid5(NAMESPACE_URL, name))
        self.id = f"claude-code/{self.native}"
        self.cwd = f"/home/u/{name}"
        self.file = home / ".claude" / "projects" / f"-home-u-{name}" / f"{self.native}.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        #: When its next line is written; now, when nothing else was said.
        self.at = at
        self.last: str | None = None
        self.count = 0
        self._held: list[str] | None = None

    def prompt(self, text: Any, **more: Any) -> str:
        return self.line("user", {"role": "user", "content": text}, **more)

    def answer(self, *blocks: Any, **more: Any) -> str:
        """Text as a string, or a content block."""
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        message: dict[str, Any] = {"id": f"msg_{self.count}", "role": "assistant"}
        message |= {"model": more.pop("model", "claude-test-1"), "content": content, "usage": {}}
        return self.line("assistant", message, **more)

    def call(self, call: str, text: str = "Let me look.", tool: str = "Bash", **given: Any) -> str:
        block = {"type": "tool_use", "id": call, "name": tool}
        return self.answer(text, block | {"input": given or {"command": "make"}})

    def result(self, call: str, output: str = "done") -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": output}
        return self.prompt([block])

    def turn(self, text: str) -> None:
        self.prompt(f"prompt {text}")
        self.answer(f"answer {text}")

    def line(self, kind: str, message: dict[str, Any], **more: Any) -> str:
        """One line, written at once; gives its uuid."""
        uuid = str(more.pop("uuid", f"{self.count:08x}-0000-4000-8000-{self.native[-12:]}"))
        value = {
            "parentUuid": self.last,
            "isSidechain": False,
            "type": kind,
            "uuid": uuid,
            "timestamp": self._stamp(),
            "cwd": self.cwd,
            "sessionId": self.native,
            "version": "2.1.197",
            "message": message,
            **more,
        }
        self.add(json.dumps(value) + "\n")
        self.last = uuid
        self.count += 1
        return uuid

    def meta(self, kind: str, **fields: Any) -> None:
        """A line about the session: no message of it."""
        self.add(json.dumps({"type": kind, "sessionId": self.native, **fields}) + "\n")

    def add(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
            return
        with self.file.open("a", encoding="utf-8") as file:
            file.write(text)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """All lines that come inside are written together."""
        held: list[str] = []
        self._held = held
        yield
        self._held = None
        self.add("".join(held))

    def _stamp(self) -> str:
        if self.at is None:
            moment = datetime.now(timezone.utc)
        else:
            moment = self.at = self.at + timedelta(seconds=7)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def save_row(home: Path, directory: str, value: dict[str, Any]) -> None:
    """A conversation of Amazon Q in its database, from another process."""
    database = home / ".local" / "share" / "amazon-q" / "data.sqlite3"
    database.parent.mkdir(parents=True, exist_ok=True)
    given = json.dumps([str(database), directory, json.dumps(value)])
    subprocess.run([sys.executable, "-c", _ROW], input=given, text=True, check=True)
