"""Journals of driven agents, written a line at a time in the exact spelling."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from rireki.journals.session_entry import BridgeEntry, spell

BEGUN = datetime(2026, 11, 15, 10, 0, tzinfo=timezone.utc)


def time(seconds: float) -> str:
    """So many seconds after everything began."""
    moment = BEGUN + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Journal:
    """A second passes with every line, unless told otherwise."""

    def __init__(self, home: Path, id: str = "drive-1", seconds: float = 0) -> None:
        self.file = home / ".local" / "share" / "rireki" / "bridge" / f"{id}.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.id = id
        self.seconds = seconds

    def write(self, kind: str, seconds: float = 1, **more: Any) -> int:
        """Append a line; returns its number."""
        self.seconds += seconds
        number = int((BEGUN.timestamp() + self.seconds) * 1_000_000)
        with self.file.open("ab") as file:
            file.write(spell(BridgeEntry(number, time(self.seconds), kind, more)))
        return number

    def start(self, source: str | None = "claude-code", **more: Any) -> None:
        self.write("start", agent="scripted", source=source, project="/home/dev/app", **more)

    def send(self, id: str, text: str, given: bool = True, **more: Any) -> None:
        self.write("prompt", id=id, text=text, by="web", **more)
        if given:
            self.write("given", id=id)

    def say(self, block: str, text: str, **more: Any) -> None:
        self.write("text", block=block, text=text, **more)

    def end(self, prompt: str, reason: str = "end_turn", **more: Any) -> None:
        self.write("turn_end", prompt=prompt, reason=reason, **more)
